import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventually, within } from '../../packages/server/src/testing/waiting.ts'

const run = promisify(execFile)

/** A Debian with systemd as its first process, on a network of its own. */
export interface Machine {
  /** Runs a command in it. */
  exec(program: string, ...args: string[]): Promise<string>
  /** The same, whatever its exit code is. */
  attempt(program: string, ...args: string[]): Promise<{ readonly code: number; readonly output: string }>
  /** A path of the machine, seen from outside. */
  path(inside: string): string
  /** Boots again, with a new network that has only a loopback device. */
  reboot(): Promise<void>
  close(): Promise<void>
}

const cache = fileURLToPath(new URL('../../node_modules/.cache/ship/', import.meta.url))
const base = 'systemd,systemd-sysv,dbus,iproute2,curl,ca-certificates,init-system-helpers,procps'
/** What a machine holds besides: nothing, or what a host of Debian with fail2ban has. */
const kinds = { bare: base, host: `${base},sudo,rsyslog,openssh-server,fail2ban,nftables,python3-systemd` } as const
export type Kind = keyof typeof kinds

/** A tar of a minimal Debian, made once and kept. */
const rootOf = async (suite: string, kind: Kind): Promise<string> => {
  const file = join(cache, `${suite}-${kind}.tar`)
  if (existsSync(file)) return file
  mkdirSync(cache, { recursive: true })
  await run('mmdebstrap', ['--variant=minbase', `--include=${kinds[kind]}`, suite, `${file}.part.tar`], {
    maxBuffer: 64 * 1024 * 1024,
  })
  renameSync(`${file}.part.tar`, file)
  return file
}

/** The first process of the machine: the only child of systemd-nspawn. */
const leaderOf = (pid: number): string =>
  existsSync(`/proc/${pid}/task/${pid}/children`)
    ? (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] ?? '')
    : ''

/** Boots a machine of a Debian suite in a folder, which must not be there yet. */
export const boot = async (suite: string, folder: string, kind: Kind = 'bare'): Promise<Machine> => {
  mkdirSync(folder, { recursive: true })
  await run('tar', ['-xf', await rootOf(suite, kind), '-C', folder])
  const name = `ship-${suite}-${kind}-${process.pid}`
  const start = () => {
    const nspawn = spawn(
      'systemd-nspawn',
      ['-D', folder, '--boot', '--private-network', '--register=no', '--keep-unit', '-M', name, '--console=pipe'],
      // Newer systemd needs the unified hierarchy, which a host with the older one must be asked for.
      {
        stdio: 'ignore',
        env: { ...process.env, ...(suite === 'trixie' ? { SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' } : {}) },
      },
    )
    return { nspawn, ended: new Promise(resolve => nspawn.once('exit', resolve)) }
  }
  let running = start()
  const inside = (program: string, args: readonly string[]) =>
    run('nsenter', ['-t', leaderOf(running.nspawn.pid ?? 0), '-m', '-u', '-i', '-n', '-p', '--', program, ...args], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      maxBuffer: 16 * 1024 * 1024,
    })
  const machine: Machine = {
    exec: async (program, ...args) => (await inside(program, args)).stdout,
    attempt: (program, ...args) =>
      inside(program, args).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
          code,
          output: stdout + stderr,
        }),
      ),
    path: given => join(folder, given),
    async reboot() {
      await machine.attempt('systemctl', 'reboot')
      await within(running.ended, 'the end of the machine')
      running = start()
      await isUp(machine)
    },
    async close() {
      running.nspawn.kill('SIGTERM')
      const late = setTimeout(() => running.nspawn.kill('SIGKILL'), 20_000)
      await within(running.ended, 'the end of the machine')
      clearTimeout(late)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await isUp(machine)
  } catch (error) {
    await machine.close()
    throw error
  }
  return machine
}

const isUp = async (machine: Machine): Promise<void> => {
  await eventually(async () => {
    const state = (await machine.attempt('systemctl', 'is-system-running')).output.trim()
    if (state !== 'running' && state !== 'degraded') throw new Error(`The machine is ${state}.`)
  }, 500)
  await machine.exec('ip', 'link', 'set', 'lo', 'up')
}
