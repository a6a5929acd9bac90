import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { errorText } from '@stockade/contract/error-code.ts'
import type { Config } from '../config.ts'
import { freeBytes, sizeText } from '../core/disk.ts'
import { version } from '../core/places.ts'
import { conflict } from '../core/problem.ts'
import { backupName, backupsToRemove } from '../features/backups/plan.ts'
import type { BackupTask, SavedBackup, TaskOutcome, VerifiedBackup } from '../features/backups/task.ts'
import { backup } from './backup.ts'
import { secretOf } from './sealing.ts'
import { sqliteFile } from './storage.ts'
import { verifyBackup } from './verify.ts'

/*
 * The process beside the server that makes a scheduled backup, or tries one out: its memory and its CPU are not the server's. It
 * takes configuration and task as JSON from its input, and prints how it ended.
 */

/** Of a SQLite database: a backup of a million bans has a fourteenth of its size. */
const shareOfDatabase = 0.25
/** Of a compressed backup, what the restored database takes. */
const timesOfBackup = 20

const databaseBytes = (config: Config): number | null =>
  config.databaseUrl === null ? (statSync(sqliteFile(config), { throwIfNoEntry: false })?.size ?? 0) : null
const refuseWithoutRoom = (folder: string, needed: number, verb: string): void => {
  const free = freeBytes(folder)
  if (free < needed) throw conflict(`${verb} needs ${sizeText(needed)} in ${folder}, and ${sizeText(free)} are free.`)
}

const save = async (config: Config, task: Extract<BackupTask, { kind: 'save' }>): Promise<SavedBackup> => {
  const { folder, recipient, lastBytes } = task
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Left by a process that was killed: only one makes backups at a time.
  for (const name of readdirSync(folder))
    if (/^stockade-\w+\.(gz|age)\.part$/.test(name)) rmSync(join(folder, name), { force: true })
  const needed = lastBytes === null ? (databaseBytes(config) ?? 0) * shareOfDatabase : lastBytes * 1.5
  refuseWithoutRoom(folder, needed, 'The backup')
  const file = join(folder, backupName(Date.now(), recipient !== null))
  const { rows } = await backup(config, file, version, recipient === null ? null : { recipient })
  for (const name of backupsToRemove(readdirSync(folder))) rmSync(join(folder, name), { force: true })
  return { file, bytes: statSync(file).size, rows }
}

const verify = async (
  config: Config,
  { file, identityFile }: Extract<BackupTask, { kind: 'verify' }>,
): Promise<VerifiedBackup> => {
  const { dataDir } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(dataDir))
    if (name.startsWith('stockade-verify-')) rmSync(join(dataDir, name), { recursive: true, force: true })
  const size = existsSync(file) ? statSync(file).size : 0
  refuseWithoutRoom(dataDir, (databaseBytes(config) ?? size * timesOfBackup) * 1.5, 'Verifying the backup')
  return verifyBackup(file, identityFile === null ? null : { identity: secretOf(identityFile) }, dataDir)
}

const run = async (): Promise<TaskOutcome<SavedBackup | VerifiedBackup>> => {
  try {
    const { config, task } = JSON.parse(await text(process.stdin)) as { config: Config; task: BackupTask }
    return { isDone: true, result: await (task.kind === 'save' ? save(config, task) : verify(config, task)) }
  } catch (error) {
    return { isDone: false, problem: errorText(error) }
  }
}

try {
  setPriority(constants.priority.PRIORITY_LOW)
} catch {
  // A sandbox may forbid it; the backup is made all the same.
}
process.umask(0o077)
process.stdout.write(JSON.stringify(await run()))
