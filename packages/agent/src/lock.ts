import * as fs from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { privateDirectory, readText } from './files.ts'

/** One agent for each host. The lock names a process by id and start time, so one left by a crash or reboot is void. */
export const takeLock = (directory: string): (() => void) => {
  const path = join(privateDirectory(directory), 'lock')
  const mine = `${process.pid} ${startTime(process.pid) ?? ''}`
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      fs.writeFileSync(path, mine, { flag: 'wx', mode: 0o600 })
      return () => {
        if (readText(path) === mine) fs.rmSync(path, { force: true })
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      const [pid = '', started = ''] = (readText(path) ?? '').split(' ')
      if (started !== '' && startTime(Number(pid)) === started)
        throw new Error(`another agent runs on this host (process ${pid})`, { cause: error })
      fs.rmSync(path, { force: true })
    }
  }
  throw new Error(`the lock ${path} cannot be taken`)
}

/**
 * Marks this agent as connected, which the installer waits for. The mark is stale after a restart, because it contains
 * the lock.
 */
export const markAlive = (directory: string): void => {
  fs.writeFileSync(join(directory, 'alive'), readText(join(directory, 'lock')) ?? '', { mode: 0o600 })
}

export const isAlive = (directory: string): boolean => {
  const lock = readText(join(directory, 'lock')) ?? ''
  return lock !== '' && readText(join(directory, 'alive')) === lock && isAgentRunning(directory)
}

export const isAgentRunning = (directory: string): boolean => {
  const [pid = '', started = ''] = (readText(join(directory, 'lock')) ?? '').split(' ')
  return started !== '' && startTime(Number(pid)) === started
}

/** Field 22 of /proc/PID/stat; the program's name before it may hold blanks and brackets. */
const startTime = (pid: number): string | null => {
  const stat = readText(`/proc/${pid}/stat`)
  return stat === null ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null)
}
