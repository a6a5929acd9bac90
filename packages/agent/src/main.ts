import { startAgent } from './agent.ts'
import { cleanHost } from './clean.ts'
import { isPlainHttp } from './config.ts'
import { diagnose, findingsText } from './diagnose.ts'
import { enrollHost } from './enroll.ts'
import { isAlive, takeLock } from './lock.ts'
import { createLog, outliveReaders } from './log.ts'
import { moveHost } from './move/command.ts'
import { presentIdentity } from './move/record.ts'
import { parseInvocation, usage, withEngineSettings } from './options.ts'
import type { Options } from './options.ts'
import { proxyName } from './proxy.ts'
import { action, launcher } from './python/programs.ts'
import { knockUnit, openrcScript, shieldUnit, systemdUnit, upgradeUnit } from './units.ts'
import { upgradeHost } from './upgrade/command.ts'
import { trustCommand } from './seal/trust.ts'
import { loadShield, shieldCommand } from './shield/command.ts'
import { errorText } from './text.ts'
import { agentVersion } from './version.ts'
import { startWatchdog } from './watchdog.ts'

const say = (text: string): void => void process.stdout.write(text)

const unitNamed = (name: string): string => {
  const units: Record<string, string> = {
    systemd: systemdUnit,
    openrc: openrcScript,
    knock: knockUnit,
    shield: shieldUnit,
    upgrade: upgradeUnit,
  }
  const unit = units[name]
  if (unit === undefined) throw new Error('unit systemd, unit openrc, unit knock, unit shield, or unit upgrade')
  return unit
}

type Command = (rest: readonly string[], options: Options) => number | Promise<number>
/** The exit code of a command that went well. */
const done = (text: string): number => {
  say(text)
  return 0
}
const tell = async (options: Options, isStatus: boolean): Promise<number> => {
  const findings = await diagnose(options, isStatus)
  say(options.json ? `${JSON.stringify(findings, null, 2)}\n` : findingsText(findings))
  return findings.every(({ good, needed }) => good || !needed) ? 0 : 1
}

const commands = new Map<string, Command>([
  ['version', () => done(`${agentVersion}\n`)],
  ['help', () => done(usage)],
  ['run', (_, options) => run(options)],
  ['enroll', async (_, options) => done(`enrolled as server ${await enrollHost(options, process.env)}\n`)],
  ['move', async (rest, options) => done(`${await moveHost(rest, options)}\n`)],
  [
    'upgrade',
    async (rest, options) =>
      done(`${await upgradeHost(rest.includes('--ordered'), options, text => say(`${text}\n`))}\n`),
  ],
  ['self-test', (_, options) => tell(options, false)],
  ['status', (_, options) => tell(options, true)],
  ['unit', rest => done(unitNamed(rest[0] ?? ''))],
  ['action', () => done(action)],
  ['launcher', () => done(launcher)],
  ['trust', (rest, options) => done(trustCommand(rest, options, Date.now))],
  ['shield', async (rest, options) => done(`${await shieldCommand(rest, options)}\n`)],
  ['shield-load', async (_, options) => done(`${await loadShield(options)}\n`)],
  ['alive', (_, options) => (isAlive(options.run) ? 0 : 1)],
  [
    'clean',
    async (rest, options) => {
      await cleanHost(options, rest.includes('--purge'), text => say(`${text}\n`))
      return 0
    },
  ],
])

/** Runs the command of the command line. Answers the exit code. */
const main = async (args: readonly string[]): Promise<number> => {
  const { command, rest, options: given } = parseInvocation(args)
  const options = withEngineSettings(given)
  const act = commands.get(command)
  if (!act) throw new Error(`unknown command ${command}; see stockade-agent --help`)
  return act(rest, options)
}

const run = async (options: Options): Promise<number> => {
  const log = createLog({ verbose: options.verbose, stamp: process.env['JOURNAL_STREAM'] === undefined })
  const identity = presentIdentity(options, process.env)
  if (isPlainHttp(identity.base_url) && !identity.insecure_http)
    log.warn(`${identity.base_url} is plain http: anybody on the way can read this host's key and send it orders`)
  const unlock = takeLock(options.run)
  startWatchdog(process.env, options.run)
  // A defect in one part must not stop the protection of the host; the loops retry by themselves.
  process.on('unhandledRejection', error => log.warn(`unexpected: ${errorText(error)}`))
  process.on('uncaughtException', error => log.warn(`unexpected: ${errorText(error)}`))
  const way = identity.proxy === null ? '' : ` through the proxy ${proxyName(identity.proxy)}`
  log.info(`stockade-agent ${agentVersion} for ${identity.base_url}${way}`)
  const agent = await startAgent(identity, { ...options, backfill: options.backfill || identity.backfill }, log)
  const signal = await new Promise<string>(resolve => {
    process.once('SIGTERM', () => resolve('SIGTERM'))
    process.once('SIGINT', () => resolve('SIGINT'))
  })
  log.info(`${signal}: stopping`)
  await agent.stop()
  unlock()
  return 0
}

/** Node before 24 has no import.meta.main; the bundle is always the entry. */
const isEntry = (): boolean => /stockade-agent(\.mjs)?$|main\.ts$/.test(process.argv[1] ?? '')

if (import.meta.main ?? isEntry()) {
  outliveReaders()
  main(process.argv.slice(2)).then(
    code => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`stockade-agent: ${errorText(error)}\n`)
      process.exit(1)
    },
  )
}
