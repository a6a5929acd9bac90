import { useQuery } from '@tanstack/react-query'
import { useLive } from '../../api/live.ts'
import { syncQuery } from './queries.ts'

/** So long a page waits for the feed before it asks by itself, milliseconds: it connects after the first answers. */
const patience = 10_000
const whileLive = 20_000
const whilePolling = 3000

/** Which server holds the whitelist: live, or asked for every few seconds where the feed does not get through. */
export const useSync = (enabled = true) => {
  const { phase, since } = useLive()
  return useQuery({
    ...syncQuery,
    enabled,
    refetchInterval: ({ state }) => {
      if (state.data?.servers.every(server => server.sync_status === 'synced')) return false
      return phase === 'polling' ? Math.max(whilePolling, since + patience - Date.now()) : whileLive
    },
  })
}
