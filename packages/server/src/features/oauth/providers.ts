import * as oidc from 'openid-client'
import type { SettingsService } from '../settings/settings.service.ts'

export type ProviderId = 'provider_a' | 'provider_b'

/** A person as a provider knows them. */
export interface Person {
  readonly subject: string
  /** What a username is made of. */
  readonly name: string
  readonly email: string
  /** What of the allow-lists lets the person in, in lower case: a login, a domain, or `org:` and a name. */
  readonly admittedAs: string
}
/** Why somebody who came back from a provider is not let in; the sign-in page says it in words. */
export type Refusal =
  | 'disabled'
  | 'state'
  | 'denied'
  | 'provider_unavailable'
  | 'not_allowed'
  | 'email_unverified'
  | 'account_exists'
export class SignInRefused extends Error {
  readonly code: Refusal
  constructor(code: Refusal, message: string) {
    super(message)
    this.code = code
  }
}

export interface Flow {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
}
export interface Provider {
  /** Where the browser is sent. */
  begin(flow: Flow, redirectUri: string): Promise<URL>
  /** Takes the browser's return; throws SignInRefused, or whatever the provider's failure was. */
  finish(flow: Flow, returned: URL): Promise<Person>
}

const seconds = 5
/** Plain http is for a provider on this machine, such as a test's own. */
const transport = (url: URL) => {
  if (url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname))
    return [oidc.allowInsecureRequests]
  return []
}
type Opened = { readonly clientId: string; readonly clientSecret: string }

/** GitHub, and GitHub Enterprise by other addresses: plain OAuth 2 (RFC 6749) with PKCE, the person asked of its API. */
export const createGithub = (
  needs: { readonly url: string; readonly apiUrl: string; readonly settings: Pick<SettingsService, 'get'> },
  credentials: Opened,
): Provider => {
  const { settings } = needs
  const base = new URL(needs.url)
  const config = new oidc.Configuration(
    {
      issuer: needs.url,
      authorization_endpoint: `${needs.url}/login/oauth/authorize`,
      token_endpoint: `${needs.url}/login/oauth/access_token`,
    },
    credentials.clientId,
    credentials.clientSecret,
    oidc.ClientSecretPost(credentials.clientSecret),
  )
  config.timeout = seconds
  for (const allow of transport(base)) allow(config)

  const ask = async <T>(token: string, path: string): Promise<T | null> => {
    const reply = await fetch(needs.apiUrl + path, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json', 'user-agent': 'Stockade' },
      redirect: 'error',
      signal: AbortSignal.timeout(seconds * 1000),
    })
    if (reply.status === 404 || reply.status === 403) return null
    if (!reply.ok) throw new Error(`the provider's API answered ${reply.status}`)
    return (await reply.json()) as T
  }
  const admitted = async (token: string, login: string): Promise<string | null> => {
    const users = settings.get('oauth.provider_a.allowed_users')
    if (users.some(user => user.toLowerCase() === login.toLowerCase())) return login.toLowerCase()
    const org = settings.get('oauth.provider_a.allowed_org')
    if (org === null) return null
    const membership = await ask<{ state?: string; organization?: { login?: string } }>(
      token,
      `/user/memberships/orgs/${encodeURIComponent(org)}`,
    )
    const isMember =
      membership?.state === 'active' && membership.organization?.login?.toLowerCase() === org.toLowerCase()
    return isMember ? `org:${org.toLowerCase()}` : null
  }
  return {
    async begin({ state, verifier }, redirectUri) {
      const scope = [
        'read:user',
        'user:email',
        ...(settings.get('oauth.provider_a.allowed_org') ? ['read:org'] : []),
      ].join(' ')
      const code_challenge = await oidc.calculatePKCECodeChallenge(verifier)
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge,
        code_challenge_method: 'S256',
      })
    },
    async finish({ state, verifier }, returned) {
      const tokens = await oidc.authorizationCodeGrant(config, returned, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      })
      const user = await ask<{ id?: number; login?: string }>(tokens.access_token, '/user')
      if (typeof user?.id !== 'number' || typeof user.login !== 'string')
        throw new Error("the provider's API named nobody")
      const admittedAs = await admitted(tokens.access_token, user.login)
      if (admittedAs === null) throw new SignInRefused('not_allowed', `${user.login} is on no list`)
      const emails = await ask<{ email?: string; primary?: boolean; verified?: boolean }[]>(
        tokens.access_token,
        '/user/emails',
      )
      const verified = (Array.isArray(emails) ? emails : []).filter(({ verified }) => verified === true)
      const email = (verified.find(({ primary }) => primary) ?? verified[0])?.email
      if (!email) throw new SignInRefused('email_unverified', `${user.login} has no verified address`)
      return { subject: String(user.id), name: user.login, email, admittedAs }
    },
  }
}

/** Any OpenID Connect provider: discovery, code with PKCE, state and nonce; the id token says who it is. */
export const createOpenIdConnect = async (
  needs: { readonly issuer: string; readonly settings: Pick<SettingsService, 'get'> },
  credentials: Opened,
): Promise<Provider> => {
  const { settings } = needs
  const issuer = new URL(needs.issuer)
  const config = await oidc.discovery(issuer, credentials.clientId, credentials.clientSecret, undefined, {
    // Without it a token that came straight from the token endpoint is believed unsigned.
    execute: [...transport(issuer), oidc.enableNonRepudiationChecks],
    timeout: seconds,
  })
  return {
    async begin({ state, verifier, nonce }, redirectUri) {
      const code_challenge = await oidc.calculatePKCECodeChallenge(verifier)
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge,
        code_challenge_method: 'S256',
      })
    },
    async finish({ state, verifier, nonce }, returned) {
      const tokens = await oidc.authorizationCodeGrant(config, returned, {
        expectedState: state,
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      const email = typeof claims?.email === 'string' ? claims.email : null
      if (!claims || !email || claims.email_verified !== true)
        throw new SignInRefused('email_unverified', 'the address is not verified')
      const local = email.replace(/@[^@]*$/, '')
      const domain = domainOf({ iss: claims.iss, email, hd: claims.hd })
      const domains = settings.get('oauth.provider_b.allowed_domains')
      if (domain === null || !domains.some(allowed => allowed.toLowerCase() === domain))
        throw new SignInRefused(
          'not_allowed',
          `the domain of ${email} is on no list, or the account is none of its own`,
        )
      return { subject: `${claims.iss} ${claims.sub}`, name: local, email, admittedAs: domain }
    },
  }
}

/**
 * The domain that somebody belongs to, in lower case; null for none. The address alone does not say it at Google: anybody can have
 * a consumer account of an address that once was theirs, and only accounts of the organisation itself bear `hd`.
 */
export const domainOf = ({ iss, email, hd }: { iss: string; email: string; hd: unknown }): string | null => {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const hosted = typeof hd === 'string' ? hd.toLowerCase() : null
  if (hosted !== null) return hosted === domain ? domain : null
  return /^(?:https:\/\/)?accounts\.google\.com$/.test(iss) ? null : domain
}
