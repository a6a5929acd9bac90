import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pino } from 'pino'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { iso, second } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { createOutput } from '../core/output.ts'
import { createSecrets, secretKeyIn } from '../core/secrets.ts'
import { version } from '../core/places.ts'
import { createStorageWatch } from '../core/storage.ts'
import type { Database } from '../db/database.ts'
import { openPostgres } from '../db/postgres.ts'
import type { Postgres } from '../db/postgres.ts'
import type { ReplicaState } from '../db/replica.ts'
import type { ScanWatch } from '../db/scans.ts'
import { createSlowScans } from '../db/slow-scans.ts'
import { openSqlite } from '../db/sqlite.ts'
import { openUpgraded } from '../db/upgrade.ts'
import { createEvents } from '../events/events.ts'
import type { Tail } from '../events/tail.ts'
import { createMetrics } from '../http/metrics.ts'
import type { Metrics } from '../http/metrics.ts'
import { createJobs } from '../jobs/jobs.ts'

const secretFields = ['password', 'token', 'api_key', 'authorization', 'cookie']
const createLog = (level: string): FastifyBaseLogger =>
  pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: [...secretFields, ...secretFields.map(field => `*.${field}`)],
    },
    createOutput(
      process.stdout,
      lines =>
        `${JSON.stringify({ level: 40, time: iso(Date.now()), lines, msg: 'nobody read the log, so lines were left out' })}\n`,
    ),
  )

/** Figures of the build and the storage. */
const addDatabaseMetrics = (metrics: Metrics, db: Database, postgres: Postgres | null): void => {
  metrics.gauge(
    { name: 'stockade_build_info', help: 'The running version', labels: ['version', 'node', 'engine'] },
    () => [[[version, process.version, db.engine], 1]],
  )
  if (postgres) {
    const { pool } = postgres
    metrics.gauge(
      { name: 'stockade_database_connections', help: 'Connections to PostgreSQL by state', label: 'state' },
      () => ({ used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    )
  }
  const { logBytes } = db
  if (logBytes)
    metrics.gauge({ name: 'stockade_sqlite_log_bytes', help: "Size of SQLite's write-ahead log on the disk" }, logBytes)
}

/** Reports the state of the replica: a gauge, and a log line when the server starts or stops using it. */
const createReplicaNews = (url: string, metrics: Metrics, log: FastifyBaseLogger) => {
  let isUsed = false
  metrics.gauge(
    { name: 'stockade_replica_used', help: 'Whether long reads go to the replica of the database (1) or not (0)' },
    () => Number(isUsed),
  )
  return {
    url,
    hear(state: ReplicaState) {
      isUsed = state.isUsed
      if (isUsed) log.info('long reads go to the replica of the database')
      else log.warn({ reason: state.reason }, 'long reads go to the primary database, the replica is not used')
    },
  }
}

/** Everything below the features: log, storage, events, jobs and metrics. */
export const openPlatform = async (config: Config, clock: Clock) => {
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  const isStorageError = createStorageWatch(facts => log.error(facts, 'storage does not answer; requests get 503'))
  const slowScans = createSlowScans(facts => log.warn(facts, 'slow searches'))
  const watch: ScanWatch = scan => {
    metrics.scanned(scan.outcome, (scan.waited + scan.ran) / second, scan.waited / second)
    slowScans.watch(scan)
  }
  const { databaseUrl, databaseReadUrl } = config
  const replica = databaseReadUrl === null ? null : createReplicaNews(databaseReadUrl, metrics, log)
  const copied = (file: string) => log.info({ file }, 'copied the database before the upgrade of its schema')
  const postgres =
    databaseUrl === null
      ? null
      : await openUpgraded(() => openPostgres(databaseUrl, isStorageError, { watch, replica }), config, copied)
  const db =
    postgres ??
    (await openUpgraded(
      () =>
        openSqlite(join(config.dataDir, 'stockade.sqlite3'), {
          watch,
          hear: ({ news, ...facts }) =>
            log.warn(
              facts,
              news === 'copying fails'
                ? "SQLite's write-ahead log can't be copied into the database file and grows; commits go on"
                : "SQLite's write-ahead log is copied into the database file again",
            ),
        }),
      config,
      copied,
    ))
  addDatabaseMetrics(metrics, db, postgres)

  // Set when following begins, after the features are built.
  let tail: Tail | null = null
  const events = createEvents(
    db,
    clock,
    error => log.error({ err: error }, 'a subscriber of events failed'),
    postgres ? () => tail?.nudge() : null,
  )
  const jobs = createJobs(db, randomUUID(), clock, (error, job) => {
    metrics.failed(job)
    if (!isStorageError(error)) log.error({ err: error, job }, 'a job failed and will be tried again')
  })
  return {
    core: {
      config,
      version,
      log,
      clock,
      secrets: createSecrets(config.secretKey ?? secretKeyIn(config.dataDir)),
      db,
      events,
      metrics,
      leads: jobs.leads,
      isShared: postgres !== null,
      settle: () => tail?.settle() ?? Promise.resolve(),
      isStorageError,
    },
    postgres,
    dispatch: events.dispatch,
    jobs,
    follow(started: Tail) {
      tail = started
    },
    /** Closes what the features no longer use. */
    async close() {
      await tail?.close()
      await db.close()
      slowScans.close()
      metrics.close()
    },
  }
}
export type Platform = Awaited<ReturnType<typeof openPlatform>>
