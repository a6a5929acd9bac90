import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'

/* One fleet ban and how far its servers are. Live messages find the keys by their first part. */

export type FleetBan = Reply<'GET /fleet/bans'>['fleet_bans'][number]
export type FleetBanServer = Reply<'GET /fleet/bans/{id}/servers'>['servers'][number]

export const fleetBanQuery = (id: number) =>
  queryOptions({
    queryKey: ['fleet-bans', 'one', id],
    queryFn: ({ signal }) => api.call('GET /fleet/bans/{id}', { params: { id }, signal }),
  })
/** The servers of a fleet ban; who wants those that do not hold it asks for one state after another. */
export const fleetBanServersQuery = (
  id: number,
  narrowing: { readonly state?: FleetBanServer['state']; readonly online?: boolean; readonly limit: number },
) =>
  queryOptions({
    queryKey: ['fleet-bans', 'servers', id, narrowing],
    queryFn: ({ signal }) => api.call('GET /fleet/bans/{id}/servers', { params: { id }, query: narrowing, signal }),
  })
/** How many stand now. */
export const standingFleetBansQuery = queryOptions({
  queryKey: ['fleet-bans', 'standing'],
  queryFn: ({ signal }) => api.call('GET /fleet/bans', { query: { active: true, limit: 1 }, signal }),
})
