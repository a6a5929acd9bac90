import type { FastifyBaseLogger } from 'fastify'
import type { BackupConfig } from '../../config.ts'
import { system } from '../../core/author.ts'
import { day, hour, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { EventInput, Events } from '../../events/events.ts'
import { noBackupYet, readBackupState, writeBackupState } from './backups.store.ts'
import type { BackupState } from './backups.store.ts'
import { isEncrypted, lastDue } from './plan.ts'
import type { BackupRunner } from './task.ts'

/** After a failure, and after a process that ended in the middle. */
const retryAfter = hour
const drillEvery = 7 * day

export interface Backups {
  state(): BackupState
  /** Looks at the time, and does what is due where this process is the one that does it. */
  turn(): Promise<void>
}

export const createBackups = (needs: {
  readonly config: BackupConfig
  readonly runner: BackupRunner
  readonly clock: Clock
  readonly db: Database
  readonly events: Pick<Events, 'change'>
  readonly leads: () => Promise<boolean>
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}): Backups => {
  const { config, runner, clock, db, events, log } = needs
  let state = noBackupYet

  /** Stores the state together with its event. */
  const keep = (change: Partial<BackupState>, event?: EventInput) =>
    events.change(async ({ sql, record }) => {
      state = { ...state, ...change }
      await writeBackupState(sql, state)
      if (event) await record({ author: system, ...event })
    })

  const isSaveDue = (now: number): boolean => {
    if (state.startedAt < lastDue(now, config.at)) return true
    const isUnfinished = state.endedAt < state.startedAt
    return (isUnfinished || state.problem !== null) && state.startedAt < now - retryAfter
  }
  const save = async (now: number): Promise<void> => {
    await keep({ startedAt: now })
    const { folder, recipient } = config
    const outcome = await runner.save({ kind: 'save', folder, recipient, lastBytes: state.bytes })
    if (outcome === null) return
    const endedAt = clock()
    if (!outcome.isDone) {
      const { problem } = outcome
      log.error({ problem }, 'the scheduled backup failed; it is tried again in an hour')
      // One event for each reason, not one for each hour.
      const isNews = state.problem !== problem
      await keep({ endedAt, problem }, isNews ? { name: 'backup.fail', data: { reason: problem } } : undefined)
      return
    }
    const { file, bytes, rows } = outcome.result
    const seconds = (endedAt - now) / second
    log.info({ file, bytes, rows, seconds }, 'made the scheduled backup')
    if (recipient === null)
      log.warn({ file }, 'the scheduled backup is not encrypted: set STOCKADE_BACKUP_RECIPIENT to a recipient of age')
    await keep(
      { endedAt, savedAt: now, file, bytes, seconds, problem: null },
      { name: 'backup.create', data: { file, bytes, rows } },
    )
  }

  const isDrillDue = (now: number): boolean =>
    state.file !== null &&
    state.triedAt < now - drillEvery &&
    (config.recipient === null || config.identityFile !== null)
  const drill = async (file: string, now: number): Promise<void> => {
    // Backups of before there was a recipient are plain.
    const identityFile = isEncrypted(file) ? config.identityFile : null
    const outcome = await runner.verify({ kind: 'verify', file, identityFile })
    if (outcome === null) return
    const faults = outcome.isDone ? outcome.result.faults : [outcome.problem]
    if (!outcome.isDone || faults.length > 0) {
      const drillProblem = faults.join(' ')
      log.error({ file, problem: drillProblem }, 'a backup could not be restored')
      await keep({ triedAt: now, drillProblem }, { name: 'backup.verify_fail', data: { file, reason: drillProblem } })
      return
    }
    log.info({ file, rows: outcome.result.rows }, 'a backup was restored on trial')
    await keep(
      { triedAt: now, verifiedAt: now, drillProblem: null },
      { name: 'backup.verify', data: { file, rows: outcome.result.rows } },
    )
  }

  return {
    state: () => state,
    async turn() {
      state = await readBackupState(db.read)
      if (!(await needs.leads())) return
      const now = clock()
      if (isSaveDue(now)) await save(now)
      const { file } = state
      if (file !== null && state.problem === null && isDrillDue(now)) await drill(file, now)
    },
  }
}
