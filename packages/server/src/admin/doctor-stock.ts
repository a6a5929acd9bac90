import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { errorText } from '@stockade/contract/error-code.ts'
import type { Config } from '../config.ts'
import { day, hour } from '../core/clock.ts'
import { freeBytes, sizeText } from '../core/disk.ts'
import type { Database } from '../db/database.ts'
import { readBackupState } from '../features/backups/backups.store.ts'
import type { BackupState } from '../features/backups/backups.store.ts'
import { readAcmeState } from '../http/acme.ts'
import { sqliteFile } from './storage.ts'

/* What the doctor says of backups, room and the certificate: all that runs out by itself. */

export interface Finding {
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
}
export const ok = (text: string): Finding => ({ state: 'ok', text })
export const warn = (text: string): Finding => ({ state: 'warn', text })
export const fail = (text: string): Finding => ({ state: 'fail', text })

const oldest = { backup: 26 * hour, drill: 8 * day } as const
const ageText = (age: number): string =>
  age < 2 * day ? `${Math.floor(age / hour)} h` : `${Math.floor(age / day)} days`

const lastBackup = ({ problem, savedAt, file }: BackupState, now: number): Finding => {
  if (problem !== null) return fail(`the last scheduled backup failed: ${problem}`)
  if (savedAt === 0) return warn('no scheduled backup was made yet; the server makes the first one when it runs')
  const age = now - savedAt
  const text = `the last scheduled backup is ${ageText(age)} old: ${file ?? ''}`
  if (file !== null && !existsSync(file)) return fail(`${text}, and the file is missing`)
  return age > oldest.backup ? fail(`${text}. Does the server run?`) : ok(text)
}
const lastDrill = ({ drillProblem, verifiedAt }: BackupState, isOpenable: boolean, now: number): Finding => {
  if (drillProblem !== null) return fail(`the last backup that was tried out could not be restored: ${drillProblem}`)
  if (!isOpenable)
    return warn('backups are encrypted, so nobody tries them out here. Set STOCKADE_BACKUP_IDENTITY_FILE')
  if (verifiedAt === 0) return warn('no backup was tried out yet')
  const text = `a backup was restored on trial ${ageText(now - verifiedAt)} ago`
  return now - verifiedAt > oldest.drill ? warn(text) : ok(text)
}

export async function* backupFindings(config: Config, db: Database, now: number): AsyncGenerator<Finding> {
  const { backups } = config
  if (backups === null) {
    yield warn('no backups are scheduled. Set STOCKADE_BACKUP_DIR')
    return
  }
  if (backups.recipient === null)
    yield warn(
      `backups in ${backups.folder} are not encrypted: whoever reads one has the keys of this server. Set STOCKADE_BACKUP_RECIPIENT`,
    )
  const state = await readBackupState(db.read)
  yield lastBackup(state, now)
  if (state.savedAt > 0) yield lastDrill(state, backups.recipient === null || backups.identityFile !== null, now)
  if (state.bytes !== null && existsSync(backups.folder))
    yield room(backups.folder, state.bytes * 1.5, 'the next backup')
}

const room = (folder: string, needed: number, reason: string): Finding => {
  const free = freeBytes(folder)
  const text = `${folder} has ${sizeText(free)} free; ${reason} needs ${sizeText(needed)}`
  return free < needed ? warn(text) : ok(text)
}
/** Whether the next upgrade can copy the database. */
export function* roomFindings(config: Config): Generator<Finding> {
  const file = sqliteFile(config)
  if (config.databaseUrl === null && existsSync(file))
    yield room(config.dataDir, statSync(file).size * 1.2, 'the copy before an upgrade')
}

export function* certificateFindings({ tls }: Config, now: number): Generator<Finding> {
  if (tls === null) return
  const { error, failures, triedAt } = tls.acme ? readAcmeState(tls) : { error: null, failures: 0, triedAt: 0 }
  if (error !== null)
    yield warn(`no certificate was fetched ${ageText(now - triedAt)} ago, the ${failures}. try in a row: ${error}`)
  if ((tls.isOwn || tls.acme) && !existsSync(tls.certFile)) {
    yield warn(`${tls.certFile} is not there yet; the ${tls.isOwn ? 'next start makes' : 'server fetches'} it`)
    return
  }
  try {
    const ends = new X509Certificate(readFileSync(tls.certFile)).validToDate
    const text = `the certificate ${tls.certFile} ends on ${ends.toISOString().slice(0, 10)}`
    if (ends.getTime() < now) yield fail(`${text}: it has ended`)
    else yield ends.getTime() < now + 14 * day ? warn(`${text}: renew it`) : ok(text)
  } catch (error) {
    yield fail(`the certificate ${tls.certFile} can't be read: ${errorText(error)}`)
  }
}
