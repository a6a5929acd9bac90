import * as oidc from 'openid-client'
import { recordOf } from '@stockade/contract/untrusted.ts'
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
  | 'email_missing'
  | 'clock_differs'
  | 'account_exists'
export class SignInRefused extends Error {
  readonly code: Refusal
  /** Of `clock_differs`: by how much. */
  readonly seconds: number | null
  constructor(code: Refusal, message: string, seconds: number | null = null) {
    super(message)
    this.code = code
    this.seconds = seconds
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

interface OpenIdNeeds {
  readonly issuer: string
  /** The administrator's word: what the issuer says of an address is true, also where it does not say that it verified it. */
  readonly vouchesForEmails: boolean
  readonly settings: Pick<SettingsService, 'get'>
}

/** How a client shows its secret at the token endpoint, best first: as the metadata says, by its default (RFC 8414) where it says nothing. */
const secretMethodsOf = ({ token_endpoint_auth_methods_supported: offered }: Readonly<oidc.ServerMetadata>) => {
  if (!offered) return ['basic', 'post'] as const
  if (!offered.includes('client_secret_post')) return ['basic'] as const
  return offered.includes('client_secret_basic') ? (['post', 'basic'] as const) : (['post'] as const)
}

const isOtherIssuer = (error: unknown): boolean =>
  error instanceof oidc.ClientError && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'

/** By how many seconds the clock of a provider is ahead (or behind, negative), as a token that it has just issued tells; null for another error. */
const clockDifferenceOf = (error: unknown): number | null => {
  if (!(error instanceof oidc.ClientError) || error.code !== 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return null
  const { claims, now } = recordOf(recordOf(error.cause).cause)
  const { iat } = recordOf(claims)
  if (typeof iat !== 'number' || typeof now !== 'number') return null
  // Less than that the library puts up with, so it was not the clock.
  return Math.abs(iat - now) < 30 ? null : Math.round(iat - now)
}

const inWords = (seconds: number): string =>
  seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`

/** Some issuers write booleans as text. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true'

/** Any OpenID Connect provider: discovery, code with PKCE, state and nonce; the ID token says who it is, and UserInfo the address that it leaves out. */
export const createOpenIdConnect = async (needs: OpenIdNeeds, credentials: Opened): Promise<Provider> => {
  const { settings } = needs
  const methods = {
    basic: oidc.ClientSecretBasic(credentials.clientSecret),
    post: oidc.ClientSecretPost(credentials.clientSecret),
  }
  let method: keyof typeof methods = 'basic'
  const discover = (issuer: URL) =>
    oidc.discovery(
      issuer,
      credentials.clientId,
      credentials.clientSecret,
      (...request) => methods[method](...request),
      // Without the check a token that came straight from the token endpoint is believed unsigned.
      { execute: [...transport(issuer), oidc.enableNonRepudiationChecks], timeout: seconds },
    )
  const issuer = new URL(needs.issuer)
  const config = await discover(issuer).catch((error: unknown) => {
    // An issuer is compared to the letter, and a slash at its end is easily lost or added when it is copied.
    if (!isOtherIssuer(error) || issuer.pathname === '/') throw error
    const { href } = issuer
    return discover(new URL(href.endsWith('/') ? href.slice(0, -1) : `${href}/`))
  })

  /** The metadata names what the provider takes, and not which of them this client is registered for; a refusal leaves the code unused. */
  const grant = async (returned: URL, checks: oidc.AuthorizationCodeGrantChecks) => {
    const [first, other] = secretMethodsOf(config.serverMetadata())
    method = first
    try {
      return await oidc.authorizationCodeGrant(config, returned, checks)
    } catch (error) {
      const isRefusedClient =
        (error instanceof oidc.ResponseBodyError && error.error === 'invalid_client') ||
        error instanceof oidc.WWWAuthenticateChallengeError
      if (other === undefined || !isRefusedClient) throw error
      method = other
      return oidc.authorizationCodeGrant(config, returned, checks)
    }
  }
  const emailOf = async (accessToken: string, claims: oidc.IDToken): Promise<oidc.IDToken | oidc.UserInfoResponse> => {
    const isSaid = claims.email_verified !== undefined || needs.vouchesForEmails
    if (typeof claims.email === 'string' && isSaid) return claims
    if (!config.serverMetadata().userinfo_endpoint) return claims
    const userInfo = await oidc.fetchUserInfo(config, accessToken, claims.sub).catch((error: unknown) => {
      if (typeof claims.email === 'string') return null
      throw error
    })
    // The address and what is said of it belong together.
    return typeof userInfo?.email === 'string' ? userInfo : claims
  }
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
      const tokens = await grant(returned, {
        expectedState: state,
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        idTokenExpected: true,
      }).catch((error: unknown) => {
        const by = clockDifferenceOf(error)
        if (by === null) throw error
        const words = `its clock differs by ${inWords(Math.abs(by))}: it is ${by > 0 ? 'ahead' : 'behind'}`
        throw new SignInRefused('clock_differs', words, Math.abs(by))
      })
      const claims = tokens.claims()
      if (!claims) throw new Error('the provider sent no ID token')
      const { email, email_verified } = await emailOf(tokens.access_token, claims)
      if (typeof email !== 'string' || email === '')
        throw new SignInRefused(
          'email_missing',
          'the provider names no e-mail address, neither in the ID token nor in UserInfo',
        )
      if (!isTrue(email_verified) && !needs.vouchesForEmails)
        throw new SignInRefused('email_unverified', `the provider does not say that ${email} is verified`)
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
