import type { Journal } from '../commands/journal.ts'
import type { Log } from '../log.ts'
import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Wire } from '../wire.ts'
import type { Link } from './link.ts'

const MOST = 100

/** Tells what came of the commands; a result is kept in the journal until the server has taken it. */
export function createResults(needs: { journal: Journal; wire: Wire; link: Link; signal: AbortSignal; log: Log }) {
  const nap = createNap()
  needs.link.onBack(nap.wake)
  let limit = MOST

  async function send(): Promise<boolean> {
    const results = needs.journal.untold(limit)
    if (results.length === 0) return false
    try {
      const answers = await needs.wire.results(results)
      const sent = new Set(results.map(({ id }) => id))
      const told = answers.filter(({ id }) => sent.has(id))
      if (told.length === 0) throw new ServerError('answers results without naming any command', 0, null, false)
      for (const { id, error } of told)
        if (error !== null) needs.log.warn(`the server refused the result of command ${id}: ${error}`)
      needs.journal.told(told.map(({ id }) => id))
      limit = MOST
    } catch (error) {
      const refused = error instanceof ServerError && (error.status === 413 || (error.spoken && error.status === 400))
      if (!refused) throw error
      if (results.length > 1) limit = Math.max(1, Math.floor(results.length / 2))
      else {
        needs.log.warn(`the result of a command is set aside: the server ${error.message}`)
        needs.journal.told(results.map(({ id }) => id))
      }
    }
    return true
  }

  return {
    async run(): Promise<void> {
      const backoff = createBackoff({ interval: () => 4000, cap: 60_000 })
      while (!needs.signal.aborted) {
        if (needs.link.muted()) {
          await nap.sleep(5000)
          continue
        }
        try {
          const sent = await send()
          backoff.reset()
          if (sent) needs.link.good('other')
          else await nap.sleep(60_000)
        } catch (error) {
          if (needs.signal.aborted) return
          needs.link.bad(error, 'other')
          await nap.sleep(backoff.next(error instanceof ServerError ? error.retryAfter : null))
        }
      }
    },
    wake: (): void => nap.wake(),
  }
}
