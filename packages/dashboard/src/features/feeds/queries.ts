import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'

export const feedsQuery = queryOptions({
  queryKey: ['feeds', 'list'],
  queryFn: ({ signal }) => api.call('GET /fleet/feeds', { signal }),
})
export const readFeedsAgain = () => queries.invalidateQueries({ queryKey: ['feeds'] })
