import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { QueryOf, commands, templates, whitelist } from '@stockade/contract'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'

/* What the pages of the fleet read, by name. Keys begin with the resource: live messages find it by them. */

export type LookUp = Reply<'GET /bans/lookup/{ip}'>
export type Entry = Reply<'GET /whitelist'>['whitelist'][number]
export type Sync = Reply<'GET /whitelist/sync-status'>['servers'][number]
export type CommandRow = Reply<'GET /commands'>['commands'][number]
export type CommandType = CommandRow['type']
export type TemplateRow = Reply<'GET /templates'>['templates'][number]
export type Template = Reply<'GET /templates/{templateId}'>
export type Period = 'day' | 'week' | 'month'

export const lookUpQuery = (ip: string) =>
  queryOptions({
    queryKey: ['lookup', ip],
    queryFn: ({ signal }) => api.call('GET /bans/lookup/{ip}', { params: { ip }, signal }),
  })

export const whitelistLimit = 100
export const whitelistQuery = (query: QueryOf<typeof whitelist.listWhitelist>) =>
  queryOptions({
    queryKey: ['whitelist', 'list', query],
    queryFn: ({ signal }) => api.call('GET /whitelist', { query: { ...query, limit: whitelistLimit }, signal }),
    placeholderData: keepPreviousData,
  })
export const checkQuery = (ip: string) =>
  queryOptions({
    queryKey: ['whitelist', 'check', ip],
    queryFn: ({ signal }) => api.call('GET /whitelist/check/{ip}', { params: { ip }, signal }),
  })
export const syncQuery = queryOptions({
  queryKey: ['whitelist', 'sync'],
  queryFn: ({ signal }) => api.call('GET /whitelist/sync-status', { signal }),
})

export const whitelistNamesQuery = queryOptions({
  queryKey: ['whitelist', 'names'],
  queryFn: ({ signal }) => api.call('GET /whitelist/names', { signal }),
})

export const commandsLimit = 50
export const commandsQuery = (query: QueryOf<typeof commands.listCommands>) =>
  queryOptions({
    queryKey: ['commands', query],
    queryFn: ({ signal }) => api.call('GET /commands', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const commandStatsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['commands', 'stats', period],
    queryFn: ({ signal }) => api.call('GET /commands/stats', { query: { period }, signal }),
    placeholderData: keepPreviousData,
  })

export const templatesQuery = (query: QueryOf<typeof templates.listTemplates>) =>
  queryOptions({
    queryKey: ['templates', query],
    queryFn: ({ signal }) => api.call('GET /templates', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const templateQuery = (templateId: string) =>
  queryOptions({
    queryKey: ['template', templateId],
    queryFn: ({ signal }) => api.call('GET /templates/{templateId}', { params: { templateId }, signal }),
  })
export const templateStatusQuery = (templateId: string) =>
  queryOptions({
    queryKey: ['template', templateId, 'status'],
    queryFn: ({ signal }) => api.call('GET /templates/{templateId}/status', { params: { templateId }, signal }),
  })

export const serverStatsQuery = (serverId: string, period: Period) =>
  queryOptions({
    queryKey: ['stats', serverId, period],
    queryFn: ({ signal }) =>
      api.call('GET /servers/{serverId}/stats', { params: { serverId }, query: { period }, signal }),
    placeholderData: keepPreviousData,
  })
export const banStatsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['stats', 'all', period],
    queryFn: ({ signal }) => api.call('GET /bans/stats', { query: { period }, signal }),
    placeholderData: keepPreviousData,
  })
