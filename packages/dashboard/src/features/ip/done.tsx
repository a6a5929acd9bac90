import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { around } from '../../lib/clip.ts'
import { auditTexts } from '../audit/audit.texts.ts'
import { linkOf } from '../audit/filter.ts'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'

type Entry = Reply<'GET /settings/audit'>['entries'][number]
const mostListed = 8
const minute = 60_000

/** One line for what one user did at once on many servers: the log has an entry for each. */
export const together = (entries: readonly Entry[]): readonly { entry: Entry; count: number }[] => {
  const groups: { entry: Entry; count: number }[] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    const isSame =
      last?.entry.action === entry.action &&
      last.entry.user === entry.user &&
      Math.abs(Date.parse(last.entry.timestamp) - Date.parse(entry.timestamp)) < minute
    if (last && isSame) last.count++
    else groups.push({ entry, count: 1 })
  }
  return groups
}

/** What the audit log says of an address. */
export const Done = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const { actions }: { actions: Readonly<Record<string, string>> } = textsOf(auditTexts)
  const query = useQuery({
    queryKey: ['audit', 'of', ip],
    queryFn: ({ signal }) => api.call('GET /settings/audit', { query: { q: `"${ip}"`, limit: 50 }, signal }),
  })
  // The search finds longer addresses too, which begin or end with this one.
  const entries = query.data?.entries.filter(
    entry => entry.ip_address === ip || around(JSON.stringify(entry.details), ip).length > 1,
  )
  return (
    <Panel
      title={t.wasDone}
      aside={
        <Link to="/audit" search={{ q: `"${ip}"` }} className={styles.accent}>
          {t.audit}
        </Link>
      }
    >
      <Loading what={t.whatAudit} query={query} lines={2} />
      {entries?.length === 0 && <p className={parts.muted}>{t.auditNone}</p>}
      <ol className={styles.done}>
        {together(entries ?? [])
          .slice(0, mostListed)
          .map(({ entry, count }) => (
            <li key={entry.id}>
              <Link to="/audit" search={linkOf(entry)}>
                {actions[entry.action] ?? entry.action}
                {count > 1 && ` × ${count}`}
              </Link>
              <span className={styles.dim}>
                <Stranger text={entry.user ?? ''} most={60} /> <Time at={entry.timestamp} />
              </span>
            </li>
          ))}
      </ol>
    </Panel>
  )
}
