import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { verifyLog } from './audit.ts'
import { backup, restore } from './backup.ts'
import { examine } from './doctor.ts'
import { updateGeoip } from './geoip.ts'
import { issue, keygen } from './license.ts'
import { recountBans } from './recount.ts'
import { secretOf } from './sealing.ts'
import type { Lock, Opener } from './sealing.ts'
import { openRecovery } from './recovery.ts'
import type { Recovery } from './recovery.ts'

const usage = `Usage: stockade admin setup-code
       stockade admin reset-password USERNAME [--password-login]
       stockade admin reset-mfa USERNAME
       stockade admin recount [--repair]
       stockade backup FILE --recipient age1... | --passphrase-file FILE | --plain
       stockade restore FILE [--replace] [--identity FILE | --passphrase-file FILE]
       stockade audit verify
       stockade geoip update [--city URL] [--asn URL]
       stockade license keygen --out DIR
       stockade license issue --private-key FILE --tier pro --to NAME [--servers 25] [--expires DATE]
       stockade doctor

They read the same STOCKADE_* environment as the server and work on its storage, whether it runs or not;
license needs neither.

  setup-code      a new one-time link for the first administrator
  reset-password  a temporary password; ends the sessions of that user. --password-login also lets passwords
                  sign in again, where the settings allow providers only
  reset-mfa       turns the second factor of that user off; ends the sessions of that user
  recount         compares the sums of bans with the bans, as far back as they are kept; exits 1 when they differ.
                  --repair writes them anew: reports of bans wait as long as that takes
  backup          saves everything, of one moment, into one file, while the server goes on. The file holds secrets:
                  it is encrypted (age) to a recipient or a passphrase, unless --plain is said. Nobody is signed in by it
  restore         puts a backup in place; the server must be stopped. --replace where the installation is in use.
                  A backup of SQLite goes into PostgreSQL as well, and the other way round
  audit verify    says whether anything of the audit log was changed, removed or cut off; exits 1 when something was
  geoip update    fetches data of cities and networks (DB-IP's free edition, or the MMDB files that you name) into
                  the data folder; a server that runs takes them over by itself
  license keygen  makes the pair of a licence authority; servers trust it by STOCKADE_LICENSE_PUBLIC_KEY
  license issue   prints a licence key and nothing else. A date includes its day (UTC); without one it never expires
  doctor          checks the installation; exits 1 when something fails
`
const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
class Misuse extends Error {}

const say = (text: string) => void process.stdout.write(`${text}\n`)

const doctor = async (): Promise<number> => {
  const colour = process.stdout.isTTY === true && !process.env.NO_COLOR
  const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  let failed = false
  for await (const { state, text } of examine(process.env)) {
    failed ||= state === 'fail'
    say(`${colour ? styleText(styles[state], state.padEnd(4)) : state.padEnd(4)}  ${text}`)
  }
  return failed ? 1 : 0
}

const withRecovery = async (work: (recovery: Recovery) => Promise<void>): Promise<number> => {
  const recovery = await openRecovery(readConfig(process.env))
  try {
    await work(recovery)
    return 0
  } finally {
    await recovery.close()
  }
}

/** Where the command was called: the launcher runs it in the checkout. */
const callerFolder = process.env.STOCKADE_CALLED_FROM ?? process.cwd()
const save = async (file: string, lock: Lock): Promise<number> => {
  const { tables, rows } = await backup(readConfig(process.env), file, version, lock)
  say(
    `${rows.toLocaleString('en')} rows of ${tables} tables are in ${file}. It holds secrets${lock ? ', and is encrypted.' : ': keep it as safe as the data.'}`,
  )
  return 0
}
const putBack = async (file: string, replace: boolean, opener: Opener): Promise<number> => {
  const { head, rows } = await restore(readConfig(process.env), file, replace, opener)
  say(`${rows.toLocaleString('en')} rows of ${head.created_at} are in place. Start the server.`)
  return 0
}
const verifyChain = async (): Promise<number> => {
  const { entries, checkpoints, faults, otherKeys } = await verifyLog(readConfig(process.env))
  for (const fault of faults) say(fault)
  for (const key of otherKeys) say(`Checkpoints are signed by another key than the one here: ${key}`)
  if (faults.length === 0)
    say(`${entries.toLocaleString('en')} entries and ${checkpoints} checkpoints are as they were written.`)
  return faults.length > 0 ? 1 : 0
}
const compareSums = async (mend: boolean): Promise<number> => {
  const found = await recountBans(readConfig(process.env), mend)
  if (found.length === 0) say('All sums are as the bans say.')
  for (const { table, cells, held, counted } of found)
    say(`${table}: ${cells} ${cells === 1 ? 'cell holds' : 'cells hold'} ${held} in all, and should hold ${counted}`)
  if (found.length > 0) say(mend ? 'They have been repaired.' : 'To repair them: stockade admin recount --repair')
  return found.length > 0 && !mend ? 1 : 0
}

const updatePlaces = async ({ city, asn }: { city?: string; asn?: string }): Promise<number> => {
  const { dataDir } = readConfig(process.env)
  const urls = { ...(city === undefined ? {} : { city }), ...(asn === undefined ? {} : { asn }) }
  for await (const line of updateGeoip(dataDir, urls)) say(line)
  return 0
}

type Given = Readonly<Record<string, string | boolean | undefined>>
const needed = (values: Given, name: string): string => {
  const value = values[name]
  if (typeof value !== 'string') throw new Misuse(`--${name} is missing.`)
  return value
}
const passphraseOf = (values: Given) => {
  const file = values['passphrase-file']
  return typeof file === 'string' ? { passphrase: secretOf(resolve(callerFolder, file)) } : null
}
const lockOf = (values: Given): Lock => {
  const { recipient, plain } = values
  const ways = [recipient, plain, values['passphrase-file']].filter(way => way !== undefined)
  if (ways.length !== 1)
    throw new Misuse('Say how the backup is kept secret: --recipient age1..., --passphrase-file FILE, or --plain.')
  return typeof recipient === 'string' ? { recipient } : passphraseOf(values)
}
const openerOf = (values: Given): Opener =>
  typeof values.identity === 'string'
    ? { identity: secretOf(resolve(callerFolder, values.identity)) }
    : passphraseOf(values)
const dealWithLicences = (name: string, values: Given): number => {
  if (name === 'keygen') {
    const { privateFile, publicFile } = keygen(needed(values, 'out'))
    say(
      `${privateFile}\n  signs licences: keep it off servers, and safe\n${publicFile}\n  for servers: STOCKADE_LICENSE_PUBLIC_KEY_FILE`,
    )
    return 0
  }
  const text = (name: string) => (values[name] === undefined ? undefined : needed(values, name))
  const key = issue(
    {
      privateKeyFile: needed(values, 'private-key'),
      tier: needed(values, 'tier'),
      servers: text('servers'),
      to: needed(values, 'to'),
      expires: text('expires'),
    },
    Date.now(),
  )
  say(key)
  return 0
}
const licenceOptions = ['out', 'private-key', 'tier', 'servers', 'to', 'expires'] as const

const tasks: Readonly<Record<string, (username: string, passwordLogin: boolean) => Promise<number>>> = {
  'setup-code': () =>
    withRecovery(async recovery => {
      say(
        `Make the first administrator (this link works once; the one before is void):\n\n  ${await recovery.setupLink()}\n`,
      )
    }),
  'reset-password': (username, passwordLogin) =>
    withRecovery(async recovery => {
      const allowed = passwordLogin && (await recovery.allowPasswords())
      const { user, password, passwordsRefused } = await recovery.resetPassword(username)
      say(`The temporary password of ${user.username}, shown this once:\n\n  ${password}\n`)
      say('All sessions of this user have ended. Sign in and change it.')
      if (allowed)
        say(`Passwords sign in again${allowed === 'at once' ? '' : ', once a server that runs is restarted'}.`)
      if (passwordsRefused)
        say('The settings let nobody sign in with a password. To change that, run this again with --password-login.')
      if (user.mfa_enabled === 1)
        say(`Signing in also takes the second factor. Where it is lost: stockade admin reset-mfa ${user.username}`)
    }),
  'reset-mfa': username =>
    withRecovery(async recovery => {
      const user = await recovery.resetMfa(username)
      say(`The second factor of ${user.username} is off, and all sessions of this user have ended.`)
    }),
}

const run = async (args: readonly string[]): Promise<number> => {
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
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
      },
    })
  } catch (error) {
    throw new Misuse(error instanceof Error ? error.message : String(error))
  }
  const { values, positionals } = parsed
  if (values.help) {
    say(usage)
    return 0
  }
  const [group, name = '', username] = positionals
  const passwordLogin = values['password-login'] === true
  if (group === 'doctor' && positionals.length === 1 && !passwordLogin) return doctor()
  if (group === 'backup' && positionals.length === 2) return save(resolve(callerFolder, name), lockOf(values))
  if (group === 'restore' && positionals.length === 2)
    return putBack(resolve(callerFolder, name), values.replace === true, openerOf(values))
  if (values.replace !== undefined) throw new Misuse('--replace belongs to restore.')
  if (group === 'geoip' && name === 'update' && positionals.length === 2) return updatePlaces(values)
  if (group === 'license' && (name === 'keygen' || name === 'issue') && positionals.length === 2) {
    const foreign = Object.keys(values).find(
      given => !licenceOptions.some(option => option === given && (option === 'out') === (name === 'keygen')),
    )
    if (foreign !== undefined) throw new Misuse(`--${foreign} does not belong to license ${name}.`)
    return dealWithLicences(name, values)
  }
  if (group === 'audit' && name === 'verify' && positionals.length === 2 && !passwordLogin) return verifyChain()
  if (group === 'admin' && name === 'recount' && positionals.length === 2 && !passwordLogin)
    return compareSums(values.repair === true)
  if (values.repair !== undefined) throw new Misuse('--repair belongs to admin recount.')
  const lost = licenceOptions.find(option => values[option] !== undefined)
  if (lost) throw new Misuse(`--${lost} belongs to license.`)
  if (values.city !== undefined || values.asn !== undefined)
    throw new Misuse('--city and --asn belong to geoip update.')
  const task = group === 'admin' && Object.hasOwn(tasks, name) ? tasks[name] : undefined
  if (!task) throw new Misuse('This is not a command.')
  if (passwordLogin && name !== 'reset-password') throw new Misuse('--password-login belongs to reset-password.')
  if (positionals.length !== (name === 'setup-code' ? 2 : 3))
    throw new Misuse(name === 'setup-code' ? 'setup-code takes no argument.' : `${name} takes one username.`)
  return task(username ?? '', passwordLogin)
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const misused = error instanceof Misuse
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`stockade: ${error instanceof ConfigError ? `the configuration: ${message}` : message}\n`)
  if (misused) process.stderr.write(`\n${usage}`)
  process.exitCode = misused ? 2 : 1
}
