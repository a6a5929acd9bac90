import { randomInt } from 'node:crypto'
import { authorOf } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { conflict, unauthorized } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { requirePasswordOf } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import { findUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
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
  /** Who waits with that token for a second factor; each question is one of its five tries. 401 where nobody does. */
  waiting(mfaToken: string): Promise<UserRow>
  /** Uses the token up. 401 where somebody else did. */
  use(mfaToken: string): Promise<void>
  /** The second step: the user, when the code is right. 401 for anything else. */
  finish(mfaToken: string, code: string, ip: string, failed: (user: UserRow) => Promise<void>): Promise<UserRow>
  sweep(): Promise<void>
}

export const createMfa = (needs: {
  db: Database
  clock: Clock
  events: Events
  secrets: Secrets
  settings: Pick<SettingsService, 'get'>
  throttle: Throttle
}): MfaService => {
  const { db, clock, events, secrets, settings, throttle } = needs

  /** Backup codes have 50 bits: kept as a keyed digest, so that a stolen table alone can't be searched. */
  const digest = (userId: number, code: string) =>
    secrets.digest(`backup code ${userId} ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)
  const newCodes = () =>
    Array.from({ length: codes }, () => {
      const text = Array.from({ length: 10 }, () => 'abcdefghjkmnpqrstuvwxyz23456789'.charAt(randomInt(31))).join('')
      return `${text.slice(0, 5)}-${text.slice(5)}`
    })
  const storeCodes = async (change: Change, userId: number, made: readonly string[], pending: number) => {
    await change.sql
      .deleteFrom('mfa_backup_codes')
      .where('user_id', '=', userId)
      .where('pending', '=', pending)
      .execute()
    await change.sql
      .insertInto('mfa_backup_codes')
      .values(made.map(code => ({ user_id: userId, hash: digest(userId, code), pending })))
      .execute()
  }
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
  /** Takes a time step once, whoever else tries the same code in the same moment. */
  const takeStep = async (user: UserRow, sealed: string, code: string): Promise<boolean> => {
    const step = stepOf(secrets.open(sealed, placeOf(user.id)), code, clock())
    if (step === null) return false
    const taken = await db.write
      .updateTable('users')
      .set({ mfa_last_step: step })
      .where('id', '=', user.id)
      .where('mfa_last_step', '<', step)
      .executeTakeFirst()
    return taken.numUpdatedRows > 0n
  }
  const takeBackupCode = async (user: UserRow, code: string): Promise<boolean> => {
    if (code.length < 10 || code.length > 20) return false
    const taken = await db.write
      .deleteFrom('mfa_backup_codes')
      .where('user_id', '=', user.id)
      .where('pending', '=', 0)
      .where('hash', '=', digest(user.id, code))
      .executeTakeFirst()
    return taken.numDeletedRows > 0n
  }
  const clear = async (change: Change, userId: number) => {
    await change.sql
      .updateTable('users')
      .set({ mfa_enabled: 0, mfa_secret: null, mfa_pending_secret: null })
      .where('id', '=', userId)
      .execute()
    await change.sql.deleteFrom('mfa_backup_codes').where('user_id', '=', userId).execute()
    await change.sql.deleteFrom('mfa_tokens').where('user_id', '=', userId).execute()
  }

  const requireCode: MfaService['requireCode'] = async (user, code, ip, failed) => {
    const attempt = await throttle.code(user.id, ip)
    const right =
      user.mfa_secret !== null && ((await takeStep(user, user.mfa_secret, code)) || (await takeBackupCode(user, code)))
    if (!right) {
      await failed?.()
      throw unauthorized('Wrong code. It changes every 30 seconds; check the clock of your device.')
    }
    await attempt.succeeded()
  }

  const expired = () => unauthorized('This sign-in has expired or was tried too often. Begin again with your password.')
  const waiting: MfaService['waiting'] = async mfaToken => {
    // The try is taken before the code is looked at: many at once have five tries together.
    const row = await db.write
      .updateTable('mfa_tokens')
      .set(eb => ({ tries: eb('tries', '+', 1) }))
      .where('hash', '=', sha256(mfaToken))
      .where('tries', '<', token.tries)
      .where('created_at', '>', clock() - token.life)
      .returning('user_id')
      .executeTakeFirst()
    const user = row && (await findUser(db.read, row.user_id))
    if (!user) throw expired()
    return user
  }
  const use: MfaService['use'] = async mfaToken => {
    const used = await db.write.deleteFrom('mfa_tokens').where('hash', '=', sha256(mfaToken)).executeTakeFirst()
    if (used.numDeletedRows === 0n) throw expired()
  }

  return {
    clear,
    requireCode,
    async enable(actor) {
      const user = await userOf(actor)
      if (user.mfa_enabled === 1) throw conflict('A second factor is on already. Turn it off first.')
      const secret = newSecret()
      const backup_codes = newCodes()
      await events.change(async change => {
        await change.sql
          .updateTable('users')
          .set({ mfa_pending_secret: secrets.seal(secret, placeOf(user.id)) })
          .where('id', '=', user.id)
          .execute()
        await storeCodes(change, user.id, backup_codes, 1)
      })
      return { secret, qr_code: await qrCode(secret, user.username, settings.get('service.site_name')), backup_codes }
    },
    async confirm(actor, code) {
      const user = await userOf(actor)
      if (user.mfa_enabled === 1) throw conflict('A second factor is on already.')
      if (user.mfa_pending_secret === null)
        throw conflict('Nothing is prepared. Begin with POST /api/v1/auth/mfa/enable.')
      const attempt = await throttle.code(user.id, actor.ip)
      if (!(await takeStep(user, user.mfa_pending_secret, code)))
        throw unauthorized('Wrong code. It changes every 30 seconds; check the clock of your device.')
      await attempt.succeeded()
      await events.change(async change => {
        await change.sql
          .updateTable('users')
          .set({ mfa_enabled: 1, mfa_secret: user.mfa_pending_secret, mfa_pending_secret: null, updated_at: clock() })
          .where('id', '=', user.id)
          .execute()
        await change.sql
          .deleteFrom('mfa_backup_codes')
          .where('user_id', '=', user.id)
          .where('pending', '=', 0)
          .execute()
        await change.sql.updateTable('mfa_backup_codes').set({ pending: 0 }).where('user_id', '=', user.id).execute()
        await change.record({
          name: 'mfa.enable',
          author: authorOf(actor),
          data: { id: user.id, username: user.username },
        })
      })
    },
    async disable(actor, password) {
      const user = await passwordOf(actor, password)
      if (user.mfa_enabled === 0) throw conflict('No second factor is on.')
      await events.change(async change => {
        await clear(change, user.id)
        await change.record({
          name: 'mfa.disable',
          author: authorOf(actor),
          data: { id: user.id, username: user.username },
        })
      })
    },
    async renewBackupCodes(actor, password) {
      const user = await passwordOf(actor, password)
      if (user.mfa_enabled === 0) throw conflict('No second factor is on.')
      const made = newCodes()
      await events.change(async change => {
        await storeCodes(change, user.id, made, 0)
        await change.record({
          name: 'mfa.backup_codes',
          author: authorOf(actor),
          data: { id: user.id, username: user.username },
        })
      })
      return made
    },
    async codesLeft(userId) {
      const row = await db.read
        .selectFrom('mfa_backup_codes')
        .select(eb => eb.fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .where('pending', '=', 0)
        .executeTakeFirst()
      return Number(row?.n ?? 0)
    },
    async begin(userId) {
      const made = randomText(48)
      await db.write
        .insertInto('mfa_tokens')
        .values({ hash: sha256(made), user_id: userId, created_at: clock(), tries: 0 })
        .execute()
      return made
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
      await db.write
        .deleteFrom('mfa_tokens')
        .where('created_at', '<', clock() - token.life)
        .execute()
    },
  }
}
