import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { commandOutput } from './text.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The code of a program that was ended because it took too long, as `timeout` has it. */
export const timedOut = 124

/** Runs a program with an argument array, no shell. Never throws: a program that is missing has code 127. */
export const runProgram = (
  command: readonly string[],
  options: { timeout?: number; input?: string; maxOutput?: number } = {},
): Promise<Ran> => {
  const [program = '', ...args] = command
  const timeout = options.timeout ?? 60_000
  return new Promise(resolve => {
    const child = execFile(
      program,
      args,
      { timeout, maxBuffer: options.maxOutput ?? 64 * 1024 * 1024, killSignal: 'SIGKILL' },
      (failure, stdout, stderr) => {
        if (failure?.killed === true && typeof failure.code !== 'number')
          return resolve({
            code: timedOut,
            stdout,
            stderr: `${basename(program)} did not answer within ${timeout / 1000} s`,
          })
        const code =
          failure === null ? 0 : typeof failure.code === 'number' ? failure.code : failure.code === 'ENOENT' ? 127 : 1
        resolve({ code, stdout, stderr: failure !== null && stderr === '' ? failure.message : stderr })
      },
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input ?? '')
  })
}

/** Removes the warning about `allowipv6` that fail2ban 1.0.2 writes at every call. */
export const withoutNoise = (stderr: string): string =>
  commandOutput(
    stderr
      .split('\n')
      .filter(line => !line.includes("'allowipv6' not defined"))
      .join('\n')
      .trim(),
  )
