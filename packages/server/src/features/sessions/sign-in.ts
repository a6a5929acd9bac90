import { bounds, times } from '@stockade/contract/limits.ts'
import { system } from '../../core/author.ts'
import { randomText, sha256, uuid7 } from '../../core/ids.ts'
import { forbidden, unauthorized } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { factorsOf } from '../users/factors.ts'
import { amongStrangers } from '../users/hashing.ts'
import { isKnownNetwork, noteNetwork } from '../users/networks.store.ts'
import { checkPassword } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import { findUser, findUserByName, noteLogin } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import type { HalfSignIn, Method, SessionsService, SignIn, Visitor } from './sessions.model.ts'
import { insertSession, removeIdlest } from './sessions.store.ts'
import { accessSecret } from './tokens.ts'
import type { Tokens } from './tokens.ts'

/** Whether the account must have a second factor, and this way of signing in brought none. */
export const isFactorMissing = (users: Pick<UsersService, 'lacksFactor'>, user: UserRow, method: Method): boolean =>
  users.lacksFactor(user) && !method.startsWith('provider')

type SigningIn = Pick<
  SessionsService,
  'begin' | 'login' | 'verifyMfa' | 'beginPasskey' | 'finishPasskey' | 'beginProof'
> & {
  /** @throws Problem 403 where nobody signs in with a password */
  requirePasswords(): Promise<void>
}

/** How sessions begin. */
export const createSignIn = (
  needs: StoreAccess & {
    tokens: Tokens
    settings: Pick<SettingsService, 'get'>
    users: Pick<UsersService, 'lacksFactor' | 'adminByProvider'>
    mfa: Pick<MfaService, 'begin' | 'finish' | 'waiting' | 'use'>
    passkeys: Pick<PasskeysService, 'begin' | 'verify'>
    throttle: Pick<Throttle, 'login'>
  },
): SigningIn => {
  const { db, clock, events, tokens, settings, users, mfa, passkeys, throttle } = needs
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
        ...(isFactorMissing(users, user, method) ? { mfa_setup_required: true } : {}),
      },
    }
  }

  /** `last`: the account's budget of the day is used up by it, which its owner is to know. */
  const fail = async (user: UserRow | null, typed: string, from: Visitor, last = false) => {
    const name = tame(typed, 200)
    await events.change(async change => {
      const data = { username: name }
      await change.record({ name: 'auth.login_failed', author: { name, userId: user?.id ?? null, ip: from.ip }, data })
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

  return {
    begin,
    requirePasswords,
    async login({ username, password }, from) {
      await requirePasswords()
      const user = await findUserByName(db.read, username)
      const isKnown = await isKnownNetwork(db.read, user?.id ?? 0, from.ip, clock())
      const check = async (): Promise<UserRow> => {
        const attempt = await throttle.login(username, from.ip, isKnown)
        if (!(await checkPassword(user?.password_hash ?? null, password, isKnown)) || !user) {
          await fail(user ?? null, username, from, attempt.last)
          throw unauthorized('Wrong username or password.')
        }
        await attempt.succeeded()
        return user
      }
      return welcome(await (isKnown ? check() : amongStrangers(check)), from)
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
  }
}
