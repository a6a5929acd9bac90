import { tmpdir } from 'node:os'
import { styleText } from 'node:util'
import { Misuse } from '@stockade/cli/failure.ts'
import { readConfig } from '../config.ts'
import { version } from '../core/places.ts'
import type { IssueOptions } from './license.ts'
import type { Recovery } from './recovery.ts'
import type { Lock, Opener } from './sealing.ts'
import { calledPath } from './service-user.ts'

/*
 * What the commands on the server's own host do. Each loads its own modules: the storage, the API's shapes and encryption take most of the
 * time of a short command.
 */

export type Say = (text: string) => void
/** What a task came to: for `--json`, and the sentence of a failure that it found rather than met. */
export interface Outcome {
  readonly value: unknown
  readonly failure?: string
}

export interface OpenOptions {
  readonly identity?: string
  readonly passphraseFile?: string
}
export interface BackupOptions {
  readonly recipient?: string
  readonly passphraseFile?: string
  readonly plain?: boolean
}

export const doctor = async (say: Say): Promise<Outcome> => {
  const { examine } = await import('./doctor.ts')
  const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR
  const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  const findings = []
  for await (const finding of examine(process.env)) {
    const state = finding.state.padEnd(4)
    findings.push(finding)
    say(`${isColoured ? styleText(styles[finding.state], state) : state}  ${finding.text}`)
  }
  const failed = findings.filter(({ state }) => state === 'fail').length
  return {
    value: { findings },
    ...(failed > 0 ? { failure: `${failed} of ${findings.length} checks failed.` } : {}),
  }
}

const withRecovery = async (work: (recovery: Recovery) => Promise<object>): Promise<Outcome> => {
  const config = readConfig(process.env)
  const { openRecovery } = await import('./recovery.ts')
  const recovery = await openRecovery(config)
  try {
    return { value: await work(recovery) }
  } finally {
    await recovery.close()
  }
}

export const makeSetupLink = (say: Say) =>
  withRecovery(async recovery => {
    const [url, ...others] = await recovery.setupLinks()
    say(`Make the first administrator (this link works once; the one before is void):\n\n  ${url}\n`)
    if (others.length > 0) say(`From another machine:\n\n${others.map(other => `  ${other}\n`).join('')}`)
    return { url, other_urls: others }
  })
export const resetPassword = (say: Say, username: string, isPasswordLogin: boolean) =>
  withRecovery(async recovery => {
    const allowed = isPasswordLogin && (await recovery.allowPasswords())
    const { user, password, passwordsRefused } = await recovery.resetPassword(username)
    const hasSecondFactor = user.mfa_enabled === 1
    say(`The temporary password of ${user.username}, shown this once:\n\n  ${password}\n`)
    say('All sessions of this user have ended. Sign in and change it.')
    if (allowed) say(`Passwords sign in again${allowed === 'at once' ? '' : ', once a server that runs is restarted'}.`)
    if (passwordsRefused)
      say('The settings let nobody sign in with a password. To change that, run this again with --password-login.')
    if (hasSecondFactor) say(`Signing in also takes 2FA. Where it is lost: stockade admin reset-mfa ${user.username}`)
    return {
      username: user.username,
      temporary_password: password,
      password_login_disabled: passwordsRefused,
      restart_needed: allowed === 'after a restart',
      mfa_enabled: hasSecondFactor,
    }
  })
export const resetMfa = (say: Say, typed: string) =>
  withRecovery(async recovery => {
    const { username } = await recovery.resetMfa(typed)
    say(`2FA of ${username} is off, and all sessions of this user have ended.`)
    return { username }
  })

export const save = async (say: Say, operand: string, options: BackupOptions): Promise<Outcome> => {
  const lock = await lockOf(options)
  const { backup } = await import('./backup.ts')
  const isStream = operand === '-'
  const target = isStream ? process.stdout : calledPath(operand)
  const { tables, rows } = await backup(readConfig(process.env), target, version, lock)
  const care = lock ? ', and is encrypted.' : ': keep it as safe as the data.'
  const place = typeof target === 'string' ? target : 'the output'
  const summary = `${rows.toLocaleString('en')} rows of ${tables} tables are in ${place}. It holds secrets${care}`
  // The output is the backup.
  if (isStream) process.stderr.write(`${summary}\n`)
  else say(summary)
  return { value: isStream ? null : { file: target, tables, rows, encrypted: lock !== null } }
}
export const verify = async (say: Say, file: string, options: OpenOptions): Promise<Outcome> => {
  const opener = await openerOf(options)
  const { verifyBackup } = await import('./verify.ts')
  const verdict = await verifyBackup(calledPath(file), opener, tmpdir())
  const { createdAt, version: writer, tables, rows, faults } = verdict
  const value = { created_at: createdAt, version: writer, tables, rows, faults }
  for (const fault of faults) say(fault)
  if (faults.length > 0) return { value, failure: 'This backup was not restored as it should be.' }
  say(
    `This backup of ${createdAt} (Stockade ${writer}) can be restored: ${rows.toLocaleString('en')} rows of ${tables} tables.`,
  )
  return { value }
}
export const putBack = async (say: Say, file: string, options: OpenOptions, isReplacing: boolean): Promise<Outcome> => {
  const opener = await openerOf(options)
  const { restore } = await import('./restore.ts')
  const { createdAt, rows } = await restore(readConfig(process.env), calledPath(file), isReplacing, opener)
  say(`${rows.toLocaleString('en')} rows of ${createdAt} are in place. Start the server.`)
  return { value: { created_at: createdAt, rows } }
}
export const verifyChain = async (say: Say): Promise<Outcome> => {
  const { verifyLog } = await import('./audit.ts')
  const { entries, checkpoints, faults, otherKeys } = await verifyLog(readConfig(process.env))
  const value = { entries, checkpoints, faults, other_keys: otherKeys }
  for (const fault of faults) say(fault)
  for (const key of otherKeys) say(`Checkpoints are signed by another key than the one here: ${key}`)
  if (faults.length > 0) return { value, failure: 'The audit log is not as it was written.' }
  say(`${entries.toLocaleString('en')} entries and ${checkpoints} checkpoints are as they were written.`)
  return { value }
}
export const compareSums = async (say: Say, isRepair: boolean): Promise<Outcome> => {
  const { recountBans } = await import('./recount.ts')
  const differences = await recountBans(readConfig(process.env), isRepair)
  const value = { differences, repaired: isRepair && differences.length > 0 }
  if (differences.length === 0) say('All sums are as the bans say.')
  for (const { table, cells, held, counted } of differences)
    say(`${table}: ${cells} ${cells === 1 ? 'cell holds' : 'cells hold'} ${held} in all, and should hold ${counted}`)
  if (value.repaired) say('They have been repaired.')
  const isWrong = differences.length > 0 && !isRepair
  return { value, ...(isWrong ? { failure: 'To repair them: stockade admin recount --repair' } : {}) }
}
export const updateGeoData = async (say: Say, urls: { city?: string; asn?: string }): Promise<Outcome> => {
  const { updateGeoip } = await import('./geoip.ts')
  const { dataDir } = readConfig(process.env)
  const files = []
  for await (const line of updateGeoip(dataDir, urls)) {
    say(line)
    files.push(line)
  }
  return { value: { files } }
}

export const makeLicenseKeys = async (say: Say, folder: string): Promise<Outcome> => {
  const { keygen } = await import('./license.ts')
  const { privateFile, publicFile } = keygen(folder)
  say(
    `${privateFile}\n  signs licences: keep it off servers, and safe\n${publicFile}\n  for servers: STOCKADE_LICENSE_PUBLIC_KEY_FILE`,
  )
  return { value: { private_file: privateFile, public_file: publicFile } }
}
export const issueLicense = async (say: Say, options: IssueOptions): Promise<Outcome> => {
  const { issue } = await import('./license.ts')
  const license_key = issue(options, Date.now())
  say(license_key)
  return { value: { license_key } }
}

const passphraseOf = async (file: string | undefined) => {
  if (file === undefined) return null
  const { secretOf } = await import('./sealing.ts')
  return { passphrase: secretOf(calledPath(file)) }
}
const lockOf = async ({ recipient, passphraseFile, plain }: BackupOptions): Promise<Lock> => {
  if ([recipient, passphraseFile, plain].filter(way => way !== undefined).length !== 1)
    throw new Misuse('Say how the backup is kept secret: --recipient age1..., --passphrase-file FILE, or --plain.')
  return recipient === undefined ? passphraseOf(passphraseFile) : { recipient }
}
const openerOf = async ({ identity, passphraseFile }: OpenOptions): Promise<Opener> => {
  if (identity === undefined) return passphraseOf(passphraseFile)
  const { secretOf } = await import('./sealing.ts')
  return { identity: secretOf(calledPath(identity)) }
}
