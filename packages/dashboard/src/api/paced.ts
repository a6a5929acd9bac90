import { ApiError } from './client.ts'

/* Many requests in one go, below the rate limit. */

/** More requests than this in one go are spread out, so that the page itself can still ask for something. */
const atOnce = 15
const between = 900

const pause = (wait: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, wait)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('Stopped', 'AbortError'))
    })
  })

/** Asks again after the time that the server names, for as long as it refuses because of too many requests. */
export const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (let tries = 0; ; tries++)
    try {
      signal.throwIfAborted()
      return await ask()
    } catch (error) {
      const limited = error instanceof ApiError && error.status === 429
      if (!limited || tries >= 10) throw error
      await pause((error.retryAfter ?? 10) * 1000, signal)
    }
}

/** Acts on one after the other, slowly where there are many. */
export const paced = async <T>(
  items: readonly T[],
  signal: AbortSignal,
  act: (item: T, index: number) => Promise<void>,
): Promise<void> => {
  for (const [index, item] of items.entries()) {
    if (index >= atOnce) await pause(between, signal)
    await patiently(() => act(item, index), signal)
  }
}
