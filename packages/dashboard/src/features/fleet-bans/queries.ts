import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/* The list of fleet bans by name. Live messages find them by the first part of the key. */

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
