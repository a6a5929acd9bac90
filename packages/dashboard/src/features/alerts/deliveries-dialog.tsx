import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Loading } from '../../kit/loading.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { alertChannelsTexts } from './alert-channels.texts.ts'

const tones: Readonly<Record<'sent' | 'retry' | 'dropped', Tone>> = { sent: 'ok', retry: 'warn', dropped: 'danger' }

/** The last attempts to deliver to a channel, with what was answered. */
const DeliveriesDialog = ({ is, onClose }: { is: { id: string; name: string }; onClose: () => void }) => {
  const t = textsOf(alertChannelsTexts)
  const query = useQuery({
    queryKey: ['channels', is.id, 'deliveries'],
    queryFn: ({ signal }) => api.call('GET /channels/{id}/deliveries', { params: { id: is.id }, signal }),
  })
  return (
    <Dialog title={t.logOf(is.name)} onClose={onClose}>
      <Loading what={t.what} query={query} lines={3} />
      {query.data?.total === 0 && <p className={parts.muted}>{t.logEmpty}</p>}
      <ul className={parts.apart}>
        {query.data?.deliveries.map(({ id, at, outcome, title, detail }) => (
          <li key={id}>
            <Mark tone={tones[outcome]}>{t.outcomes[outcome]}</Mark> <Stranger text={title} most={200} />{' '}
            <span className={parts.muted}>
              <Time at={at} /> · <Stranger text={detail} most={300} />
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
export default DeliveriesDialog
