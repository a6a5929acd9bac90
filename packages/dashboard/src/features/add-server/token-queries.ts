import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'

export type EnrolmentToken = Reply<'GET /servers/enrolment-tokens'>['tokens'][number]

/** Servers enrol while one looks, and the live feed says nothing of tokens. */
const again = { staleTime: 0, refetchInterval: every(10_000) }
export const tokensQuery = queryOptions({
  queryKey: ['enrolment-tokens'],
  queryFn: ({ signal }) => api.call('GET /servers/enrolment-tokens', { signal }),
  ...again,
})
export const tokenQuery = (id: number) =>
  queryOptions({
    queryKey: ['enrolment-tokens', id],
    queryFn: ({ signal }) => api.call('GET /servers/enrolment-tokens/{id}', { params: { id }, signal }),
    ...again,
  })
export const readTokensAgain = () => queries.invalidateQueries({ queryKey: ['enrolment-tokens'] })
