import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import fleet from '../fleet/fleet.module.css'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { ipTexts } from './ip.texts.ts'

const mostListed = 8
const tones = { success: 'ok', failed: 'warn', blocked: 'danger' } as const
/** Asked for by a click: they are part of a licence that not everybody has. */
export const Knocks = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const query = useQuery({
    queryKey: ['portknock', 'of', ip],
    queryFn: ({ signal }) => api.call('GET /portknock/history', { query: { ip, limit: mostListed }, signal }),
  })
  const rows = query.data?.history
  return (
    <Panel title={t.knocks}>
      <Loading what={t.whatKnocks} query={query} lines={2} />
      {rows?.length === 0 && <p className={parts.muted}>{t.knocksNone}</p>}
      <ul className={fleet.lines}>
        {rows?.map(knock => (
          <li key={knock.id}>
            <span>
              <Stranger text={knock.sequence_name} most={60} /> · <Stranger text={knock.server.hostname} most={60} /> ·{' '}
              <Time at={knock.timestamp} />
            </span>
            <Mark tone={tones[knock.status]}>{t.statuses[knock.status]}</Mark>
          </li>
        ))}
      </ul>
      {rows && query.data && query.data.total > rows.length && (
        <p className={parts.muted}>{t.knocksShown(rows.length, number(query.data.total))}</p>
      )}
    </Panel>
  )
}
