import { Worker } from 'node:worker_threads'
import { codeOf } from '@stockade/contract/error-code.ts'
import { minute, second } from '../../core/clock.ts'
import type { ListJobs } from './list-jobs.ts'
import type { ListDone, ListWork } from './list-worker.ts'
import { NoList, TooLarge } from './parse.ts'

/**
 * Works on contents of lists off the event loop, each in a thread of its own that is ended when it takes too much: whatever a source answers, the server
 * goes on.
 */
export interface ListThreads {
  /** @throws NoList where the content is none, or takes too much memory or time, or where too many wait. */
  run<N extends keyof ListJobs>(name: N, given: Parameters<ListJobs[N]>[0]): Promise<ReturnType<ListJobs[N]>>
}

/** Milliseconds and MiB that one thread may take, and how many may wait for their turn. One works at a time. */
const usual = { time: minute, memory: 192, waiting: 64 }
type ThreadLimits = Readonly<typeof usual>

export const createListThreads = (limits: ThreadLimits = usual): ListThreads => {
  let isBusy = false
  const queue: (() => void)[] = []
  const enter = async (): Promise<void> => {
    if (!isBusy) {
      isBusy = true
      return
    }
    if (queue.length >= limits.waiting) throw new NoList('Many lists are being read at this moment. Try again later.')
    await new Promise<void>(resolve => queue.push(resolve))
  }
  const leave = () => {
    const next = queue.shift()
    if (next) next()
    else isBusy = false
  }
  return {
    async run<N extends keyof ListJobs>(name: N, given: Parameters<ListJobs[N]>[0]) {
      await enter()
      try {
        // The thread answers what its job returns.
        return (await runInThread({ name, given }, limits)) as ReturnType<ListJobs[N]>
      } finally {
        leave()
      }
    },
  }
}

const runInThread = (work: ListWork, limits: ThreadLimits): Promise<unknown> => {
  const worker = new Worker(new URL('./list-worker.ts', import.meta.url), {
    workerData: work,
    resourceLimits: { maxOldGenerationSizeMb: limits.memory, maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  return new Promise<unknown>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new NoList(`The content takes longer to read than ${limits.time / second} s.`)),
      limits.time,
    )
    worker.once('message', (done: ListDone) => {
      if ('reply' in done) resolve(done.reply)
      else reject(done.isTooLarge ? new TooLarge(done.refused) : new NoList(done.refused))
    })
    worker.once('error', error => {
      const isMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(isMemory ? new NoList(`The content takes more memory to read than ${limits.memory} MiB.`) : error)
    })
    worker.once('exit', () => {
      clearTimeout(late)
      reject(new NoList('Reading the content ended early.'))
    })
    // The place is free only once the thread is gone.
  }).finally(() => worker.terminate())
}
