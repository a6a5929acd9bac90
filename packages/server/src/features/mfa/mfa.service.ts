import { randomInt } from 'node:crypto'
import { authorOf } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { conflict, unauthorized } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { requirePasswordOf } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import { findUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import {
  addToken,
  advanceStep,
  clearFactor,
  confirmFactor,
  countBackupCodes,
  prepareFactor,
  removeTokensBefore,
  replaceBackupCodes,
  takeBackupCode,
  takeToken,
  tryToken,
} from './mfa.store.ts'
import { newSecret, qrCode, stepOf } from './totp.ts'

/** How long a sign-in waits for its second factor, and how often it may be tried. */
const token = { life: 5 * minute, tries: 5 } as const
const codes = 10
/** Where a secret is stored: one user's is no other's. */
const placeOf = (userId: number) => `mfa ${userId}`

export interface MfaService {
  /** Prepares a secret and backup codes; in force once confirmed. */
  enable(actor: UserActor): Promise<{ secret: string; qr_code: string; backup_codes: string[] }>
  confirm(actor: UserActor, code: string): Promise<void>
  disable(actor: UserActor, password: string): Promise<void>
  renewBackupCodes(actor: UserActor, password: string): Promise<string[]>
  /** Backup codes that were not used yet. */
  codesLeft(userId: number): Promise<number>
  /** Inside a change: turns the factor off, for an administrator's reset. */
  clear(change: Change, userId: number): Promise<void>
  /** Takes a code of the factor that is on, or a backup code, once. @throws Problem 401 when it is wrong, 429 after too many. */
  requireCode(user: UserRow, code: string, ip: string, failed?: () => Promise<void>): Promise<void>
  /** A password was right: the token that the second step needs. */
  begin(userId: number): Promise<string>
  /** The sign-in that waits with this token for a second factor; each call uses one of its five tries. 401 if there is none. */
  waiting(mfaToken: string): Promise<UserRow>
  /** Uses the token up. 401 where somebody else did. */
  use(mfaToken: string): Promise<void>
  /** The second step: the user, when the code is right. 401 for anything else. */
  finish(mfaToken: string, code: string, ip: string, failed: (user: UserRow) => Promise<void>): Promise<UserRow>
  sweep(): Promise<void>
}

/** The data that an event of a user carries. */
const userFacts = ({ id, username }: UserRow) => ({ id, username })

export const createMfa = (
  needs: StoreAccess & {
    secrets: Secrets
    settings: Pick<SettingsService, 'get'>
    throttle: Throttle
  },
): MfaService => {
  const { db, clock, events, secrets, settings, throttle } = needs

  /** Backup codes have 50 bits: kept as a keyed digest, so that a stolen table alone can't be searched. */
  const digest = (userId: number, code: string) =>
    secrets.digest(`backup code ${userId} ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)
  const newCodes = () =>
    Array.from({ length: codes }, () => {
      const text = Array.from({ length: 10 }, () => 'abcdefghjkmnpqrstuvwxyz23456789'.charAt(randomInt(31))).join('')
      return `${text.slice(0, 5)}-${text.slice(5)}`
    })
  const digests = (userId: number, made: readonly string[]) => made.map(code => digest(userId, code))
  const userOf = async (actor: UserActor): Promise<UserRow> => {
    const user = await findUser(db.read, actor.userId)
    if (!user) throw unauthorized('This session has ended. Sign in again.')
    return user
  }
  const passwordOf = async (actor: UserActor, password: string): Promise<UserRow> => {
    const user = await userOf(actor)
    await requirePasswordOf(user, password, actor.ip, throttle)
    return user
  }
  /** Takes a time step once, even if two requests try the same code at the same moment. */
  const takeStep = async (user: UserRow, sealed: string, code: string): Promise<boolean> => {
    const step = stepOf(secrets.open(sealed, placeOf(user.id)), code, clock())
    return step !== null && advanceStep(db.write, user.id, step)
  }
  const isBackupCode = async (user: UserRow, code: string): Promise<boolean> =>
    code.length >= 10 && code.length <= 20 && takeBackupCode(db.write, user.id, digest(user.id, code))

  const requireCode: MfaService['requireCode'] = async (user, code, ip, failed) => {
    const attempt = await throttle.code(user.id, ip)
    const right =
      user.mfa_secret !== null && ((await takeStep(user, user.mfa_secret, code)) || (await isBackupCode(user, code)))
    if (!right) {
      await failed?.()
      throw unauthorized('Wrong code. It changes every 30 seconds; check the clock of your device.')
    }
    await attempt.succeeded()
  }

  const expired = () => unauthorized('This sign-in has expired or was tried too often. Begin again with your password.')
  const waiting: MfaService['waiting'] = async mfaToken => {
    // The try is counted before the code is compared: parallel requests share the five tries.
    const userId = await tryToken(db.write, sha256(mfaToken), token.tries, clock() - token.life)
    const user = userId === null ? null : await findUser(db.read, userId)
    if (!user) throw expired()
    return user
  }
  const use: MfaService['use'] = async mfaToken => {
    if (!(await takeToken(db.write, sha256(mfaToken)))) throw expired()
  }

  return {
    clear: (change, userId) => clearFactor(change.sql, userId),
    requireCode,
    async enable(actor) {
      const user = await userOf(actor)
      if (user.mfa_enabled === 1) throw conflict('2FA is on already. Turn it off first.')
      const secret = newSecret()
      const backup_codes = newCodes()
      await events.change(async change => {
        await prepareFactor(change.sql, user.id, secrets.seal(secret, placeOf(user.id)))
        await replaceBackupCodes(change.sql, user.id, digests(user.id, backup_codes), 1)
      })
      return { secret, qr_code: await qrCode(secret, user.username, settings.get('service.site_name')), backup_codes }
    },
    async confirm(actor, code) {
      const user = await userOf(actor)
      if (user.mfa_enabled === 1) throw conflict('2FA is on already.')
      const { mfa_pending_secret: prepared } = user
      if (prepared === null) throw conflict('Nothing is prepared. Begin with POST /api/v1/auth/mfa/enable.')
      const attempt = await throttle.code(user.id, actor.ip)
      if (!(await takeStep(user, prepared, code)))
        throw unauthorized('Wrong code. It changes every 30 seconds; check the clock of your device.')
      await attempt.succeeded()
      await events.change(async change => {
        await confirmFactor(change.sql, user.id, prepared, clock())
        await change.record({ name: 'mfa.enable', author: authorOf(actor), data: userFacts(user) })
      })
    },
    async disable(actor, password) {
      const user = await passwordOf(actor, password)
      if (user.mfa_enabled === 0) throw conflict('2FA is off.')
      await events.change(async change => {
        await clearFactor(change.sql, user.id)
        await change.record({ name: 'mfa.disable', author: authorOf(actor), data: userFacts(user) })
      })
    },
    async renewBackupCodes(actor, password) {
      const user = await passwordOf(actor, password)
      if (user.mfa_enabled === 0) throw conflict('2FA is off.')
      const backupCodes = newCodes()
      await events.change(async change => {
        await replaceBackupCodes(change.sql, user.id, digests(user.id, backupCodes), 0)
        await change.record({ name: 'mfa.backup_codes', author: authorOf(actor), data: userFacts(user) })
      })
      return backupCodes
    },
    codesLeft: userId => countBackupCodes(db.read, userId),
    async begin(userId) {
      const challengeToken = randomText(48)
      await addToken(db.write, sha256(challengeToken), userId, clock())
      return challengeToken
    },
    waiting,
    use,
    async finish(mfaToken, code, ip, failed) {
      const user = await waiting(mfaToken)
      if (!user.mfa_secret || user.mfa_enabled === 0) throw expired()
      await requireCode(user, code, ip, () => failed(user))
      await use(mfaToken)
      return user
    },
    async sweep() {
      await removeTokensBefore(db.write, clock() - token.life)
    },
  }
}
