import { MutationCache, QueryCache, QueryClient, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { ApiError, api, statusOf } from './client.ts'
import { every } from './quiet.ts'
import { begins } from './requests.ts'

/* What is read from the API, by name. Keys begin with the resource, so that a live message finds all it concerns. */

/** Tries again what may pass the next time: no answer, 5xx, and 429 after the time that the server names. */
export const tryAgain = (failures: number, error: unknown): boolean => {
  const status = statusOf(error)
  if (status === 429) return failures < 5
  return status === null || status >= 500 ? failures < 2 : false
}
const wait = (failures: number, error: unknown): number =>
  error instanceof ApiError && error.retryAfter !== null
    ? error.retryAfter * 1000
    : Math.min(8000, 500 * 2 ** failures) * (0.75 + Math.random() / 2)

let sessionEnded: (() => void) | null = null
/** What happens when the API no longer knows the session of someone who was signed in. */
export const onSessionEnd = (act: () => void): void => {
  sessionEnded = act
}
let factorMissing: (() => void) | null = null
/** What happens when the API refuses all but setting up a second factor. */
export const onFactorMissing = (act: () => void): void => {
  factorMissing = act
}
/** A 403 may be about a role, or about a second factor that is required since: one's own account tells which. */
const askWhy = async (): Promise<void> => {
  try {
    await api.call('GET /users/me')
  } catch (error) {
    if (statusOf(error) === 403) factorMissing?.()
  }
}
const onError = (error: unknown) => {
  const me = queries.getQueryData(meQuery.queryKey)
  if (me === undefined) return
  if (statusOf(error) === 401) sessionEnded?.()
  if (statusOf(error) === 403) void askWhy()
}
/** For changes that take a password or a code: a 401 may mean that it was wrong, and the session goes on. */
export const mayBeWrong = { mayBeWrong: true } as const

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, mutation) => {
      if (mutation.meta?.mayBeWrong !== true) onError(error)
      else if (statusOf(error) === 401) void queries.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => {})
    },
  }),
  defaultOptions: {
    queries: {
      retry: tryAgain,
      retryDelay: wait,
      // Changes come by the live feed; what it does not tell is asked for where it is shown.
      staleTime: 30_000,
      refetchOnWindowFocus: true,
      // The browser's idea of being online is often wrong: a request is the only proof.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/*
 * A query that failed before it had data is pending again with each retry. The error stays until
 * there is an answer: a page that asks at intervals would otherwise change between its error and its skeleton.
 */
const wrong = new WeakMap<Query, unknown>()
queries.getQueryCache().subscribe(event => {
  if (event.type !== 'updated') return
  const { query, action } = event
  if (action.type === 'fetch') begins(query)
  const error = wrong.get(query)
  if (action.type === 'error') wrong.set(query, action.error)
  else if (action.type === 'success') wrong.delete(query)
  else if (action.type === 'fetch' && error && query.state.data === undefined)
    query.setState({ status: 'error', error })
})

export type Me = Reply<'GET /auth/me'>
export type Options = Reply<'GET /auth/options'>
export type ServerRow = Reply<'GET /servers'>['servers'][number]
export type Server = Reply<'GET /servers/{serverId}'>
export type Ban = Reply<'GET /bans'>['bans'][number]
export type Command = Reply<'GET /commands/{commandId}'>

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => api.call('GET /auth/me', { signal }),
  staleTime: 5 * 60_000,
})

export const optionsQuery = queryOptions({
  queryKey: ['options'],
  queryFn: ({ signal }) => api.call('GET /auth/options', { signal }),
  staleTime: Infinity,
})

/** `GET /bootstrap` leaves the preferences of the account here. */
export const keptPreferencesKey = ['preferences', 'kept'] as const

export interface ServersFilter {
  /** In the grammar of searches. */
  readonly q?: string | undefined
  readonly page: number
}
export const serversLimit = 100
export const serversQuery = (filter: ServersFilter) =>
  queryOptions({
    queryKey: ['servers', filter],
    queryFn: ({ signal }) =>
      api.call('GET /servers', {
        query: {
          page: filter.page,
          limit: serversLimit,
          bans_24h: true,
          ...(filter.q ? { q: filter.q } : {}),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    // Metrics and heartbeats are not part of the live feed.
    refetchInterval: every(30_000),
  })

export const summaryQuery = queryOptions({
  queryKey: ['servers', 'summary'],
  queryFn: ({ signal }) => api.call('GET /servers/summary', { signal }),
})

/** Of servers that the caller sees. Not under `servers`: live messages patch what is there as lists of servers. */
export const tagsQuery = queryOptions({
  queryKey: ['tags'],
  queryFn: ({ signal }) => api.call('GET /servers/tags', { signal }),
})

export const serverQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['server', serverId],
    queryFn: ({ signal }) => api.call('GET /servers/{serverId}', { params: { serverId }, signal }),
  })

export const jailsQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['server', serverId, 'jails'],
    queryFn: ({ signal }) => api.call('GET /servers/{serverId}/jails', { params: { serverId }, signal }),
  })

export const banQuery = (banId: number) =>
  queryOptions({
    queryKey: ['ban', banId],
    queryFn: ({ signal }) => api.call('GET /bans/{banId}', { params: { banId }, signal }),
  })

export const commandQuery = (commandId: string) =>
  queryOptions({
    queryKey: ['command', commandId],
    queryFn: ({ signal }) => api.call('GET /commands/{commandId}', { params: { commandId }, signal }),
  })
