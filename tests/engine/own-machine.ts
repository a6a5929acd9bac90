import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sight, until, within } from '../../packages/server/src/testing/waiting.ts'
import type { Host } from './host.ts'

const program = promisify(execFile)

/** A machine in the host's network: a systemd of its own, this machine's programs (read-only), and else nothing but files of its own. */
export interface OwnMachine {
  /** Runs a shell command in it; rejects when it fails. */
  run(command: string): Promise<{ stdout: string; stderr: string }>
  /** Starts one, whose standard error is a pipe. */
  start(command: string): ChildProcess
  /** A path of the machine, seen from outside. Files outlive a cut of the power. */
  path(inside: string): string
  /** Ends every process of it at once. */
  cutPower(): Promise<void>
  /** Boots again with the files that are there. */
  boot(): Promise<void>
  end(): Promise<void>
}

const places = [
  'usr',
  'etc/systemd/system',
  'etc/fail2ban',
  'proc',
  'sys',
  'dev',
  'run',
  'tmp',
  'root',
  'home',
  'opt',
  'srv',
]
const ownOfEtc = ['passwd', 'group', 'shadow', 'nsswitch.conf', 'ld.so.cache', 'alternatives']
const target = 'stockade-test.target'
const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** The files of a machine that starts nothing by itself. */
const prepare = (root: string, host: Host): void => {
  for (const place of [...places, 'var/lib', 'var/log', 'var/tmp']) fs.mkdirSync(join(root, place), { recursive: true })
  for (const link of ['bin', 'lib', 'lib64', 'sbin']) fs.symlinkSync(`usr/${link}`, join(root, link))
  for (const name of ownOfEtc)
    if (fs.existsSync(`/etc/${name}`))
      fs.cpSync(`/etc/${name}`, join(root, 'etc', name), { recursive: true, verbatimSymlinks: true })
  // systemd-nspawn looks for it before anything is mounted.
  fs.cpSync('/usr/lib/os-release', join(root, 'etc/os-release'))
  fs.writeFileSync(join(root, 'etc/machine-id'), '')
  fs.cpSync(host.f2bConfig, join(root, 'etc/fail2ban'), { recursive: true })
  fs.writeFileSync(
    join(root, 'etc/systemd/system', target),
    '[Unit]\nDescription=Nothing\nDefaultDependencies=no\nAllowIsolate=yes\n',
  )
}

/** The first process of the machine: the only child of systemd-nspawn. */
const firstOf = (pid: number | undefined): string => {
  const file = `/proc/${pid}/task/${pid}/children`
  const first = fs.existsSync(file) ? (fs.readFileSync(file, 'utf8').trim().split(' ')[0] ?? '') : ''
  if (first === '') throw new Error('the machine is off')
  return first
}

/** Boots one. Says why where this machine can't. */
export async function ownMachine(host: Host): Promise<OwnMachine | { readonly cannot: string }> {
  if (!fs.existsSync('/usr/bin/systemd-nspawn')) return { cannot: 'no systemd-nspawn' }
  const root = join(host.directory, 'machine')
  prepare(root, host)
  let running: { readonly nspawn: ChildProcess; readonly ended: Promise<unknown> } | null = null
  const enter = (): string[] => ['-t', firstOf(running?.nspawn.pid), '-m', '-u', '-i', '-n', '-p', '--', 'sh', '-c']
  const machine: OwnMachine = {
    run: async command => program('nsenter', [...enter(), command], { env: environment, maxBuffer: 4 * 1024 * 1024 }),
    start: command =>
      spawn('nsenter', [...enter(), command], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] }),
    path: inside => join(root, inside),
    async boot() {
      const network = `--network-namespace-path=/run/netns/${host.name}`
      const own = ['-q', '-D', root, '--bind-ro=/usr', network, '--register=no', '--keep-unit', '-M', host.name]
      const nspawn = spawn('systemd-nspawn', [...own, '--console=pipe', '--boot', '--', `--unit=${target}`], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      nspawn.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      running = { nspawn, ended: new Promise(resolve => nspawn.once('exit', resolve)) }
      await until(async () => {
        if (nspawn.exitCode !== null) throw new Error(said)
        // An error names the command, and with it "running".
        const state = await machine
          .run('systemctl is-system-running || true')
          .catch((error: unknown) => ({ stdout: String(error) }))
        return /^(?:running|degraded)$/m.test(sight('the machine', state.stdout))
      }, 'the end of its start')
    },
    async cutPower() {
      const { nspawn, ended } = running ?? {}
      process.kill(Number(firstOf(nspawn?.pid)), 'SIGKILL')
      await within(Promise.resolve(ended), 'the end of the machine')
      running = null
    },
    end: async () => (running === null ? undefined : machine.cutPower()),
  }
  try {
    await machine.boot()
    return machine
  } catch (error) {
    await machine.end().catch(() => undefined)
    return { cannot: String(error) }
  }
}
