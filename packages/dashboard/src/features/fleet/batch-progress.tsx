import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { isOver } from './command-progress.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { sumOf, useBatchCounts } from './batch.ts'
import type { BatchCounts } from './batch.ts'
import { fleetTexts } from './fleet.texts.ts'
import { commandsQuery } from './queries.ts'
import type { CommandRow } from './queries.ts'

const countsOf = (rows: readonly CommandRow[]): BatchCounts => ({
  done: rows.filter(row => row.status === 'completed').length,
  failed: rows.filter(row => isOver(row) && row.status !== 'completed' && !row.cancelled).length,
  cancelled: rows.filter(row => row.cancelled).length,
})

/** The first hundred commands of a batch, live, or asked for every two seconds where the feed does not get through. */
export const useBatch = (batchId: string, page = 1) => {
  const { phase } = useLive()
  return useQuery({
    ...commandsQuery({ batch_id: batchId, limit: 100, page }),
    refetchInterval: ({ state }) => (state.data?.commands.every(isOver) ? false : phase === 'live' ? 10_000 : 2000),
  })
}

/** How far a batch is: by its rows where one page holds them all, else by the service's count. */
export const useBatchState = (batchId: string): BatchCounts & { readonly total: number } => {
  const batch = useBatch(batchId).data
  const rows = batch?.commands ?? []
  const total = Math.max(batch?.total ?? 0, rows.length)
  const whole = rows.length === total
  const counted = useBatchCounts(batchId, total, !whole)
  return { total, ...(whole ? countsOf(rows) : counted) }
}

/** How far a batch is, in one line, with the way to its page. */
export const BatchProgress = (props: {
  batchId: string
  /** On its own page. */
  here?: boolean
  /** It asks for different things: its commands are counted, not servers. */
  mixed?: boolean
}) => {
  const { batchId, here = false, mixed = false } = props
  const t = textsOf(fleetTexts).progress
  const { total, ...counts } = useBatchState(batchId)
  const over = total > 0 && sumOf(counts) >= total
  const failed = counts.failed + counts.cancelled
  return (
    <div className={parts.progress} role="status" aria-label={t.label}>
      {over && failed === 0 ? (
        <Mark tone="ok">{mixed ? t.doneOrders(counts.done) : t.done(counts.done)}</Mark>
      ) : (
        <Mark tone={over ? 'warn' : 'info'}>{t.going(counts.done, total)}</Mark>
      )}
      {failed > 0 && <Mark tone="danger">{mixed ? t.failedOrders(failed) : t.failed(failed)}</Mark>}
      {!here && (
        <Link to="/batches/$batchId" params={{ batchId }} search={{}} className={parts.link}>
          {t.toBatch}
        </Link>
      )}
    </div>
  )
}
