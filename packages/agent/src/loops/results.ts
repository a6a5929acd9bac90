import type { Journal } from '../commands/journal.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import { ServerError } from '../transport.ts'
import type { ResultReport, RowResult, Wire } from '../wire.ts'
import type { Carrier } from './carrier.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

const maxResults = 100

/** Reports the results of commands, by the next poll or by a request of their own. The journal keeps each until the server has accepted it. */
export const createResults = (
  needs: LoopNeeds & { journal: Journal; wire: Pick<Wire, 'results'>; carrier: Pick<Carrier, 'load'>; log: Log },
): Loop => {
  const { journal, log } = needs
  let limit = maxResults
  /** Ids of results that a poll took along and that the server has not confirmed. */
  let aboard: ReadonlySet<string> = new Set()

  const accept = (sent: readonly ResultReport[], answer: readonly RowResult[]): void => {
    const sentIds = new Set(sent.map(({ id }) => id))
    const decisions = answer.filter(({ id }) => sentIds.has(id))
    if (decisions.length === 0) throw new ServerError('answers results without naming any command')
    for (const { id, error } of decisions)
      if (error !== null) log.warn(`the server refused the result of command ${id}: ${error}`)
    journal.told(decisions.map(({ id }) => id))
    limit = maxResults
  }
  const load = (results: readonly ResultReport[]): boolean => {
    if (aboard.size > 0) return false
    const isLoaded = needs.carrier.load({ results }, outcome => {
      aboard = new Set()
      try {
        if ('results' in outcome) accept(results, outcome.results)
      } catch (error) {
        log.debug(`results go by a request of their own: ${errorText(error)}`)
      }
      // What is left: results since then, or all of them where the poll failed. A turn without anything to say would end the wait for one that has.
      if (journal.untold(1).length > 0) loop.wake()
    })
    if (isLoaded) aboard = new Set(results.map(({ id }) => id))
    return isLoaded
  }
  /** Answers whether there was anything to send. */
  const send = async (): Promise<boolean> => {
    const results = journal.untold(limit + aboard.size).filter(({ id }) => !aboard.has(id))
    if (results.length === 0 || load(results)) return false
    try {
      accept(results, await needs.wire.results(results))
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

  const loop = createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      if (!(await send())) return 60_000
      needs.link.good('other')
      return 0
    },
  })
  return loop
}
