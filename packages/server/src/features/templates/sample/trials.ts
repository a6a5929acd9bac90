import { Worker } from 'node:worker_threads'
import { bounds } from '@stockade/contract/limits.ts'
import type { Clock } from '../../../core/clock.ts'
import { invalid } from '../../../core/problem.ts'
import { tame } from '../../../core/text.ts'
import { blameOf } from './blame.ts'
import { Untriable } from './javascript.ts'
import type { LineVerdict } from './lines.ts'
import { planOf } from './plan.ts'
import type { Trial } from './plan.ts'
import type { TrialJob, TrialMessage } from './worker.ts'

export interface LineMatch {
  /** From 1. */
  readonly line: number
  readonly matched: boolean
  readonly ip: string | null
}
/** Lines that could not be judged are absent; the note says why. */
export interface Tried {
  readonly matches: readonly LineMatch[]
  readonly note: string | null
}
export interface Trials {
  /**
   * What the engine would find in each line of a sample with a template that has no errors. Takes a few seconds at
   * the very most, whatever the expressions are.
   */
  try(texts: { readonly jail_config: string; readonly filter_config: string }, lines: readonly string[]): Promise<Tried>
}

/**
 * What one thread may take, in ms and MiB; and how many work and wait at once. `run` is CPU time, since a busy server is not the
 * expression's fault; `wait` is how long anybody waits for it all the same.
 */
const usual = { start: 5000, run: 1500, wait: 5000, memory: 64, atOnce: 2, waiting: 6 }
type Limits = Readonly<typeof usual>

/** @throws Problem 400 naming the field where the sample is beyond its bounds. */
export const readSample = (sample: string): readonly string[] => {
  const lines = sample.split('\n').map(line => line.replace(/\r+$/, ''))
  if (lines.at(-1) === '') lines.pop()
  const { lines: most, line: longest } = bounds.sample
  if (lines.length > most)
    throw invalid('sample', `sample: It has ${lines.length} lines; ${most} can be tried at once.`)
  const long = lines.findIndex(line => line.length > longest)
  if (long >= 0) throw invalid('sample', `sample: Line ${long + 1} is longer than ${longest} characters.`)
  return lines
}

export const createTrials = ({ clock, limits = usual }: { clock: Clock; limits?: Limits }): Trials => {
  let busy = 0
  const queue: (() => void)[] = []

  /** One of the few places; false where too many wait for one already. */
  const enter = async (): Promise<boolean> => {
    if (busy < limits.atOnce) {
      busy++
      return true
    }
    if (queue.length >= limits.waiting) return false
    await new Promise<void>(resolve => queue.push(resolve))
    return true
  }
  const leave = () => {
    const next = queue.shift()
    if (next) next()
    else busy--
  }

  return {
    async try(texts, lines) {
      if (lines.length === 0) return { matches: [], note: null }
      let trial: Trial
      try {
        trial = planOf(texts, clock())
      } catch (error) {
        if (error instanceof Untriable) return { matches: [], note: error.message }
        throw error
      }
      if (!(await enter()))
        return { matches: [], note: 'Many samples are being tried at this moment. Try again in some seconds.' }
      try {
        const { verdicts, stopped } = await runInThread({ plan: planAlone(trial), lines }, limits)
        return judged(trial, verdicts, stopped)
      } finally {
        leave()
      }
    },
  }
}

const planAlone = ({ dates, prefix, fails, ignores }: Trial): TrialJob['plan'] => ({ dates, prefix, fails, ignores })

/** Verdicts of the first lines, and why there are no more; null where there are all. */
interface Run {
  readonly verdicts: readonly LineVerdict[]
  readonly stopped: string | null
}

/** CPU time that a thread has taken, in ms; the time of day on a Node that can not tell. */
const cpuOf = async (worker: { readonly cpuUsage?: Worker['cpuUsage'] }): Promise<number> => {
  if (!worker.cpuUsage) return performance.now()
  // A thread that is ending sends no message; its exit event follows.
  const usage = await worker.cpuUsage().catch(() => null)
  return usage ? (usage.user + usage.system) / 1000 : 0
}

const runInThread = (job: TrialJob, limits: Limits): Promise<Run> => {
  const verdicts: LineVerdict[] = []
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: limits.memory, stackSizeMb: 4 },
  })
  const tooLong = () =>
    `It took longer than ${limits.run} ms and was stopped at line ${verdicts.length + 1}: an expression may keep the engine busy with such a line.`
  return new Promise<Run>((resolve, reject) => {
    let ended = false
    const end = (stopped: string | null) => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      const run = { verdicts: [...verdicts], stopped }
      // Its place is free only once it is gone.
      void worker.terminate().finally(() => resolve(run))
    }
    let timer = setTimeout(() => end('The server is too busy to try lines. Try again in some seconds.'), limits.start)
    /** Ends it where its time is up, or looks again when it may be. */
    const watch = async (since: number, used: number) => {
      const left = limits.run - ((await cpuOf(worker)) - used)
      if (ended) return
      if (left <= 0 || performance.now() - since >= limits.wait) end(tooLong())
      else timer = setTimeout(() => void watch(since, used), Math.max(left, 20))
    }
    worker.on('message', (message: TrialMessage) => {
      if (message === 'begun') {
        clearTimeout(timer)
        const since = performance.now()
        void cpuOf(worker).then(used => {
          if (!ended) timer = setTimeout(() => void watch(since, used), limits.run)
        })
      } else if (message === 'not run')
        end('An expression can not be run here: it is too large, or something in it is the wrong way round.')
      else if (verdicts.push(message.verdict) === job.lines.length) end(null)
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        return end('An expression takes more memory than can be given to it here.')
      clearTimeout(timer)
      reject(error)
    })
    worker.once('exit', () => end('Trying the lines ended early.'))
  })
}

const judged = (trial: Trial, verdicts: readonly LineVerdict[], stopped: string | null): Tried => {
  const matches: LineMatch[] = []
  const remarks: string[] = []
  verdicts.forEach((verdict, index) => {
    const line = index + 1
    const blame = verdict === null || typeof verdict === 'string' ? null : blameOf(verdict, trial.usedns)
    if (typeof verdict === 'string') remarks.push(`Line ${line}: ${verdict}.`)
    else if (blame === 'unknown') remarks.push(`Line ${line}: what the engine makes of its id is not known here.`)
    else if (blame === null || blame === 'no failure') matches.push({ line, matched: false, ip: null })
    else {
      matches.push({ line, matched: true, ip: blame.ip })
      if (blame.name !== null)
        remarks.push(`Line ${line}: ${tame(blame.name, 100)} is a name, whose addresses the server looks up.`)
    }
  })
  const notes = [trial.note, ...shortened(remarks), stopped].filter(note => note !== null)
  return { matches, note: notes.length === 0 ? null : notes.join(' ') }
}

/** As many remarks as anyone reads. */
const shortened = (remarks: readonly string[]): readonly string[] =>
  remarks.length <= 5 ? remarks : [...remarks.slice(0, 5), `And ${remarks.length - 5} more lines like these.`]
