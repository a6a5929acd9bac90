import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLive } from '../api/live.ts'
import { isOver } from '../parts/command-progress.tsx'
import parts from '../parts/parts.module.css'
import { Mark } from '../parts/state.tsx'
import { textsOf } from '../texts/catalogue.ts'
import { fleetTexts } from './fleet.texts.ts'
import { commandsQuery } from './queries.ts'
import type { CommandRow } from './queries.ts'

export interface Counts {
  readonly total: number
  readonly done: number
  readonly failed: number
}
export const countsOf = (rows: readonly CommandRow[]): Counts => ({
  total: rows.length,
  done: rows.filter(row => row.status === 'completed').length,
  failed: rows.filter(row => isOver(row) && row.status !== 'completed').length,
})

/** The first hundred commands of a batch, live, or asked for every two seconds where the feed does not get through. */
export const useBatch = (batchId: string, page = 1) => {
  const { phase } = useLive()
  return useQuery({
    ...commandsQuery({ batch_id: batchId, limit: 100, page }),
    refetchInterval: ({ state }) => (state.data?.commands.every(isOver) ? false : phase === 'live' ? 10_000 : 2000),
  })
}

/** How far a batch is, in one line, with the way to its page. */
export const BatchProgress = ({ batchId, here = false }: { batchId: string; here?: boolean }) => {
  const t = textsOf(fleetTexts).progress
  const batch = useBatch(batchId).data
  const counts = countsOf(batch?.commands ?? [])
  const total = Math.max(batch?.total ?? 0, counts.total)
  const over = counts.total > 0 && counts.done + counts.failed === counts.total
  return (
    <div className={parts.progress} role="status" aria-label={t.label}>
      {over && counts.failed === 0 ? (
        <Mark tone="ok">{t.done(counts.done)}</Mark>
      ) : (
        <Mark tone={over ? 'warn' : 'info'}>{t.going(counts.done, total)}</Mark>
      )}
      {counts.failed > 0 && <Mark tone="danger">{t.failed(counts.failed)}</Mark>}
      {!here && (
        <Link to="/batches/$batchId" params={{ batchId }} search={{}} className={parts.link}>
          {t.toBatch}
        </Link>
      )}
    </div>
  )
}
