import type { FastifyBaseLogger } from 'fastify'
import type { EventName } from '@stockade/contract'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Database } from '../db/database.ts'
import type { Events, StockadeEvent } from '../events/events.ts'
import type { Http } from '../http/http.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Job, Jobs } from '../jobs/jobs.ts'

/** What every feature may use: everything below the features. */
export interface Core {
  readonly config: Config
  readonly version: string
  readonly log: FastifyBaseLogger
  readonly clock: Clock
  readonly secrets: Secrets
  readonly db: Database
  readonly events: Events
  readonly metrics: Metrics
  readonly leads: Jobs['leads']
  /** Several processes share the database. */
  readonly isShared: boolean
  /** Resolves when the other processes know what was changed here. */
  readonly settle: () => Promise<void>
  /** Whether an error means that storage is away or full. Such errors are logged where they are found. */
  readonly isStorageError: (error: unknown) => boolean
}

/** State in memory that another process may have made stale. */
export interface Follow {
  /** Events after which it is read again: names, or `key.*` for all of one kind. */
  readonly on: readonly (EventName | `${string}.*`)[]
  /** Reads it again after these events. Without events, as every minute: all of it. */
  reload(events: readonly StockadeEvent[]): Promise<unknown>
}

/** A feature as one value: its service for the features above it, and what the application does with it. */
export interface Feature<Service = unknown> {
  readonly service: Service
  /** Mounts its endpoints. */
  mount?(http: Http): void | Promise<void>
  readonly jobs?: readonly Job[]
  readonly follow?: Follow
  /** Called when the process is about to leave, while it still answers: ends long polls and live feeds. */
  drain?(): void
  /** Called when the server begins to close. */
  stop?(): void | Promise<void>
  /** Called after the last request and the last job: writes what is still in memory. */
  close?(): void | Promise<void>
}
