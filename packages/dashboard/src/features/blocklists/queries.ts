import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'

/* Blocklists by name. Live messages find them by the first part of the key. */

export type Blocklist = Reply<'GET /lists'>['lists'][number]
export type BlocklistServer = Reply<'GET /lists/{id}/servers'>['servers'][number]
export type BlocklistPreview = Reply<'POST /lists/preview'>

export const blocklistsLimit = 50
export const blocklistsQuery = (page: number, limit = blocklistsLimit) =>
  queryOptions({
    queryKey: ['blocklists', 'list', page, limit],
    queryFn: ({ signal }) => api.call('GET /lists', { query: { page, limit }, signal }),
    placeholderData: keepPreviousData,
  })
export const blocklistQuery = (id: number) =>
  queryOptions({
    queryKey: ['blocklists', 'one', id],
    queryFn: ({ signal }) => api.call('GET /lists/{id}', { params: { id }, signal }),
  })
export const blocklistServersQuery = (id: number, state: BlocklistServer['state']) =>
  queryOptions({
    queryKey: ['blocklists', 'servers', id, state],
    queryFn: ({ signal }) =>
      api.call('GET /lists/{id}/servers', { params: { id }, query: { state, limit: 20 }, signal }),
  })

export const readBlocklistsAgain = () => queries.invalidateQueries({ queryKey: ['blocklists'] })
