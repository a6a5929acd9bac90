import { existsSync } from 'node:fs'
import { system } from '../core/author.ts'
import type { Config } from '../config.ts'
import type { KeyActor } from '../core/actor.ts'
import { ownAddresses } from '../core/own-addresses.ts'
import { Problem, conflict, notFound } from '../core/problem.ts'
import { createSecrets, secretKeyIn } from '../core/secrets.ts'
import { createEvents } from '../events/events.ts'
import type { Events } from '../events/events.ts'
import { createAccounts } from '../features/accounts/accounts.service.ts'
import { createMfa } from '../features/mfa/mfa.service.ts'
import { createPasskeys } from '../features/passkeys/passkeys.service.ts'
import { createSessions } from '../features/sessions/sessions.service.ts'
import { makeSetupCode } from '../features/sessions/setup-code.store.ts'
import { createTokens } from '../features/sessions/tokens.ts'
import { localUrl, urlsForOthers } from '../features/settings/base-url.ts'
import { createSettings } from '../features/settings/settings.service.ts'
import { createThrottle } from '../features/users/throttle.ts'
import { createUsers } from '../features/users/users.service.ts'
import { findUserByName, listUserRows } from '../features/users/users.store.ts'
import type { UserRow } from '../features/users/users.store.ts'
import { openStorage, schemaState, secretFile, storageExists } from './storage.ts'

/** Ways back in for the owner of a shell on the server's host. */
export interface Recovery {
  /**
   * A new one-time link; the one before is void. Then the same at the addresses at which other machines reach a server without a public one.
   * @throws Problem 409 when there is an administrator.
   */
  setupLinks(): Promise<readonly [string, ...string[]]>
  /** The temporary password, and what still stands between it and a sign-in. */
  resetPassword(typed: string): Promise<{ user: UserRow; password: string; passwordsRefused: boolean }>
  resetMfa(typed: string): Promise<UserRow>
  /** Lets passwords sign in again, for when no provider does. False when they could already; else when a running server knows. */
  allowPasswords(): Promise<false | 'at once' | 'after a restart'>
  close(): Promise<void>
}

/** Nobody signed in does this: it is the machine's own. */
const host: KeyActor = {
  kind: 'key',
  name: system.name,
  ip: '',
  permission: 'admin',
  servers: 'all',
  accessTags: new Set(),
  keyId: 0,
  userId: null,
  serverNo: null,
  isBound: false,
  isOfHost: false,
  scopes: null,
  mfaMissing: false,
}
/** Whatever is recorded here was done by the system, from no address. */
const bySystem = (events: Events): Events => ({
  ...events,
  change: work =>
    events.change(change =>
      work({
        sql: change.sql,
        record: event => change.record({ ...event, author: system }),
        recordMany: many => change.recordMany(many.map(event => ({ ...event, author: system }))),
      }),
    ),
})
/** The parts of accounts that concern servers and keys; a reset reaches none of them. */
const beyond = (): never => {
  throw new Error('Recovery concerns accounts only.')
}

const requireStorage = (config: Config): void => {
  if (!storageExists(config))
    throw conflict(
      `There is no database in ${config.dataDir}. Set STOCKADE_DATA_DIR as it is set for the server, and start the server once.`,
    )
  if (config.secretKey === null && !existsSync(secretFile(config)))
    throw conflict(
      `${secretFile(config)} is missing. Put it back from a backup; a server that starts without makes a new one.`,
    )
}

/** @throws Problem when there is no storage of this version to work on; nothing is made or migrated. */
export const openRecovery = async (config: Config): Promise<Recovery> => {
  requireStorage(config)
  const db = await openStorage(config)
  try {
    const { state } = await schemaState(db)
    if (state === 'newer') throw conflict('The database was used by a newer Stockade. Run the command of that version.')
    if (state !== 'current') throw conflict('The database is not of this version yet. Start the server once.')
    const clock = Date.now
    const events = bySystem(
      createEvents(
        db,
        clock,
        error => {
          throw error
        },
        // Processes over PostgreSQL follow the stream themselves, within a second.
        null,
      ),
    )
    const secrets = createSecrets(config.secretKey ?? secretKeyIn(config.dataDir))
    const settings = await createSettings(db, clock, events)
    const users = createUsers(db, clock, settings)
    const throttle = createThrottle(db, clock)
    const mfa = createMfa({ db, clock, events, secrets, settings, throttle })
    const tokens = createTokens(secrets.tokens, clock)
    const passkeys = createPasskeys({ db, clock, events, settings, baseUrl: beyond })
    const sessions = createSessions({ db, clock, events, tokens, settings, users, mfa, passkeys, throttle })
    const accounts = createAccounts({
      db,
      clock,
      events,
      settings,
      users,
      mfa,
      passkeys,
      throttle,
      sessions,
      keys: { reload: beyond, revokeOf: beyond },
      servers: { named: beyond },
      registry: { byNo: beyond, all: beyond },
      baseUrl: beyond,
    })
    const admins = () => listUserRows(db.read, { role: 'Admin' }, 0, 5)
    const userNamed = async (typed: string): Promise<UserRow> => {
      const user = await findUserByName(db.read, typed)
      if (user) return user
      const adminNames = (await admins()).map(({ username }) => username).join(', ')
      throw notFound(
        adminNames
          ? `There is no user "${typed}". Administrators are: ${adminNames}.`
          : `There is no user "${typed}", nor any other. Make the first one with: stockade admin setup-code`,
      )
    }
    const baseUrl = config.baseUrl ?? settings.get('service.site_url') ?? localUrl(config)
    return {
      async setupLinks() {
        if (!(await users.none())) {
          const names = (await admins()).map(({ username }) => username)
          throw conflict(
            `There is an administrator already (${names.join(', ')}). To get back in use: stockade admin reset-password ${names[0] ?? 'USERNAME'}`,
          )
        }
        const code = await makeSetupCode(db)
        const linkAt = (url: string) => `${url}/setup?code=${code}`
        const others = baseUrl === localUrl(config) ? urlsForOthers(config, ownAddresses()) : []
        return [linkAt(baseUrl), ...others.map(linkAt)]
      },
      async resetPassword(typed) {
        const user = await userNamed(typed)
        // A running server over SQLite would not hear of keys that end here.
        const { temporary_password: password } = await accounts.resetPassword(host, user.id, { keep_keys: true })
        return {
          user,
          password: password ?? '',
          passwordsRefused: settings.get('oauth.local_login_disabled') && (await users.adminByProvider()),
        }
      },
      async resetMfa(typed) {
        const user = await userNamed(typed)
        await accounts.resetMfa(host, user.id, { keep_keys: true })
        return user
      },
      async allowPasswords() {
        const changed = await settings.update(system, { 'oauth.local_login_disabled': false })
        if (changed.length === 0) return false
        // A process on SQLite gets no messages from others: it keeps its settings until its restart.
        return db.engine === 'postgres' ? 'at once' : 'after a restart'
      },
      close: () => db.close(),
    }
  } catch (error) {
    await db.close()
    throw error instanceof Problem ? error : unusable(error)
  }
}
/** The driver's words, not its stack. */
const unusable = (error: unknown) =>
  new Error(
    `The database can't be used: ${error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : String(error)}`,
  )
