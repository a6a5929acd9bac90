import { useQuery } from '@tanstack/react-query'
import { useLive } from '../../api/live.ts'
import { syncQuery } from './queries.ts'

/** Which server holds the whitelist: live, or asked for every few seconds where the feed does not get through. */
export const useSync = (enabled = true) => {
  const { phase } = useLive()
  return useQuery({
    ...syncQuery,
    enabled,
    refetchInterval: ({ state }) =>
      state.data?.servers.every(server => server.sync_status === 'synced') ? false : phase === 'live' ? 20_000 : 3000,
  })
}
