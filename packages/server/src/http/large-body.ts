import { Worker } from 'node:worker_threads'
import type { ProblemBody } from '@stockade/contract'
import { badRequest, unavailable } from '../core/problem.ts'
import { refusedDetails } from '../core/validation.ts'

/** A body to be judged: the endpoint's name, such as `POST /whitelist/bulk`, and the text as it came. */
export interface LargeBody {
  readonly id: number
  readonly name: string
  readonly text: string
}
export interface Judged {
  readonly id: number
  /** Why the text can not be taken at all; null where it can. */
  readonly refused: string | null
  /** What is wrong with the values. */
  readonly details: NonNullable<ProblemBody['details']> | null
  /** The text to be parsed, where it is not the one that came. */
  readonly instead: string | null
}

/** In characters: what is shorter is parsed and refused in a few milliseconds, whatever it is. */
export const largeFrom = 64 * 1024
/** So many large bodies may wait for the thread, of so many characters together: each is held twice until it is judged. */
const most = { waiting: 64, characters: 128 * 1024 * 1024 } as const

export interface LargeBodies {
  /** The value of a text that the endpoint takes. @throws Problem 400 with one error; 503 where too many wait. */
  read(name: string, text: string): Promise<unknown>
  /** Whether that value was found valid already. */
  isValid(value: unknown): boolean
  close(): Promise<void>
}

/**
 * Large bodies are parsed and validated in a thread first, so that junk is refused there. What is valid has a known shape,
 * and is parsed here in a fraction of the time.
 */
export const createLargeBodies = (): LargeBodies => {
  const waiting = new Map<number, { size: number; resolve(judged: Judged): void; reject(error: Error): void }>()
  const valid = new WeakSet<object>()
  let worker: Worker | null = null
  let lastId = 0
  const start = (): Worker => {
    const made = new Worker(new URL('./large-body-worker.ts', import.meta.url))
    made.unref()
    made.on('message', (judged: Judged) => {
      waiting.get(judged.id)?.resolve(judged)
      waiting.delete(judged.id)
    })
    const fail = () => {
      if (worker === made) worker = null
      for (const { reject } of waiting.values()) reject(unavailable('Large bodies are not read now. Try again.'))
      waiting.clear()
    }
    made.on('error', fail)
    made.on('exit', fail)
    return made
  }
  const judge = (name: string, text: string) =>
    new Promise<Judged>((resolve, reject) => {
      const characters = [...waiting.values()].reduce((sum, { size }) => sum + size, text.length)
      if (waiting.size >= most.waiting || characters > most.characters)
        return reject(unavailable('Too many large bodies wait to be read. Try again.'))
      const id = ++lastId
      waiting.set(id, { size: text.length, resolve, reject })
      worker ??= start()
      worker.postMessage({ id, name, text } satisfies LargeBody)
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
      await worker?.terminate()
    },
  }
}
