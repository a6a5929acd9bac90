import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What `npm test` runs, and what `npm run test:all` runs besides. */
export const suites = ['daily', 'rest'] as const
export type Suite = (typeof suites)[number]

export interface Failure {
  readonly file: string
  readonly test: string
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** A fault may make a test wait for ever. Milliseconds. */
const longestRun = 30 * 60_000

/** One run of vitest over these files, as far as the suite has them, until the first test fails. */
export const runTests = async (
  root: string,
  suite: Suite,
  files: readonly string[],
  options: { readonly projects: readonly string[]; readonly environment: NodeJS.ProcessEnv },
): Promise<Failure | null> => {
  // Beside the checkout, with which it goes.
  const output = join(root, '..', 'report.json')
  rmSync(output, { force: true })
  const projects = options.projects.flatMap(name => ['--project', name])
  // The closing lines let a failed run end with 1.
  const reporters = ['--reporter=json', `--outputFile=${output}`, '--reporter=./scripts/closing-lines.mjs']
  const words = ['run', ...files, ...projects, '--bail', '1', '--passWithNoTests', ...reporters]
  const environment = { ...options.environment, STOCKADE_TEST_SUITE: suite }
  const { code, text } = await ended(root, ['node_modules/vitest/vitest.mjs', ...words], environment)
  return code === 0 ? null : failureIn(root, output, text)
}

/** In a group of its own, so that what a test has started ends with it. */
const ended = (
  root: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly code: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    let text = ''
    child.stderr.on('data', data => (text = `${text}${String(data)}`.slice(-2000)))
    const stop = () => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'))
    const timer = setTimeout(stop, longestRun)
    process.prependOnceListener('exit', stop)
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      process.off('exit', stop)
      resolve({ code: code ?? 1, text })
    })
  })

/** The first test that failed. A run that failed without one says nothing of the fault, so it ends the measurement. */
const failureIn = (root: string, output: string, text: string): Failure => {
  const report: Report = existsSync(output) ? (JSON.parse(readFileSync(output, 'utf8')) as Report) : { testResults: [] }
  for (const { name, status, message, assertionResults } of report.testResults) {
    const failed = assertionResults.find(test => test.status === 'failed')
    if (failed) return { file: relative(root, name), test: failed.fullName.trim() }
    if (status === 'failed' && message !== '') return { file: relative(root, name), test: 'the file itself' }
  }
  throw new Error(`The tests did not run: ${text}`)
}
