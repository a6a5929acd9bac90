import { parseArgs } from 'node:util'
import { allSources, root as original } from '../house/sources.ts'
import { copyOf } from './copy.ts'
import type { Copy } from './copy.ts'
import type { Fault } from './fault.ts'
import { allFaults } from './faults/index.ts'
import { createReach } from './reach.ts'
import { lineOf, measureOf, tableOf } from './report.ts'
import type { Outcome } from './report.ts'
import { runTests, suites } from './runs.ts'
import type { Failure, Suite } from './runs.ts'
import { sampleFaults } from './sample.ts'

/*
 * Plants small faults one at a time and asks which suite sees each: `npm run planted`. A test counts only if it passes without the fault.
 *
 *   npm run planted -- --only bans,agent     faults with one of these folders or files in their path
 *   npm run planted -- --from 40 --to 80     goes on where a run before was stopped, and ends before the last
 *   npm run planted -- --sample              a fixed part of all areas
 *   npm run planted -- --near                asks the nearest tests only: a first look in a tenth of the time
 *   npm run planted -- --project unit        only these projects of vitest, to try one's own tests
 *   npm run planted -- --list                prints the faults
 */

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '1' },
    to: { type: 'string', default: String(allFaults.length) },
    project: { type: 'string', multiple: true, default: [] },
    near: { type: 'boolean', default: false },
    sample: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const only = options.only.split(',').filter(Boolean)
const chosen = allFaults
  .map((fault, index) => ({ fault, number: index + 1 }))
  .filter(({ number }) => number >= Number(options.from) && number <= Number(options.to))
  .filter(({ fault }) => !options.sample || sampleFaults.has(fault))
  .filter(({ fault }) => only.length === 0 || fault.file.split(/[/.]/).some(part => only.includes(part)))

/** What breaks shows after half a minute where a whole run has patience for three. */
const environment: NodeJS.ProcessEnv = { STOCKADE_TEST_PATIENCE: '30000', ...process.env }
// What is compiled of the copy stays with it.
delete environment.NODE_COMPILE_CACHE

const createMeasure = (copy: Copy) => {
  const reach = createReach(allSources())
  const run = (suite: Suite, files: readonly string[]) =>
    runTests(copy.root, suite, files, { projects: options.project, environment })
  /** Whether a file of tests passes without any fault, by suite and file. */
  const sound = new Map<string, boolean>()
  const isSound = async (suite: Suite, file: string): Promise<boolean> => {
    const key = `${suite} ${file}`
    const known = sound.get(key)
    if (known !== undefined) return known
    const passes = (await run(suite, [file])) === null
    sound.set(key, passes)
    if (!passes) process.stderr.write(`stockade: ${file} fails without a fault and does not count\n`)
    return passes
  }

  /** The first failure with the fault in a file that passes without it; null where all that remains is green. */
  const firstFailure = async (fault: Fault, suite: Suite, batch: readonly string[]): Promise<Failure | null> => {
    let files = batch.filter(file => sound.get(`${suite} ${file}`) !== false)
    while (files.length > 0) {
      const isOfPrograms = files.some(file => file.startsWith('tests/'))
      const failure = await copy.planted(fault, isOfPrograms, () => run(suite, files))
      if (failure === null || (await isSound(suite, failure.file))) return failure
      files = files.filter(file => file !== failure.file)
    }
    return null
  }

  return async (fault: Fault): Promise<Pick<Outcome, 'seenBy' | 'failure'>> => {
    for (const suite of suites)
      for (const batch of reach(fault.file).slice(0, options.near ? 1 : undefined)) {
        const failure = await firstFailure(fault, suite, batch)
        if (failure) return { seenBy: suite, failure }
      }
    return { seenBy: null, failure: null }
  }
}

const main = async (): Promise<void> => {
  if (options.list) {
    for (const { fault, number } of chosen) print(`${number} ${fault.file}: ${fault.says}`)
    return
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  const copy = copyOf(original, environment)
  const outcomes: Outcome[] = []
  const measure = createMeasure(copy)
  for (const { fault, number } of chosen) {
    const started = performance.now()
    const seen = await measure(fault)
    const outcome = { fault, number, ...seen, seconds: Math.round((performance.now() - started) / 1000) }
    outcomes.push(outcome)
    print(lineOf(outcome))
  }
  const { text, isEnough } = measureOf(outcomes)
  print(`\n${tableOf(outcomes)}\n\n${text}`)
  process.exitCode = isEnough ? 0 : 1
}

await main()
