import { api } from '../api/client.ts'
import { resumeFeedAt } from '../api/feed.ts'
import { keptPreferencesKey, meQuery, optionsQuery, queries, summaryQuery } from '../api/queries.ts'
import type { Me } from '../api/queries.ts'
import { entered } from './entered.ts'
import { licenceQuery } from '../features/identity/queries.ts'

/** The first request of a signed-in page: its reply fills the cache with what every page needs. Answers 401 like `GET /auth/me`. */
const readBootstrap = async ({ signal }: { signal: AbortSignal }): Promise<Me> => {
  const { me, options, preferences, summary, license, live_position } = await api.call('GET /bootstrap', { signal })
  resumeFeedAt(live_position)
  entered.note(true)
  // What the page has read before stays: the set-up goes on to its next step by it.
  queries.setQueryData(optionsQuery.queryKey, known => known ?? options)
  if (preferences) queries.setQueryData(keptPreferencesKey, preferences.preferences)
  if (summary) queries.setQueryData(summaryQuery.queryKey, summary)
  if (license) queries.setQueryData(licenceQuery.queryKey, license)
  return me
}
export const bootstrapQuery = { ...meQuery, queryFn: readBootstrap }
