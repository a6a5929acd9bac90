import type { ReactNode } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'

/** The newest changes of settings; who looks for older ones goes to the audit log. */
export const changesQuery = queryOptions({
  queryKey: ['settings', 'changes'],
  queryFn: async ({ signal }) => {
    const { entries } = await api.call('GET /settings/audit', {
      query: { action: 'settings.update', limit: 100 },
      signal,
    })
    const latest = new Map<string, { user: string; at: string }>()
    for (const { user, timestamp, details } of entries) {
      const name = String(details.field)
      if (!latest.has(name)) latest.set(name, { user, at: timestamp })
    }
    return latest
  },
})

/** Author and time of the last change; nothing if it is long ago. `of` is the name in the audit log. */
export const Changed = ({ of }: { of: string }) => {
  const t = textsOf(settingsTexts)
  const last = useQuery(changesQuery).data?.get(of)
  return last ? (
    <span className={styles.changed}>
      {t.changedBy} <Stranger text={last.user} most={60} />, <Time at={last.at} />
    </span>
  ) : null
}

export const Help = ({ of, children }: { of: string; children: ReactNode }) => (
  <>
    {children} <Changed of={of} />
  </>
)
