import { useEffect, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { failedOf, orderAgain } from '../fleet/batch.ts'
import { useBatch, useBatchState } from '../fleet/receipt.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import fleet from '../fleet/fleet.module.css'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { useSaid } from '../fleet/said.ts'
import { agreed } from '../fleet/ssh-asked.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { commandsTexts } from './commands.texts.ts'
import { ServerLink } from './facts.tsx'
import { RowAct } from './retry.tsx'
import { wordOf } from './rows.ts'
import { Link } from '@tanstack/react-router'

const urgency = { failed: 0, timeout: 0, running: 1, pending: 2, completed: 3 } as const

/** One order to many servers: how far each is, what failed, and a way to try again only there. */
export const BatchPage = () => {
  const t = textsOf(commandsTexts)
  const { types } = textsOf(fleetTexts)
  const said = useSaid()
  const { batchId } = useParams({ from: '/inside/batches/$batchId' })
  const { page = 1 } = useSearch({ from: '/inside/batches/$batchId' })
  const navigate = useNavigate()
  const { may } = useMay('write')
  const query = useBatch(batchId, page)
  const rows = query.data?.commands ?? []
  const total = query.data?.total ?? 0
  const [newest] = rows
  const { failed } = useBatchState(batchId)
  const waiting = rows.filter(row => row.status === 'pending')
  const [read, setRead] = useState<number | null>(null)
  const [stop] = useState(() => new AbortController())
  useEffect(() => () => stop.abort(), [stop])
  const retry = useMutation({
    mutationFn: async () => {
      setRead(0)
      const again = await failedOf(batchId, failed, stop.signal, setRead)
      // A batch of its own, so that it can be followed like the first.
      return (await agreed(again)) ? orderAgain(again, stop.signal) : []
    },
    onSuccess: ([first, ...more]) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      if (first && more.length === 0)
        void navigate({ to: '/batches/$batchId', params: { batchId: first.batchId }, search: {} })
      // More than one batch takes: the list has them all.
      else if (first) void navigate({ to: '/commands', search: {} })
    },
    onSettled: () => setRead(null),
  })
  const cancel = useMutation({
    mutationFn: async () => {
      for (const row of waiting)
        await api
          .call('DELETE /commands/{commandId}', { params: { commandId: row.id } })
          // Fetched by the host meanwhile: then it is too late for that one.
          .catch((error: unknown) => {
            if (statusOf(error) !== 409) throw error
          })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['commands'] }),
  })
  const back = (
    <ButtonLink to="/commands" variant="default" search={{}}>
      {t.back}
    </ButtonLink>
  )
  if ((query.data && total === 0) || statusOf(query.error) === 400)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.goneBatch}</p>
          {back}
        </div>
      </Page>
    )
  const mixed = new Set(rows.map(said)).size > 1
  const title = !newest
    ? t.title
    : mixed
      ? t.mixedTitle(types[newest.type], number(total))
      : t.batchTitle(said(newest), total)
  const sorted = [...rows].sort((a, b) => urgency[a.status] - urgency[b.status])
  return (
    <Page
      title={title}
      heading={<bdi>{title}</bdi>}
      actions={
        <>
          {may && newest && failed > 0 && (
            <Button loading={retry.isPending} onClick={() => retry.mutate()}>
              {mixed ? t.retryMany(number(failed)) : t.retryFailed(failed)}
            </Button>
          )}
          {may && waiting.length > 0 && (
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              {t.cancelPending(waiting.length)}
            </Button>
          )}
          {back}
        </>
      }
    >
      <Trouble what={t.whatBatch} query={query} />
      {query.isPending && <Waiting lines={5} />}
      {newest && <BatchReceipt key={batchId} batchId={batchId} here />}
      {read !== null && failed > rows.length && (
        <p className={parts.note} role="status">
          {t.collecting(number(read), number(failed))}
        </p>
      )}
      <Refusal error={retry.error ?? cancel.error} />
      {query.data && rows.length === 0 && (
        <PastEnd onFirst={() => navigate({ to: '/batches/$batchId', params: { batchId }, search: {} })} />
      )}
      {rows.length > 0 && (
        <section className={parts.panel}>
          <ul className={fleet.lines} aria-label={title}>
            {sorted.map(row => (
              <li key={row.id} data-command={row.status}>
                <span>
                  <ServerLink row={row} /> {mixed && <span className={parts.muted}>{said(row)} </span>}
                  {row.result?.output && (
                    <span className={parts.help}>
                      <Stranger text={row.result.output.trim()} most={200} />
                    </span>
                  )}
                </span>
                <Link to="/commands/$commandId" params={{ commandId: row.id }} className={parts.link}>
                  <State is={wordOf(row)} />
                </Link>
                <RowAct row={row} short />
              </li>
            ))}
          </ul>
        </section>
      )}
      {total > 100 && (
        <Pages
          page={page}
          limit={100}
          shown={rows.length}
          total={total}
          onPage={to => navigate({ to: '/batches/$batchId', params: { batchId }, search: { page: to } })}
        />
      )}
    </Page>
  )
}
