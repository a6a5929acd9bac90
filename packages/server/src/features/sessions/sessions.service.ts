import { bounds, times } from '@stockade/contract/limits.ts'
import { system } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import { day, iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText, sha256, uuid7 } from '../../core/ids.ts'
import { conflict, forbidden, unauthorized } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { factorsOf } from '../users/factors.ts'
import { amongStrangers } from '../users/hashing.ts'
import { isKnownNetwork, noteNetwork } from '../users/networks.store.ts'
import { checkPassword, requirePasswordOf } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import {
  countUsers,
  findInvited,
  findUser,
  findUserByName,
  noteLogin,
  setPassword,
  takeInvite,
} from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { isProved, methodsOf } from './proof.ts'
import {
  findSession,
  insertSession,
  removeIdlest,
  removeEnded,
  removeSession,
  removeSessionsOf,
  sessionsOf,
  setAccessHash,
  touchSessions,
} from './sessions.store.ts'
import type { SessionRow } from './sessions.store.ts'
import { isSetupCode, takeSetupCode } from './setup-code.store.ts'
import { accessSecret } from './tokens.ts'
import type { Tokens } from './tokens.ts'
import type { Visitor, SignIn, HalfSignIn, Method, SessionsService } from './sessions.model.ts'

export const createSessions = (needs: {
  db: Database
  clock: Clock
  events: Events
  tokens: Tokens
  settings: Pick<SettingsService, 'get' | 'set' | 'reload'>
  users: UsersService
  mfa: Pick<MfaService, 'begin' | 'finish' | 'codesLeft' | 'waiting' | 'use'>
  passkeys: Pick<PasskeysService, 'begin' | 'verify'>
  throttle: Pick<Throttle, 'login'>
}): SessionsService => {
  const { db, clock, events, tokens, settings, users, mfa, passkeys, throttle } = needs
  /** Activity is written at intervals, not on each request. */
  const seen = new Map<string, number>()

  const alive = (session: SessionRow): boolean => {
    const active = Math.max(session.last_activity, seen.get(session.id) ?? 0)
    const now = clock()
    return (
      active + settings.get('security.session_timeout') * second > now &&
      session.created_at + times.sessionMaximum * second > now
    )
  }
  const actorOf = async (
    session: SessionRow | undefined,
    ip: string,
    by: 'cookie' | 'token' = 'token',
    quietly = false,
  ): Promise<UserActor | null> => {
    if (!session || !alive(session)) return null
    const grant = await users.grantOf(session.user_id)
    if (!grant) return null
    if (session.method.startsWith('provider') && !users.isVouchedFor(grant.user)) return null
    if (!quietly) seen.set(session.id, clock())
    return {
      kind: 'user',
      name: grant.user.username,
      ip,
      userId: grant.user.id,
      sessionId: session.id,
      role: grant.user.role,
      permission: grant.permission,
      servers: grant.servers,
      accessTags: grant.accessTags,
      mfaMissing: mfaMissing(grant.user, session.method),
      mustProve: by === 'cookie' && !isProved(session, clock()) ? methodsOf(grant.user) : null,
    }
  }
  const mfaMissing = (user: UserRow, method: Method) => users.lacksFactor(user) && !method.startsWith('provider')

  const begin = async (user: UserRow, from: Visitor, method: Method): Promise<SignIn> => {
    const author = { name: user.username, userId: user.id, ip: from.ip }
    const now = clock()
    const id = uuid7(now)
    const refresh = randomText(48)
    const cookie = randomText(48)
    await events.change(async change => {
      await insertSession(change.sql, {
        id,
        user_id: user.id,
        refresh_hash: sha256(refresh),
        access_hash: sha256(accessSecret(refresh)),
        cookie_hash: sha256(cookie),
        method,
        ip_address: from.ip,
        user_agent: tame(from.userAgent, 512),
        created_at: now,
        last_activity: now,
        proved_at: now,
      })
      await removeIdlest(change.sql, user.id, bounds.sessionsPerUser)
      await noteNetwork(change.sql, user.id, from.ip, now)
      await noteLogin(change.sql, user.id, now)
      await change.record({ name: 'auth.login', author, data: { session_id: id, method } })
    })
    return {
      cookie,
      reply: {
        access_token: await tokens.sign(user.id, { id, secret: accessSecret(refresh) }),
        refresh_token: refresh,
        expires_in: times.accessToken,
        user: { id: user.id, username: user.username, email: user.email, role: user.role },
        ...(mfaMissing(user, method) ? { mfa_setup_required: true } : {}),
      },
    }
  }

  /** `last`: the account's budget of the day is used up by it, which its owner is to know. */
  const fail = async (user: UserRow | null, typed: string, from: Visitor, last = false) => {
    const name = tame(typed, 200)
    await events.change(async change => {
      const data = { username: name }
      await change.record({
        name: 'auth.login_failed',
        author: { name, userId: user?.id ?? null, ip: from.ip },
        data,
      })
      if (user && last) await change.record({ name: 'auth.guessing', author: system, data: { ...data, ip: from.ip } })
    })
  }
  /** The password was right: in, or on to the second factor. */
  const welcome = async (user: UserRow, from: Visitor): Promise<SignIn | HalfSignIn> => {
    const methods = factorsOf(user, settings.get)
    if (methods.length > 0) return { reply: { mfa_required: true, mfa_token: await mfa.begin(user.id), methods } }
    return begin(user, from, 'password')
  }

  const requirePasswords = async () => {
    if (settings.get('oauth.local_login_disabled') && (await users.adminByProvider()))
      throw forbidden('Signing in with a password is turned off here. Use one of the providers.')
  }
  const badInvite = () =>
    unauthorized('This invitation was used, was replaced by another one, or is older than 72 hours. Ask for a new one.')

  return {
    begin,
    async login({ username, password }, from) {
      await requirePasswords()
      const user = await findUserByName(db.read, username)
      const known = await isKnownNetwork(db.read, user?.id ?? 0, from.ip, clock())
      const check = async (): Promise<UserRow> => {
        const attempt = await throttle.login(username, from.ip, known)
        if (!(await checkPassword(user?.password_hash ?? null, password, known)) || !user) {
          await fail(user ?? null, username, from, attempt.last)
          throw unauthorized('Wrong username or password.')
        }
        await attempt.succeeded()
        return user
      }
      return welcome(await (known ? check() : amongStrangers(check)), from)
    },
    async verifyMfa({ mfa_token, code }, from) {
      const user = await mfa.finish(mfa_token, code, from.ip, failed => fail(failed, failed.username, from))
      if (!factorsOf(user, settings.get).includes('totp'))
        throw unauthorized('This account signs in with a passkey; a code is not enough.')
      return begin(user, from, 'mfa')
    },
    async beginPasskey(mfaToken) {
      if (mfaToken === undefined) return passkeys.begin('sign-in', null)
      return passkeys.begin('second-factor', await mfa.waiting(mfaToken))
    },
    async finishPasskey({ response, mfa_token }, from) {
      if (mfa_token === undefined) {
        await requirePasswords()
        return begin(await passkeys.verify('sign-in', response, null), from, 'passkey')
      }
      const waits = await mfa.waiting(mfa_token)
      const user = await passkeys.verify('second-factor', response, waits.id)
      await mfa.use(mfa_token)
      return begin(user, from, 'passkey')
    },
    async beginProof(actor) {
      const user = await findUser(db.read, actor.userId)
      if (!user) throw unauthorized('This session has ended. Sign in again.')
      return passkeys.begin('proof', user)
    },
    async changePassword(actor, { current_password, new_password, refuse_common }) {
      const user = await findUser(db.read, actor.userId)
      if (!user) throw unauthorized('This session has ended. Sign in again.')
      await requirePasswordOf(user, current_password, actor.ip, throttle, 'The current password is wrong.')
      const hash = await users.preparePassword('new_password', new_password, refuse_common)
      await events.change(async change => {
        await setPassword(change.sql, user.id, hash, clock())
        await removeSessionsOf(change.sql, user.id, actor.sessionId)
        await change.record({
          name: 'auth.password_change',
          author: { name: actor.name, userId: actor.userId, ip: actor.ip },
          data: { id: user.id, username: user.username },
        })
      })
    },
    async listOf(userId, current) {
      const rows = (await sessionsOf(db.read, userId)).filter(alive)
      return rows.map(row => ({
        id: row.id,
        ip_address: row.ip_address,
        user_agent: row.user_agent,
        created_at: iso(row.created_at),
        last_activity: iso(Math.max(row.last_activity, seen.get(row.id) ?? 0)),
        current: row.id === current,
      }))
    },
    async end(author, userId, sessionId) {
      return events.change(async change => {
        const gone = await removeSession(change.sql, sessionId, userId)
        if (gone) await change.record({ name: 'session.end', author, data: { user_id: userId, session_id: sessionId } })
        return gone
      })
    },
    endAll: (change, userId, except) => removeSessionsOf(change.sql, userId, except),
    async refresh(refreshToken) {
      const session = await findSession(db.read, 'refresh_hash', sha256(refreshToken))
      const actor = await actorOf(session, '')
      if (!session || !actor) throw unauthorized('This session has ended. Sign in again.')
      const secret = accessSecret(refreshToken)
      if (session.access_hash === '') await setAccessHash(db.write, session.id, sha256(secret))
      return {
        access_token: await tokens.sign(actor.userId, { id: session.id, secret }),
        expires_in: times.accessToken,
      }
    },
    async logout(actor) {
      await events.change(async change => {
        await removeSession(change.sql, actor.sessionId, actor.userId)
        await change.record({
          name: 'auth.logout',
          author: { name: actor.name, userId: actor.userId, ip: actor.ip },
          data: { session_id: actor.sessionId },
        })
      })
      seen.delete(actor.sessionId)
    },
    async me(actor, version) {
      const grant = await users.grantOf(actor.userId)
      if (!grant) throw unauthorized('This session has ended. Sign in again.')
      const { user } = grant
      return {
        id: user.id,
        username: user.username,
        email: user.email,
        role: user.role,
        mfa_enabled: user.mfa_enabled === 1,
        backup_codes_left: user.mfa_enabled === 1 ? await mfa.codesLeft(user.id) : null,
        created_at: iso(user.created_at),
        last_login: isoOrNull(user.last_login),
        ip_address: actor.ip,
        version,
        server_access: user.role === 'Admin' ? 'all' : user.server_access,
        tags: [...grant.accessTags].sort(),
      }
    },
    setupRequired: () => users.none(),
    async setUp(input, from) {
      if (!(await users.none())) throw conflict('Stockade is set up already. Sign in.')
      if (!(await isSetupCode(db, input.code))) {
        // Another set-up may have used the code since.
        if (!(await users.none())) throw conflict('Stockade is set up already. Sign in.')
        throw unauthorized(
          'This set-up code is not the one that was printed last. Make a new one where the server runs: npx stockade admin setup-code',
        )
      }
      const passwordHash = await users.preparePassword('password', input.password, input.refuse_common)
      const user = await events.change(async change => {
        const at = clock()
        // Of two set-ups at the same moment, only the first finds the code.
        if (!(await takeSetupCode(change.sql)) || (await countUsers(change.sql)) > 0)
          throw conflict('Stockade is set up already. Sign in.')
        const made = await users.create(change, { ...system, ip: from.ip }, { ...input, passwordHash, role: 'Admin' })
        await settings.set(
          change,
          {
            ...(input.site_url === undefined ? {} : { 'service.site_url': input.site_url.replace(/\/+$/, '') }),
            ...(input.timezone === undefined ? {} : { 'service.timezone': input.timezone }),
          },
          at,
        )
        return made
      })
      await settings.reload()
      return begin(user, from, 'password')
    },
    async invited(code) {
      await requirePasswords()
      const user = await findInvited(db.read, sha256(code), clock())
      if (!user) throw badInvite()
      return {
        username: user.username,
        expires_at: iso(user.invite_expires_at ?? 0),
        mfa_required: mfaMissing(user, 'password'),
      }
    },
    async acceptInvite({ code, password, refuse_common }, from) {
      await requirePasswords()
      const hash = sha256(code)
      // Hashing is dear: not for anybody who has no invitation.
      if (!(await findInvited(db.read, hash, clock()))) throw badInvite()
      const passwordHash = await users.preparePassword('password', password, refuse_common)
      const user = await events.change(async change => {
        const taken = await takeInvite(change.sql, hash, passwordHash, clock())
        if (!taken) throw badInvite()
        const author = { name: taken.username, userId: taken.id, ip: from.ip }
        await change.record({
          name: 'user.accept_invite',
          author,
          data: { id: taken.id, username: taken.username },
        })
        return taken
      })
      return begin(user, from, 'password')
    },
    async byToken(token, ip, quietly) {
      const claim = await tokens.verify(token)
      const session = claim && (await findSession(db.read, 'id', claim.id))
      return session && session.access_hash === sha256(claim.secret) ? actorOf(session, ip, 'token', quietly) : null
    },
    async byCookie(value, ip, quietly) {
      return actorOf(await findSession(db.read, 'cookie_hash', sha256(value)), ip, 'cookie', quietly)
    },
    async byId(sessionId, ip) {
      return actorOf(await findSession(db.read, 'id', sessionId), ip)
    },
    async flush() {
      const batch = new Map(seen)
      seen.clear()
      if (batch.size > 0) await db.write.transaction().execute(sql => touchSessions(sql, batch))
    },
    async sweep() {
      const now = clock()
      await removeEnded(db.write, now - settings.get('security.session_timeout') * second, now - 90 * day)
    },
  }
}
