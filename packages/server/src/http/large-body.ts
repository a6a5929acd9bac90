import { Worker } from 'node:worker_threads'
import { codeOf } from '@stockade/contract/error-code.ts'
import type { ProblemBody } from '@stockade/contract'
import { second } from '../core/clock.ts'
import { badRequest, unavailable } from '../core/problem.ts'
import { refusedDetails } from '../core/validation.ts'

/** A body to be judged: the endpoint's name, such as `POST /whitelist/bulk`, and the text as it came. */
export interface LargeBody {
  readonly name: string
  readonly text: string
}
export interface Judged {
  /** Why the text can not be taken at all; null where it can. */
  readonly refused: string | null
  /** What is wrong with the values. */
  readonly details: NonNullable<ProblemBody['details']> | null
  /** The text to be parsed, where it is not the one that came. */
  readonly instead: string | null
}

/** In characters: what is shorter is parsed and refused in a few milliseconds, whatever it is. */
export const largeFrom = 64 * 1024
/**
 * Milliseconds and MiB that the thread may take for one body. So many may wait for it, of so many characters together: each is
 * held twice until it is judged.
 */
const usual = { time: 20 * second, memory: 256, waiting: 64, characters: 128 * 1024 * 1024 }
type BodyLimits = Readonly<typeof usual>

export interface LargeBodies {
  /** The value of a text that the endpoint takes. @throws Problem 400 with one error; 503 where too many wait. */
  read(name: string, text: string): Promise<unknown>
  /** Whether that value was found valid already. */
  isValid(value: unknown): boolean
  close(): Promise<void>
}

interface WaitingBody extends LargeBody {
  resolve(judged: Judged): void
  reject(error: Error): void
}
const notNow = () => unavailable('Large bodies are not read now. Try again.')

/**
 * Large bodies are parsed and validated in a thread first, one at a time, so that junk is refused there. What is valid has a
 * known shape, and is parsed here in a fraction of the time. A body that takes too much of the thread is refused, and the thread
 * begins anew with the next one.
 */
export const createLargeBodies = (limits: BodyLimits = usual): LargeBodies => {
  /** The first one is in work. */
  const waiting: WaitingBody[] = []
  const valid = new WeakSet<object>()
  let worker: Worker | null = null
  let late: NodeJS.Timeout | undefined

  const begin = () => {
    const [first] = waiting
    if (!first) return
    const used = (worker ??= start())
    late = setTimeout(() => {
      void used.terminate()
      lose(used, badRequest(`The body takes longer to read than ${limits.time / second} s.`))
    }, limits.time).unref()
    used.postMessage({ name: first.name, text: first.text } satisfies LargeBody)
  }
  const end = (settle: (body: WaitingBody) => void) => {
    clearTimeout(late)
    const first = waiting.shift()
    if (first) settle(first)
    begin()
  }
  const lose = (lost: Worker, why: Error) => {
    if (worker !== lost) return
    worker = null
    end(body => body.reject(why))
  }
  const start = (): Worker => {
    const newWorker = new Worker(new URL('./large-body-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: limits.memory, maxYoungGenerationSizeMb: 16 },
    })
    newWorker.unref()
    newWorker.on('message', (judged: Judged) => {
      if (worker === newWorker) end(body => body.resolve(judged))
    })
    newWorker.on('error', error => {
      const isMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
      lose(newWorker, isMemory ? badRequest(`The body takes more memory to read than ${limits.memory} MiB.`) : notNow())
    })
    newWorker.on('exit', () => lose(newWorker, notNow()))
    return newWorker
  }
  const judge = (name: string, text: string) =>
    new Promise<Judged>((resolve, reject) => {
      const characters = waiting.reduce((sum, body) => sum + body.text.length, text.length)
      if (waiting.length >= limits.waiting || characters > limits.characters)
        return reject(unavailable('Too many large bodies wait to be read. Try again.'))
      waiting.push({ name, text, resolve, reject })
      if (waiting.length === 1) begin()
    })
  return {
    async read(name, text) {
      const { refused, details, instead } = await judge(name, text)
      if (refused !== null) throw badRequest(refused)
      if (details) throw refusedDetails(details)
      const value: unknown = JSON.parse(instead ?? text)
      if (typeof value === 'object' && value !== null) valid.add(value)
      return value
    },
    isValid: value => typeof value === 'object' && value !== null && valid.has(value),
    async close() {
      for (const { reject } of waiting.splice(0)) reject(notNow())
      clearTimeout(late)
      await worker?.terminate()
    },
  }
}
