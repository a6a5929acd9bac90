import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { readConfig } from '../config.ts'
import { ConfigError } from '../config-reader.ts'
import type { Config } from '../config.ts'
import { day } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { parseIp, isLoopback } from '../core/ip.ts'
import { places } from '../core/places.ts'
import type { Database } from '../db/database.ts'
import { examineReplica } from '../db/replica.ts'
import { createEvents } from '../events/events.ts'
import { openMmdb } from '../features/ipinfo/mmdb.ts'
import { loadShipped } from '../features/ipinfo/shipped.ts'
import { localUrl } from '../features/settings/base-url.ts'
import { createSettings } from '../features/settings/settings.service.ts'
import { countUsers } from '../features/users/users.store.ts'
import { dashboardBuilt } from '../http/dashboard.ts'
import { backupFindings, certificateFindings, fail, ok, roomFindings, warn } from './doctor-stock.ts'
import type { Finding } from './doctor-stock.ts'
import { openStorage, schemaState, secretFile, sqliteFile, storageExists } from './storage.ts'

/** Looks at everything that a server needs, in the order in which it needs it; changes nothing. */
export async function* examine(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock = Date.now,
): AsyncGenerator<Finding> {
  yield node(process.versions.node)
  let config: Config | null = null
  try {
    config = readConfig(env)
    yield ok('the configuration is readable')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield fail(`the configuration: ${error.message}`)
  }
  if (config) {
    yield* folder(config)
    yield* certificateFindings(config, clock())
    yield* roomFindings(config)
    yield* storage(config, clock)
  }
  yield dashboardBuilt() ? ok('the dashboard is built') : fail('the dashboard is not built. Run: npm run build')
  yield existsSync(places.agentProgram) ? ok('the agent is built') : fail('the agent is not built. Run: npm run build')
  yield* geo(config, clock)
}

const node = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const enough = major > 23 || (major === 22 && minor >= 19) || (major === 23 && minor >= 6)
  return enough
    ? ok(`Node ${version}`)
    : fail(`Node ${version} is too old: Stockade needs 22.19 or newer. Run: npm install`)
}

const modeOf = (path: string) => statSync(path).mode & 0o777
const octal = (mode: number) => mode.toString(8).padStart(4, '0')

function* folder(config: Config): Generator<Finding> {
  const { dataDir } = config
  const file = secretFile(config)
  if (!existsSync(dataDir)) {
    // With PostgreSQL and a key from the environment nothing is kept on this host.
    if (config.databaseUrl === null) yield warn(`the data folder ${dataDir} is not there yet; the first start makes it`)
    return
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    yield fail(`the data folder ${dataDir} is not readable and writable for this user`)
    return
  }
  const mode = modeOf(dataDir)
  yield (mode & 0o077) === 0
    ? ok(`the data folder ${dataDir} has mode ${octal(mode)}`)
    : fail(`the data folder ${dataDir} has mode ${octal(mode)}, others can look into it. Run: chmod 0700 '${dataDir}'`)
  if (config.secretKey !== null) yield ok('the secret key comes from the environment')
  else if (!existsSync(file)) {
    yield existsSync(sqliteFile(config))
      ? fail(`${file} is missing beside a database. Put it back: what was encrypted with it is lost without`)
      : warn(`${file} is not there yet; the first start makes it`)
  } else {
    const keyMode = modeOf(file)
    yield (keyMode & 0o077) === 0
      ? ok(`secret.key has mode ${octal(keyMode)}`)
      : fail(`${file} has mode ${octal(keyMode)}, others can read it. Run: chmod 0600 '${file}'`)
  }
}

async function* storage(config: Config, clock: Clock): AsyncGenerator<Finding> {
  const name = config.databaseUrl === null ? 'SQLite' : 'PostgreSQL'
  if (!storageExists(config)) {
    yield warn('there is no database yet; the first start makes it')
    yield baseUrl(config.baseUrl ?? localUrl(config))
    return
  }
  let db: Database | null = null
  try {
    db = await openStorage(config)
    const started = performance.now()
    await db.ping()
    yield ok(`storage answers (${name}, ${Math.max(1, Math.round(performance.now() - started))} ms)`)
    yield* replicaFindings(config)
    const { state, last, version } = await schemaState(db)
    if (state !== 'current') {
      yield state === 'newer'
        ? fail(`the schema is of a newer Stockade, ${version ?? 'unknown'} (${last ?? ''}). Run that version`)
        : warn('the schema is of an older version; the next start brings it up to date')
      yield baseUrl(config.baseUrl ?? localUrl(config))
      return
    }
    yield ok(`the schema is current (${last ?? ''})`)
    const events = createEvents(db, clock, () => {}, null)
    const settings = await createSettings(db, clock, events)
    yield (await countUsers(db.read)) > 0
      ? ok('there is an administrator')
      : warn('there is no administrator yet. Make a link for the first one with: stockade admin setup-code')
    yield baseUrl(config.baseUrl ?? settings.get('service.site_url') ?? localUrl(config))
    yield* backupFindings(config, db, clock())
  } catch (error) {
    yield fail(`storage does not answer (${name}): ${reasonOf(error)}`)
  } finally {
    await db?.close()
  }
}
async function* replicaFindings({ databaseUrl, databaseReadUrl }: Config): AsyncGenerator<Finding> {
  if (databaseUrl === null || databaseReadUrl === null) return
  const problem = await examineReplica(databaseUrl, databaseReadUrl)
  yield problem === null
    ? ok('the standby for long reads answers')
    : warn(`the standby for long reads is not used, the primary is read instead: ${problem}`)
}
/** Several addresses may have been tried; then only the code says why. */
const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : String(error)

const baseUrl = (text: string): Finding => {
  const { protocol, hostname } = new URL(text)
  const ip = parseIp(hostname.replace(/^\[|\]$/g, ''))
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || (ip && isLoopback(ip)))
    return warn(`the base URL is ${text}: other hosts can't reach that. Set STOCKADE_BASE_URL`)
  return protocol === 'https:'
    ? ok(`the base URL is ${text}`)
    : warn(`the base URL is ${text}: passwords and keys travel unencrypted. Set STOCKADE_TLS, or put https in front`)
}

/** Blocks of addresses move slowly between countries, and faster between cities and networks. */
const fresh = { shipped: 365 * day, own: 90 * day } as const

async function* geo(config: Config | null, clock: Clock): AsyncGenerator<Finding> {
  const files = [
    {
      what: 'country data',
      labelOf: async () => (await loadShipped({ packed: places.packedPlaces, files: places.placeFiles })).label,
      most: fresh.shipped,
    },
    ...[
      { what: 'STOCKADE_GEOIP_CITY', path: config?.geoipCity ?? null },
      { what: 'STOCKADE_GEOIP_ASN', path: config?.geoipAsn ?? null },
    ].flatMap(({ what, path }) =>
      path === null ? [] : [{ what, labelOf: () => openMmdb(readFileSync(path)).label, most: fresh.own }],
    ),
  ]
  for (const { what, labelOf, most } of files)
    try {
      const label = await labelOf()
      const age = clock() - Date.parse(label.slice(-10))
      const ageText = `${what}: ${label}, ${Math.max(0, Math.floor(age / day))} days old`
      yield age < most ? ok(ageText) : warn(`${ageText}. Places may be wrong`)
    } catch (error) {
      yield fail(`${what} can't be read: ${reasonOf(error)}`)
    }
}
