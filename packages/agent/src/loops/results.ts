import type { Journal } from '../commands/journal.ts'
import type { Log } from '../log.ts'
import { ServerError } from '../transport.ts'
import type { Wire } from '../wire.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

const maxResults = 100

/** Reports the results of commands. The journal keeps each result until the server has accepted it. */
export const createResults = (needs: LoopNeeds & { journal: Journal; wire: Pick<Wire, 'results'>; log: Log }): Loop => {
  const { journal, log } = needs
  let limit = maxResults

  /** Answers whether there was anything to send. */
  const send = async (): Promise<boolean> => {
    const results = journal.untold(limit)
    if (results.length === 0) return false
    try {
      const sentIds = new Set(results.map(({ id }) => id))
      const decisions = (await needs.wire.results(results)).filter(({ id }) => sentIds.has(id))
      if (decisions.length === 0) throw new ServerError('answers results without naming any command')
      for (const { id, error } of decisions)
        if (error !== null) log.warn(`the server refused the result of command ${id}: ${error}`)
      journal.told(decisions.map(({ id }) => id))
      limit = maxResults
    } catch (error) {
      if (!(error instanceof ServerError) || !(error.status === 413 || (error.spoken && error.status === 400)))
        throw error
      if (results.length > 1) limit = Math.max(1, Math.floor(results.length / 2))
      else {
        log.warn(`the result of a command is set aside: the server ${error.message}`)
        journal.told(results.map(({ id }) => id))
      }
    }
    return true
  }

  return createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      if (!(await send())) return 60_000
      needs.link.good('other')
      return 0
    },
  })
}
