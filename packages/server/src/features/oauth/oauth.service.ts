import type { FastifyBaseLogger } from 'fastify'
import { system } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { Problem } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Proofs } from '../sessions/proof.ts'
import type { SessionsService, SignIn, Visitor } from '../sessions/sessions.model.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { findUserBySubject, isAnothers, takenName, updateUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { SignInRefused, createGithub, createOpenIdConnect } from './providers.ts'
import { addState, removeStatesBefore, takeState } from './oauth.store.ts'
import type { Person, Provider, ProviderId, Refusal } from './providers.ts'

/** A sign-in at a provider is finished within this time, once. */
const life = 10 * minute

/** What the sign-in page is told. `seconds`: by how much the clock of the provider differs. */
export interface RefusedSignIn {
  readonly error: Refusal
  readonly seconds: number | null
}

export interface OauthService {
  /** Where the browser goes, and the secret that binds the return to it. */
  begin(provider: ProviderId): Promise<{ location: string; browser: string } | RefusedSignIn>
  /** `current` is the browser's present session: if it is of the same user, it is proved again and kept. */
  finish(
    provider: ProviderId,
    returned: URL,
    browser: string | undefined,
    from: Visitor,
    current?: UserActor | null,
  ): Promise<SignIn | 'proved' | RefusedSignIn>
  sweep(): Promise<void>
}

export const createOauth = (
  needs: StoreAccess & {
    secrets: Pick<Secrets, 'open' | 'seal'>
    settings: Pick<SettingsService, 'get'>
    users: Pick<UsersService, 'create'>
    sessions: Pick<SessionsService, 'begin'>
    proofs: Pick<Proofs, 'renewByCookie'>
    baseUrl: () => string
    addresses: {
      readonly providerA: string
      readonly providerAApi: string
      readonly providerBIssuer: string
      readonly providerBVouchesForEmails: boolean
    }
    log: Pick<FastifyBaseLogger, 'warn'>
  },
): OauthService => {
  const { db, clock, events, secrets, settings, users, sessions, proofs, baseUrl, addresses, log } = needs

  const open = async (id: ProviderId): Promise<Provider> => {
    const clientId = settings.get(`oauth.${id}.client_id`)
    const sealed = settings.get(`oauth.${id}.client_secret`)
    if (!settings.get(`oauth.${id}.enabled`) || clientId === null || sealed === null)
      throw new SignInRefused('disabled', `${id} is not set up`)
    const credentials = { clientId, clientSecret: secrets.open(sealed, `oauth.${id}.client_secret`) }
    return id === 'provider_a'
      ? createGithub({ url: addresses.providerA, apiUrl: addresses.providerAApi, settings }, credentials)
      : createOpenIdConnect(
          {
            issuer: addresses.providerBIssuer,
            vouchesForEmails: addresses.providerBVouchesForEmails,
            settings,
          },
          credentials,
        )
  }
  const redirectUri = (id: ProviderId) => `${baseUrl()}/api/v1/auth/${id}/callback`

  /** Takes a state away, so that it is good once, and only for the browser that began. */
  const take = async (id: ProviderId, state: string, browser: string | undefined) => {
    const row = await takeState(db.write, sha256(state))
    if (
      !row ||
      row.provider !== id ||
      row.created_at < clock() - life ||
      browser === undefined ||
      row.browser_hash !== sha256(browser)
    )
      throw new SignInRefused('state', 'the state is missing, foreign, used or too old')
    return { state, verifier: secrets.open(row.verifier, 'oauth flow'), nonce: row.nonce }
  }
  const nameOf = (name: string): string =>
    name
      .replace(/[^A-Za-z0-9_]/g, '_')
      .padEnd(3, '_')
      .slice(0, 50)
  /** A username of the interface's form that nobody has. */
  const freeName = async (name: string): Promise<string> => {
    const base = nameOf(name)
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? base : `${base.slice(0, 50 - String(n).length)}${n}`
      if (!(await takenName(db.read, { username: candidate }))) return candidate
    }
  }
  const userOf = async (id: ProviderId, person: Person): Promise<UserRow> => {
    const { subject, admittedAs } = person
    const knownUser = await findUserBySubject(db.read, id, subject)
    // An address alone proves nothing here: an existing account of that address signs in as before.
    if (!knownUser && (await takenName(db.read, { email: person.email })))
      throw new SignInRefused('account_exists', 'the address has an account')
    const byLogin = id === 'provider_a' && !admittedAs.startsWith('org:')
    if (byLogin && (await isAnothers(db.read, id, { subject, admittedAs, username: nameOf(person.name) })))
      throw new SignInRefused('not_allowed', `${admittedAs} was another account of the provider before`)
    if (knownUser) {
      await updateUser(db.write, knownUser.id, { oauth_admitted_as: person.admittedAs })
      return { ...knownUser, oauth_admitted_as: person.admittedAs }
    }
    const username = await freeName(person.name)
    return events.change(change =>
      users.create(change, system, {
        username,
        email: person.email,
        passwordHash: null,
        role: settings.get('oauth.default_role'),
        provider: { id, subject: person.subject, admittedAs: person.admittedAs },
      }),
    )
  }
  /** What went wrong in words of ours; anything unforeseen is the provider's failure, and the log has it. */
  const refusalOf = (id: ProviderId, error: unknown): RefusedSignIn => {
    if (error instanceof SignInRefused) {
      if (error.code !== 'disabled')
        log.warn({ provider: id, reason: error.message }, 'a sign-in by provider was refused')
      return { error: error.code, seconds: error.seconds }
    }
    if (error instanceof Problem && error.status === 409) return { error: 'account_exists', seconds: null }
    log.warn({ provider: id, err: error }, 'a sign-in by provider failed')
    return { error: 'provider_unavailable', seconds: null }
  }

  return {
    async begin(id) {
      try {
        const provider = await open(id)
        const flow = { state: randomText(43), verifier: randomText(64), nonce: randomText(43) }
        const browser = randomText(43)
        const location = await provider.begin(flow, redirectUri(id))
        await addState(db.write, {
          hash: sha256(flow.state),
          provider: id,
          verifier: secrets.seal(flow.verifier, 'oauth flow'),
          browser_hash: sha256(browser),
          nonce: flow.nonce,
          created_at: clock(),
        })
        return { location: location.href, browser }
      } catch (error) {
        return refusalOf(id, error)
      }
    },
    async finish(id, returned, browser, from, current = null) {
      try {
        const flow = await take(id, returned.searchParams.get('state') ?? '', browser)
        if (returned.searchParams.has('error'))
          throw new SignInRefused(
            'denied',
            `the provider answered ${returned.searchParams.get('error') ?? ''}`.slice(0, 200),
          )
        const provider = await open(id)
        // The address that was asked for, not the one that a proxy in between may have made of it.
        const redirectUrl = new URL(redirectUri(id))
        redirectUrl.search = returned.search
        const user = await userOf(id, await provider.finish(flow, redirectUrl))
        if (await proofs.renewByCookie(current, user, id)) return 'proved'
        return await sessions.begin(user, from, id)
      } catch (error) {
        const refusal = refusalOf(id, error)
        await events.change(change =>
          change.record({
            name: 'auth.login_failed',
            author: { name: id, userId: null, ip: from.ip },
            data: { method: id, reason: refusal.error },
          }),
        )
        return refusal
      }
    },
    async sweep() {
      await removeStatesBefore(db.write, clock() - life)
    },
  }
}
