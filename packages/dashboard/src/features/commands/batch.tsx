import { useEffect, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { failedOf, orderAgain } from '../fleet/batch.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { useBatch, useBatchState } from '../fleet/receipt.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { useSaid } from '../fleet/said.ts'
import { agreed } from '../fleet/ssh-asked.ts'
import { tellAsked } from '../fleet/undo.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { List } from '../../kit/list.tsx'
import { GonePage } from '../../kit/gone-page.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { batchColumns } from './batch-columns.tsx'
import { commandsTexts } from './commands.texts.ts'
import { RowAct } from './retry.tsx'

/** What failed first, then what goes on. */
const urgency = { failed: 0, timeout: 0, running: 1, pending: 2, completed: 3 } as const
const pageSize = 100
const keyOf = ({ id }: CommandRow) => id
const dataOf = ({ id, status }: CommandRow) => ({ 'data-name': id, 'data-command': status })
const actsOf = (row: CommandRow) => <RowAct row={row} short />

/** Asks again where it failed, as a batch of its own that can be followed like the first. */
const useRetryFailed = (batchId: string, failed: number, what: string) => {
  const t = textsOf(commandsTexts)
  const navigate = useNavigate()
  const [read, setRead] = useState<number | null>(null)
  const [stop] = useState(() => new AbortController())
  useEffect(() => () => stop.abort(), [stop])
  const retry = useMutation({
    mutationFn: async () => {
      setRead(0)
      const again = await failedOf(batchId, failed, stop.signal, setRead)
      return (await agreed(again)) ? orderAgain(again, stop.signal) : []
    },
    onSuccess: made => {
      const [first, ...more] = made
      void queries.invalidateQueries({ queryKey: ['commands'] })
      for (const { batchId: id, total } of made) tellAsked(t.asking(what, total), [], id)
      if (first && more.length === 0)
        void navigate({ to: '/batches/$batchId', params: { batchId: first.batchId }, search: {} })
      // More than one batch takes: the list has them all.
      else if (first) void navigate({ to: '/commands', search: {} })
    },
    onSettled: () => setRead(null),
  })
  return { retry, read }
}

const useCancelWaiting = (waiting: readonly CommandRow[]) =>
  useMutation({
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

/** What a batch asks for: one thing, or different things of one kind. */
const useBatchWords = (rows: readonly CommandRow[], total: number) => {
  const t = textsOf(commandsTexts)
  const { types } = textsOf(fleetTexts)
  const outputWords = useSaid()
  const [newest] = rows
  if (!newest) return { title: t.title, what: t.title, isMixed: false }
  const isMixed = new Set(rows.map(outputWords)).size > 1
  const what = isMixed ? types[newest.type] : outputWords(newest)
  return { title: isMixed ? t.mixedTitle(what, number(total)) : t.batchTitle(what, total), what, isMixed }
}

/** One request to many servers: how far each is, what failed, and a way to try again only there. */
export const BatchPage = () => {
  const t = textsOf(commandsTexts)
  const { batchId } = useParams({ from: '/inside/batches/$batchId' })
  const { page = 1 } = useSearch({ from: '/inside/batches/$batchId' })
  const navigate = useNavigate()
  const { may } = useMay('write')
  const query = useBatch(batchId, page)
  const { commands: rows, total } = query.data ?? { commands: [], total: 0 }
  const { failed } = useBatchState(batchId)
  const waiting = rows.filter(row => row.status === 'pending')
  const { title, what, isMixed } = useBatchWords(rows, total)
  const { retry, read } = useRetryFailed(batchId, failed, what)
  const cancel = useCancelWaiting(waiting)
  if ((query.data && total === 0) || statusOf(query.error) === 400) return <GoneBatch />
  return (
    <Page
      title={title}
      heading={<bdi>{title}</bdi>}
      above={<Link to="/commands">{t.title}</Link>}
      actions={
        may &&
        waiting.length + failed > 0 && (
          <BatchActs waiting={waiting.length} failed={failed} isMixed={isMixed} retry={retry} cancel={cancel} />
        )
      }
    >
      {rows.length > 0 && <BatchReceipt key={batchId} batchId={batchId} here />}
      {read !== null && failed > rows.length && (
        <p className={parts.note} role="status">
          {t.collecting(number(read), number(failed))}
        </p>
      )}
      <Refusal error={retry.error ?? cancel.error} />
      <List
        what={t.whatBatch}
        caption={title}
        query={query}
        rows={query.data && [...rows].sort((a, b) => urgency[a.status] - urgency[b.status])}
        columns={batchColumns(isMixed)}
        keyOf={keyOf}
        dataOf={dataOf}
        acts={actsOf}
        page={page}
        limit={pageSize}
        total={total}
        onPage={to =>
          void navigate({ to: '/batches/$batchId', params: { batchId }, search: to === 1 ? {} : { page: to } })
        }
        empty={null}
        noMatch=""
        filters={[]}
        onClear={() => {}}
      />
    </Page>
  )
}

const BatchActs = (props: {
  waiting: number
  failed: number
  isMixed: boolean
  retry: ReturnType<typeof useRetryFailed>['retry']
  cancel: ReturnType<typeof useCancelWaiting>
}) => {
  const t = textsOf(commandsTexts)
  const { waiting, failed, isMixed, retry, cancel } = props
  return (
    <>
      {waiting > 0 && (
        <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          {t.cancelPending(waiting)}
        </Button>
      )}
      {failed > 0 && (
        <Button loading={retry.isPending} onClick={() => retry.mutate()}>
          {isMixed ? t.retryMany(number(failed)) : t.retryFailed(failed)}
        </Button>
      )}
    </>
  )
}

const GoneBatch = () => {
  const t = textsOf(commandsTexts)
  return (
    <GonePage title={t.title} text={t.goneBatch}>
      <ButtonLink to="/commands" variant="default" search={{}}>
        {t.back}
      </ButtonLink>
    </GonePage>
  )
}
