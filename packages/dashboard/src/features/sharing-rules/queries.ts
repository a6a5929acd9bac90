import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import type { BodyOf, rules } from '@stockade/contract'
import { api } from '../../api/client.ts'

export type Rule = Reply<'GET /rules'>['rules'][number]
export type RuleInput = Omit<BodyOf<typeof rules.createRule>, 'name'>
export type Simulation = Reply<'POST /rules/simulate'>
export type RuleMatch = Reply<'GET /rules/{id}/matches'>['matches'][number]

export const rulesQuery = queryOptions({
  queryKey: ['rules', 'list'],
  queryFn: ({ signal }) => api.call('GET /rules', { signal }),
})
const matchesShown = 50
export const ruleMatchesQuery = (id: number) =>
  queryOptions({
    queryKey: ['rules', 'matches', id],
    queryFn: ({ signal }) =>
      api.call('GET /rules/{id}/matches', { params: { id }, query: { limit: matchesShown }, signal }),
  })
