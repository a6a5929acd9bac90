import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { Coverage } from '../../kit/coverage.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import styles from './agent-address.module.css'
import { agentAddressTexts } from './agent-address.texts.ts'
import { addressQuery, movesQuery } from './queries.ts'
import type { Address, Move } from './queries.ts'

const OrderDialog = lazy(() => import('./order-dialog.tsx'))

const order = async (url: string | null) => {
  await api.call('PUT /agents/address', { body: { url } })
  await queries.invalidateQueries({ queryKey: addressQuery.queryKey })
}

/** Under which URL servers reach this Stockade, and the order to use another one. */
export const AddressPanel = () => {
  const t = textsOf(agentAddressTexts)
  const query = useQuery(addressQuery)
  return (
    <Panel title={t.title}>
      <Loading what={t.what} query={query} lines={3} />
      {query.data && <Present is={query.data} />}
    </Panel>
  )
}

const Present = ({ is }: { is: Address }) => {
  const t = textsOf(agentAddressTexts)
  return (
    <div className={styles.main}>
      <dl className={parts.details}>
        <dt>{t.now}</dt>
        <dd>
          <Stranger text={is.base_url} most={300} />
        </dd>
        {is.url !== null && (
          <>
            <dt>{t.ordered}</dt>
            <dd>
              <Stranger text={is.url} most={300} />{' '}
              <span className={parts.muted}>
                {is.ordered_at !== null && <Time at={is.ordered_at} />} {is.ordered_by !== null && t.by(is.ordered_by)}
              </span>
            </dd>
          </>
        )}
      </dl>
      {is.url === null ? <p className={parts.help}>{t.none}</p> : <Progress is={is} />}
      <Acts is={is} />
    </div>
  )
}

const shownStates = ['failed', 'moved', 'trying', 'waiting'] as const
const Progress = ({ is }: { is: Address }) => {
  const t = textsOf(agentAddressTexts)
  const { moved, trying, waiting, failed } = is.counts
  const words = shownStates.flatMap(state =>
    is.counts[state] > 0 ? [t.counts[state](is.counts[state], number(is.counts[state]))] : [],
  )
  if (words.length === 0) return <p className={parts.help}>{t.noServers}</p>
  return (
    <>
      <p role="status">
        <Coverage held={moved} running={trying + waiting} failed={failed} />{' '}
        <span className={parts.muted}>{words.join(', ')}</span>
      </p>
      <Servers is={is} />
    </>
  )
}

const tones: Readonly<Record<Move['state'], Tone>> = {
  failed: 'danger',
  trying: 'info',
  waiting: 'neutral',
  moved: 'ok',
}
const Servers = ({ is }: { is: Address }) => {
  const t = textsOf(agentAddressTexts)
  const query = useQuery(movesQuery(is))
  const rows = query.data?.servers ?? []
  const rest = (query.data?.total ?? 0) - rows.length
  return (
    <section aria-label={t.servers}>
      <Trouble what={t.what} query={query} />
      <ul className={parts.apart}>
        {rows.map(({ server, state, reason, changed_at }) => (
          <li key={server.id}>
            <Mark tone={tones[state]}>{t.states[state]}</Mark>{' '}
            <Link to="/servers/$serverId" params={{ serverId: server.id }}>
              <Stranger text={server.hostname} most={60} />
            </Link>{' '}
            {changed_at !== null && (
              <span className={parts.muted}>
                <Time at={changed_at} />
              </span>
            )}
            {reason !== null && (
              <div className={parts.help}>
                <Stranger text={reason} most={300} />
              </div>
            )}
          </li>
        ))}
        {rest > 0 && <li className={parts.muted}>{t.more(rest, number(rest))}</li>}
      </ul>
    </section>
  )
}

const Acts = ({ is }: { is: Address }) => {
  const t = textsOf(agentAddressTexts)
  const [asked, setAsked] = useState<'order' | 'withdraw' | null>(null)
  const again = useMutation({ mutationFn: order })
  const close = () => setAsked(null)
  return (
    <>
      <Refusal error={again.error} />
      <div className={parts.row}>
        <Button variant={is.url === null ? 'default' : 'subtle'} onClick={() => setAsked('order')}>
          {t.order}
        </Button>
        {is.url !== null && is.counts.failed > 0 && (
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate(is.url)}>
            {t.again}
          </Button>
        )}
        {is.url !== null && (
          <Button variant="default" onClick={() => setAsked('withdraw')}>
            {t.withdraw}
          </Button>
        )}
      </div>
      <Dialogs>
        {asked === 'order' && <OrderDialog is={is} order={order} onClose={close} />}
        {asked === 'withdraw' && (
          <Confirm
            title={t.withdrawTitle}
            text={t.withdrawText}
            verb={t.withdraw}
            act={() => order(null)}
            onClose={close}
          />
        )}
      </Dialogs>
    </>
  )
}
