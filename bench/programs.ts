import { execFile, spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '@stockade/server/testing'
import type { Inserted, Mode } from './inserts.ts'
import type { Load, Measured } from './load.ts'
import type { Synced } from './disk.ts'

/* Starts the parts of the bench as processes: what is measured on one core, the generator on another. */

const run = promisify(execFile)
const pinned = cpus().length > 1 && spawnSync('taskset', ['-p', String(process.pid)]).status === 0
/** Whether the two sides have a core each; else they take time from one another and only ratios mean anything. */
export const coresApart = pinned
/** Where a part runs: on the core of what is measured, on the generator's, or wherever there is room. */
const cores = { server: '0', generator: '1', any: `0-${cpus().length - 1}` } as const
export type Core = keyof typeof cores

const command = (core: Core, script: string, args: readonly string[]) => {
  const line = [process.execPath, fileURLToPath(new URL(script, import.meta.url)), ...args]
  const all = pinned ? ['taskset', '-c', cores[core], ...line] : line
  return { program: all[0] ?? '', args: all.slice(1) }
}
const resultOf = async <T>(core: Core, script: string, args: readonly string[]): Promise<T> => {
  const { program, args: rest } = command(core, script, args)
  const { stdout } = await run(program, rest, { maxBuffer: 1 << 26 })
  return JSON.parse(stdout) as T
}

/** Moves a running process, all of its threads. */
export const moveTo = (core: Core, pid: number): void => {
  if (pinned) spawnSync('taskset', ['-a', '-c', '-p', cores[core], String(pid)])
}

export interface Echo {
  readonly port: number
  readonly pid: number
  stop(): void
}
export const startEcho = async (): Promise<Echo> => {
  const port = await freePort()
  const { program, args } = command('server', './echo.ts', [String(port)])
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', code => reject(new Error(`The echo ended with ${String(code)}.`)))
  })
  return { port, pid: child.pid ?? 0, stop: () => void child.kill() }
}

export const applyLoad = (load: Load, core: Core = 'generator'): Promise<Measured> =>
  resultOf(core, './load.ts', [JSON.stringify(load)])
/** `before`: so many rows are there first. */
export const insertRows = (file: string, mode: Mode, group: number, seconds: number, servers: number, before = 0) =>
  resultOf<Inserted>('server', './inserts.ts', [file, mode, ...[group, seconds, servers, before].map(String)])
export const syncDisk = (file: string, seconds: number) =>
  resultOf<Synced>('server', './disk.ts', [file, String(seconds)])
