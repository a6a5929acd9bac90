import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'

export type User = Reply<'GET /users'>['users'][number]
export type UserDetail = Reply<'GET /users/{userId}'>
export type Session = Reply<'GET /users/{userId}/sessions'>['sessions'][number]
export type Key = Reply<'GET /users/{userId}/keys'>['keys'][number]
export type Role = User['role']
export type Permission = Key['permissions']

export const userQuery = (userId: number) =>
  queryOptions({
    queryKey: ['user', userId],
    queryFn: ({ signal }) => api.call('GET /users/{userId}', { params: { userId }, signal }),
  })
export const sessionsQuery = (userId: number) =>
  queryOptions({
    queryKey: ['user', userId, 'sessions'],
    queryFn: ({ signal }) => api.call('GET /users/{userId}/sessions', { params: { userId }, signal }),
    staleTime: 0,
  })
export const keysQuery = (userId: number) =>
  queryOptions({
    queryKey: ['user', userId, 'keys'],
    queryFn: ({ signal }) => api.call('GET /users/{userId}/keys', { params: { userId }, signal }),
  })

export interface UsersFilter {
  readonly search?: string | undefined
  readonly role?: Role | undefined
  readonly page: number
}
export const usersLimit = 50
export const usersQuery = (filter: UsersFilter) =>
  queryOptions({
    queryKey: ['users', filter],
    queryFn: ({ signal }) =>
      api.call('GET /users', {
        query: {
          page: filter.page,
          limit: usersLimit,
          ...(filter.search ? { search: filter.search } : {}),
          ...(filter.role ? { role: filter.role } : {}),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
/** How many admins there are: the last one can't be demoted or deleted. */
export const adminsQuery = queryOptions({
  queryKey: ['users', 'admins'],
  queryFn: async ({ signal }) => (await api.call('GET /users', { query: { role: 'Admin', limit: 1 }, signal })).total,
})

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => api.call('GET /settings', { signal }),
})
export const oauthQuery = queryOptions({
  queryKey: ['settings', 'oauth'],
  queryFn: ({ signal }) => api.call('GET /settings/oauth', { signal }),
})
export const chatQuery = queryOptions({
  queryKey: ['settings', 'chat'],
  queryFn: ({ signal }) => api.call('GET /settings/chat', { signal }),
})
export const emailQuery = queryOptions({
  queryKey: ['settings', 'email'],
  queryFn: ({ signal }) => api.call('GET /settings/email', { signal }),
})
export const reputationQuery = queryOptions({
  queryKey: ['settings', 'reputation'],
  queryFn: ({ signal }) => api.call('GET /settings/reputation', { signal }),
})
export const licenceQuery = queryOptions({
  queryKey: ['settings', 'licence'],
  queryFn: ({ signal }) => api.call('GET /settings/license', { signal }),
})

/** Reads everything shown of a user again, and the lists that contain the user. */
export const forgetUser = (userId: number): Promise<void> => {
  void queries.invalidateQueries({ queryKey: ['users'] })
  return queries.invalidateQueries({ queryKey: ['user', userId] })
}
