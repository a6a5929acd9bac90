import * as fs from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { privateDirectory } from './files.ts'
import { runProgram } from './process.ts'

/*
 * Tells the init system again and again that the event loop turns. It starts an agent again that misses this, since the process of one that spins
 * or is stuck still runs. systemd hears it on the socket that launcher.py opened, or without one by `systemd-notify`; others read a file.
 */

/** Between two signs of life, where systemd did not say how long it waits. Milliseconds. */
const usualPause = 10_000
const beatFile = 'beat'

/** Four times as often as systemd demands. The time that it grants is in microseconds. */
const pauseOf = (granted: string | undefined): number => {
  const ms = Number(granted ?? '') / 4000
  return ms > 0 ? Math.min(ms, usualPause) : usualPause
}

const tellBySocket = (descriptor: number) => (): void => {
  try {
    fs.writeSync(descriptor, 'WATCHDOG=1')
  } catch {
    // systemd is too busy to listen now. It hears the next one.
  }
}
/** A host whose Python is gone has no socket: a program for each sign of life is dear, and better than no watchdog. */
const tellByProgram = (): void => void runProgram(['systemd-notify', 'WATCHDOG=1'], { timeout: usualPause })

/** Seconds since the boot, which nobody sets; it is renamed, so that no reader sees an empty file. */
const tellByFile = (runDirectory: string) => (): void => {
  const file = join(runDirectory, beatFile)
  try {
    fs.writeFileSync(`${file}.new`, `${Math.floor(uptime())}\n`, { mode: 0o600 })
    fs.renameSync(`${file}.new`, file)
  } catch {
    // Without room for it the init system starts the agent again, which may help.
  }
}

const wayOf = (env: NodeJS.ProcessEnv, runDirectory: string): (() => void) => {
  const descriptor = env['STOCKADE_NOTIFY_FD'] ?? ''
  if (/^\d+$/.test(descriptor)) return tellBySocket(Number(descriptor))
  return env['NOTIFY_SOCKET'] === undefined ? tellByFile(privateDirectory(runDirectory)) : tellByProgram
}

/** Begins with a sign of life, and goes on until the process ends. */
export const startWatchdog = (env: NodeJS.ProcessEnv, runDirectory: string): void => {
  const tell = wayOf(env, runDirectory)
  tell()
  setInterval(tell, pauseOf(env['WATCHDOG_USEC'])).unref()
}
