import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'

/* Fleet bans by name. Live messages find them by the first part of the key. */

export type FleetBan = Reply<'GET /fleet/bans'>['fleet_bans'][number]
export type FleetBanServer = Reply<'GET /fleet/bans/{id}/servers'>['servers'][number]

export const fleetBansLimit = 100
export interface FleetBansAsked {
  readonly active: boolean
  readonly page: number
  readonly search?: string
  readonly limit: number
}
export const fleetBansQuery = (asked: FleetBansAsked) =>
  queryOptions({
    queryKey: ['fleet-bans', 'list', asked],
    queryFn: ({ signal }) => api.call('GET /fleet/bans', { query: asked, signal }),
    placeholderData: keepPreviousData,
  })
export const fleetBanQuery = (id: number) =>
  queryOptions({
    queryKey: ['fleet-bans', 'one', id],
    queryFn: ({ signal }) => api.call('GET /fleet/bans/{id}', { params: { id }, signal }),
  })
/** The servers of a fleet ban; who wants those that do not hold it asks for one state after another. */
export const fleetBanServersQuery = (id: number, state: FleetBanServer['state']) =>
  queryOptions({
    queryKey: ['fleet-bans', 'servers', id, state],
    queryFn: ({ signal }) =>
      api.call('GET /fleet/bans/{id}/servers', { params: { id }, query: { state, limit: 20 }, signal }),
  })
