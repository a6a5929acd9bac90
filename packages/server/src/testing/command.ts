import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { run } from '@stockade/cli/run.ts'
import '../admin/program.ts'

const launcher = fileURLToPath(new URL('../../../../scripts/stockade.cjs', import.meta.url))

/** What a command ended with. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
export type Environment = Readonly<Record<string, string | undefined>>

/** Runs `stockade` as an operator does, a process of its own with nothing but the given environment. */
export const stockadeProcess = (env: Environment, words: readonly string[], cwd?: string): Promise<Ran> =>
  new Promise(resolve =>
    execFile(
      process.execPath,
      [launcher, ...words],
      { cwd, env: { PATH: process.env.PATH, ...env }, maxBuffer: 16 * 1024 * 1024 },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )

/** Gives the command what it takes from its process, in place of what this one has. */
const inProcess = async (env: Environment, words: readonly string[], input: string): Promise<Ran> => {
  const texts = { stdout: '', stderr: '' }
  const own = {
    env: process.env,
    stdin: Object.getOwnPropertyDescriptor(process, 'stdin'),
    stdout: process.stdout.write,
    stderr: process.stderr.write,
  }
  const writeTo = (name: keyof typeof texts) => (text: string | Uint8Array) => {
    texts[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
    return true
  }
  process.env = { ...env }
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true })
  process.stdout.write = writeTo('stdout')
  process.stderr.write = writeTo('stderr')
  try {
    const code = await run(words)
    return { code, out: texts.stdout, err: texts.stderr }
  } finally {
    process.env = own.env
    if (own.stdin) Object.defineProperty(process, 'stdin', own.stdin)
    process.stdout.write = own.stdout
    process.stderr.write = own.stderr
  }
}

let last: Promise<unknown> = Promise.resolve()
/**
 * Runs the command line with nothing but the given environment and input. In this process, since a process of its own costs twenty times the CPU
 * of what most commands do: so one command at a time. What an operator's own process adds is tested where `stockadeProcess` is used, and in tests/ship.
 */
export const stockade = (env: Environment, words: readonly string[], input = ''): Promise<Ran> => {
  const ran = last.then(() => inProcess(env, words, input))
  last = ran.catch(() => {})
  return ran
}
