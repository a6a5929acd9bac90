import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { announce } from '../../kit/announce.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { Confirm } from '../identity/dialogs.ts'
import { healthOf } from './delivery-words.ts'
import { pollEvery, pollRarely, queueQuery, statusQuery, typesQuery } from './queries.ts'
import { SiemPage, ToDestination } from './siem-page.tsx'
import { siemTexts } from './siem.texts.ts'

export const Queue = () => {
  const t = textsOf(siemTexts)
  const [asking, setAsking] = useState(false)
  const [discarded, setDiscarded] = useState<string | null>(null)
  const size = useQuery({ ...queueQuery, enabled: false }).data?.queue_size ?? 0
  const flush = useMutation({
    mutationFn: () => api.call('POST /siem/flush'),
    onMutate: () => setDiscarded(null),
    onSuccess: ({ message }) => announce(message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['siem'] }),
  })
  const discard = async () => {
    flush.reset()
    const { message } = await api.call('DELETE /siem/queue')
    setDiscarded(message)
    announce(message)
    await queries.invalidateQueries({ queryKey: ['siem'] })
  }
  return (
    <SiemPage
      section="queue"
      actions={
        size > 0 && (
          <>
            <Button variant="danger-outline" onClick={() => setAsking(true)}>
              {t.discard}
            </Button>
            <Button onClick={() => flush.mutate()} loading={flush.isPending}>
              {t.flushNow}
            </Button>
          </>
        )
      }
    >
      {() => (
        <>
          <Refusal error={flush.error} />
          {(flush.data || discarded) && <p className={parts.note}>{flush.data?.message ?? discarded}</p>}
          <Waiters />
          {asking && (
            <Dialogs>
              <Confirm
                title={t.discardTitle}
                text={t.discardText(size, number(size))}
                verb={t.discardNow}
                name={t.discardWord}
                nameLabel={t.discardType(t.discardWord)}
                act={discard}
                onClose={() => setAsking(false)}
              />
            </Dialogs>
          )}
        </>
      )}
    </SiemPage>
  )
}

const Waiters = () => {
  const t = textsOf(siemTexts)
  const queue = useQuery({ ...queueQuery, refetchInterval: pollEvery })
  const { queue_size: size, events = [] } = queue.data ?? { queue_size: 0 }
  return (
    <>
      <Loading what={t.what.queue} query={queue} />
      <Why />
      {queue.data && size === 0 && (
        <div className={parts.empty}>
          <strong>{t.queueEmpty}</strong>
          <p>{t.queueEmptyText}</p>
        </div>
      )}
      {size > 0 && (
        <>
          <p role="status">
            <strong>{t.queueSize(size, number(size))}</strong>{' '}
            {size > events.length && t.queueNewest(number(events.length))}
          </p>
          <Rows />
        </>
      )}
    </>
  )
}

/** Why events wait, where it is not only that they have just come. */
const Why = () => {
  const t = textsOf(siemTexts)
  const query = useQuery({ ...statusQuery, refetchInterval: pollRarely })
  const status = query.data
  if (!status) return <Trouble what={t.what.status} query={query} />
  const health = healthOf(status)
  if (health === 'off')
    return (
      <p className={parts.note}>
        {t.queueOff} <ToDestination />
      </p>
    )
  if (health !== 'failing') return null
  return (
    <div className={parts.warn}>
      <strong>{t.health.failing}</strong>
      <p>
        <Stranger text={status.last_error ?? ''} most={300} />{' '}
        <Link to="/siem/delivery" className={parts.link}>
          {t.checksTitle}
        </Link>
      </p>
    </div>
  )
}

const Rows = () => {
  const t = textsOf(siemTexts)
  const narrow = useNarrow()
  const rows = useQuery({ ...queueQuery, enabled: false }).data?.events ?? []
  const types = useQuery(typesQuery).data
  const nameOf = (type: string) => types?.find(({ id }) => id === type)?.name ?? type
  if (narrow)
    return (
      <ul className={parts.cards}>
        {rows.map(({ id, type, created_at, retry_count }) => (
          <li key={id} className={parts.card} data-event={id}>
            <div className={parts.cardTop}>
              <span>{nameOf(type)}</span>
              <Time at={created_at} />
            </div>
            <div className={parts.facts}>
              <span className={parts.mono}>{id}</span>
              <span>{retry_count === 0 ? t.notTried : t.retries(retry_count)}</span>
            </div>
          </li>
        ))}
      </ul>
    )
  return (
    <PlainTable caption={t.queueCaption} heads={headsOf(t.queueColumns, { retries: parts.end })} frame={parts.frame}>
      {rows.map(({ id, type, created_at, retry_count }) => (
        <tr key={id} data-event={id}>
          <td>
            <Time at={created_at} />
          </td>
          <td>{nameOf(type)}</td>
          <td className={parts.mono}>{id}</td>
          <td className={parts.end}>{number(retry_count)}</td>
        </tr>
      ))}
    </PlainTable>
  )
}
