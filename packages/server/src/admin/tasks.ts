import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { styleText } from 'node:util'
import { readConfig } from '../config.ts'
import { version } from '../core/places.ts'
import type { Recovery } from './recovery.ts'
import type { Lock, Opener } from './sealing.ts'

/*
 * The commands that work on the server's own host. Each loads its own modules: the storage, the API's shapes and encryption take most of
 * the time of a short command.
 */

/** The command line makes no sense; the usage is printed. */
export class Misuse extends Error {}

export const optionTypes = {
  'password-login': { type: 'boolean' },
  replace: { type: 'boolean' },
  plain: { type: 'boolean' },
  recipient: { type: 'string' },
  identity: { type: 'string' },
  'passphrase-file': { type: 'string' },
  city: { type: 'string' },
  asn: { type: 'string' },
  repair: { type: 'boolean' },
  out: { type: 'string' },
  'private-key': { type: 'string' },
  tier: { type: 'string' },
  servers: { type: 'string' },
  to: { type: 'string' },
  expires: { type: 'string' },
} as const
export type OptionName = keyof typeof optionTypes
export type Values = { readonly [K in OptionName]?: string | boolean | undefined }

export interface Task {
  readonly words: readonly string[]
  readonly options: readonly OptionName[]
  /** Operands after the words, and the sentence for another number of them; without one, such a line is no command. */
  readonly operands: number
  readonly operandsSentence?: string
  /** Resolves to the exit code. */
  readonly run: (values: Values, operand: string) => Promise<number>
}

const say = (text: string) => void process.stdout.write(`${text}\n`)
/** The directory in which the command was called: the launcher runs it in the checkout. */
const fileOf = (path: string) => resolve(process.env.STOCKADE_CALLED_FROM ?? process.cwd(), path)

const doctor = async (): Promise<number> => {
  const { examine } = await import('./doctor.ts')
  const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR
  const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  let hasFailed = false
  for await (const { state, text } of examine(process.env)) {
    hasFailed ||= state === 'fail'
    say(`${isColoured ? styleText(styles[state], state.padEnd(4)) : state.padEnd(4)}  ${text}`)
  }
  return hasFailed ? 1 : 0
}

const withRecovery = async (work: (recovery: Recovery) => Promise<void>): Promise<number> => {
  const config = readConfig(process.env)
  const { openRecovery } = await import('./recovery.ts')
  const recovery = await openRecovery(config)
  try {
    await work(recovery)
    return 0
  } finally {
    await recovery.close()
  }
}

const makeSetupLink = () =>
  withRecovery(async recovery =>
    say(
      `Make the first administrator (this link works once; the one before is void):\n\n  ${await recovery.setupLink()}\n`,
    ),
  )
const resetPassword = (values: Values, username: string) =>
  withRecovery(async recovery => {
    const allowed = values['password-login'] === true && (await recovery.allowPasswords())
    const { user, password, passwordsRefused } = await recovery.resetPassword(username)
    say(`The temporary password of ${user.username}, shown this once:\n\n  ${password}\n`)
    say('All sessions of this user have ended. Sign in and change it.')
    if (allowed) say(`Passwords sign in again${allowed === 'at once' ? '' : ', once a server that runs is restarted'}.`)
    if (passwordsRefused)
      say('The settings let nobody sign in with a password. To change that, run this again with --password-login.')
    if (user.mfa_enabled === 1)
      say(`Signing in also takes the second factor. Where it is lost: stockade admin reset-mfa ${user.username}`)
  })
const resetMfa = (_: Values, username: string) =>
  withRecovery(async recovery => {
    const user = await recovery.resetMfa(username)
    say(`The second factor of ${user.username} is off, and all sessions of this user have ended.`)
  })

const save = async (values: Values, operand: string): Promise<number> => {
  const lock = await lockOf(values)
  const { backup } = await import('./backup.ts')
  const isStream = operand === '-'
  const target = isStream ? process.stdout : fileOf(operand)
  const { tables, rows } = await backup(readConfig(process.env), target, version, lock)
  const care = lock ? ', and is encrypted.' : ': keep it as safe as the data.'
  const place = typeof target === 'string' ? target : 'the output'
  const summary = `${rows.toLocaleString('en')} rows of ${tables} tables are in ${place}. It holds secrets${care}\n`
  const where = isStream ? process.stderr : process.stdout
  where.write(summary)
  return 0
}
const verify = async (values: Values, operand: string): Promise<number> => {
  const opener = await openerOf(values)
  const { verifyBackup } = await import('./verify.ts')
  const { createdAt, version: writer, tables, rows, faults } = await verifyBackup(fileOf(operand), opener, tmpdir())
  for (const fault of faults) say(fault)
  if (faults.length > 0) return 1
  say(
    `This backup of ${createdAt} (Stockade ${writer}) can be restored: ${rows.toLocaleString('en')} rows of ${tables} tables.`,
  )
  return 0
}
const putBack = async (values: Values, operand: string): Promise<number> => {
  const opener = await openerOf(values)
  const { restore } = await import('./restore.ts')
  const { createdAt, rows } = await restore(readConfig(process.env), fileOf(operand), values.replace === true, opener)
  say(`${rows.toLocaleString('en')} rows of ${createdAt} are in place. Start the server.`)
  return 0
}
const verifyChain = async (): Promise<number> => {
  const { verifyLog } = await import('./audit.ts')
  const { entries, checkpoints, faults, otherKeys } = await verifyLog(readConfig(process.env))
  for (const fault of faults) say(fault)
  for (const key of otherKeys) say(`Checkpoints are signed by another key than the one here: ${key}`)
  if (faults.length === 0)
    say(`${entries.toLocaleString('en')} entries and ${checkpoints} checkpoints are as they were written.`)
  return faults.length > 0 ? 1 : 0
}
const compareSums = async (values: Values): Promise<number> => {
  const isRepair = values.repair === true
  const { recountBans } = await import('./recount.ts')
  const differences = await recountBans(readConfig(process.env), isRepair)
  if (differences.length === 0) say('All sums are as the bans say.')
  for (const { table, cells, held, counted } of differences)
    say(`${table}: ${cells} ${cells === 1 ? 'cell holds' : 'cells hold'} ${held} in all, and should hold ${counted}`)
  if (differences.length === 0) return 0
  say(isRepair ? 'They have been repaired.' : 'To repair them: stockade admin recount --repair')
  return isRepair ? 0 : 1
}
const updateGeoData = async ({ city, asn }: Values): Promise<number> => {
  const { updateGeoip } = await import('./geoip.ts')
  const { dataDir } = readConfig(process.env)
  const urls = { ...(typeof city === 'string' ? { city } : {}), ...(typeof asn === 'string' ? { asn } : {}) }
  for await (const line of updateGeoip(dataDir, urls)) say(line)
  return 0
}

const needed = (values: Values, name: OptionName): string => {
  const value = values[name]
  if (typeof value !== 'string') throw new Misuse(`--${name} is missing.`)
  return value
}
const makeLicenseKeys = async (values: Values): Promise<number> => {
  const { keygen } = await import('./license.ts')
  const { privateFile, publicFile } = keygen(needed(values, 'out'))
  say(
    `${privateFile}\n  signs licences: keep it off servers, and safe\n${publicFile}\n  for servers: STOCKADE_LICENSE_PUBLIC_KEY_FILE`,
  )
  return 0
}
const issueLicense = async (values: Values): Promise<number> => {
  const { issue } = await import('./license.ts')
  const optional = (name: OptionName) => (values[name] === undefined ? undefined : needed(values, name))
  const request = {
    privateKeyFile: needed(values, 'private-key'),
    tier: needed(values, 'tier'),
    servers: optional('servers'),
    to: needed(values, 'to'),
    expires: optional('expires'),
  }
  say(issue(request, Date.now()))
  return 0
}

const passphraseOf = async (values: Values) => {
  const file = values['passphrase-file']
  if (typeof file !== 'string') return null
  const { secretOf } = await import('./sealing.ts')
  return { passphrase: secretOf(fileOf(file)) }
}
const lockOf = async (values: Values): Promise<Lock> => {
  const { recipient, plain } = values
  const ways = [recipient, plain, values['passphrase-file']].filter(way => way !== undefined)
  if (ways.length !== 1)
    throw new Misuse('Say how the backup is kept secret: --recipient age1..., --passphrase-file FILE, or --plain.')
  return typeof recipient === 'string' ? { recipient } : passphraseOf(values)
}
const openerOf = async (values: Values): Promise<Opener> => {
  if (typeof values.identity !== 'string') return passphraseOf(values)
  const { secretOf } = await import('./sealing.ts')
  return { identity: secretOf(fileOf(values.identity)) }
}

const username = (name: string) => ({ operands: 1, operandsSentence: `${name} takes one username.` })

export const tasks: readonly Task[] = [
  {
    words: ['admin', 'setup-code'],
    options: [],
    operands: 0,
    operandsSentence: 'setup-code takes no argument.',
    run: makeSetupLink,
  },
  {
    words: ['admin', 'reset-password'],
    options: ['password-login'],
    ...username('reset-password'),
    run: resetPassword,
  },
  { words: ['admin', 'reset-mfa'], options: [], ...username('reset-mfa'), run: resetMfa },
  { words: ['admin', 'recount'], options: ['repair'], operands: 0, run: compareSums },
  {
    words: ['backup', 'verify'],
    options: ['identity', 'passphrase-file'],
    operands: 1,
    operandsSentence: 'backup verify takes one file.',
    run: verify,
  },
  { words: ['backup'], options: ['recipient', 'passphrase-file', 'plain'], operands: 1, run: save },
  { words: ['restore'], options: ['replace', 'identity', 'passphrase-file'], operands: 1, run: putBack },
  { words: ['audit', 'verify'], options: [], operands: 0, run: verifyChain },
  { words: ['geoip', 'update'], options: ['city', 'asn'], operands: 0, run: updateGeoData },
  { words: ['license', 'keygen'], options: ['out'], operands: 0, run: makeLicenseKeys },
  {
    words: ['license', 'issue'],
    options: ['private-key', 'tier', 'servers', 'to', 'expires'],
    operands: 0,
    run: issueLicense,
  },
  { words: ['doctor'], options: [], operands: 0, run: doctor },
]
