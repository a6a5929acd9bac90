import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../../../../scripts/stockade.cjs', import.meta.url))

/** Runs `stockade` as an operator does, in a folder and with nothing but the given environment. */
export const stockade = (
  env: Readonly<Record<string, string>>,
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
  new Promise(resolve =>
    execFile(
      process.execPath,
      [launcher, ...args],
      { cwd, env: { PATH: process.env.PATH, ...env }, maxBuffer: 16 * 1024 * 1024 },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
