import { withoutEmpty, pageOf, serverIdOf } from '../../lib/search-params.ts'
import { withTerms } from '../../lib/terms.ts'

/** What the URL says of the list of commands. */
export interface CommandsSearch {
  readonly server?: string | undefined
  /** In the grammar of searches. */
  readonly q?: string | undefined
  readonly page?: number | undefined
}
const commandStatuses = ['pending', 'running', 'completed', 'failed', 'timeout'] as const
export const commandTypes = [
  'ban-ip',
  'unban-ip',
  'jail-status',
  'jail-preview',
  'jail-enable',
  'jail-disable',
  'jail-reload',
  'reload-all',
  'service-restart',
  'deploy-template',
  'remove-template',
  'template-preview',
  'approve-whitelist',
  'approve-port',
  'approve-ban',
  'self-test',
] as const

export const readCommandsSearch = (raw: Record<string, unknown>): CommandsSearch => {
  const status = commandStatuses.find(known => known === raw.status)
  const type = commandTypes.find(known => known === raw.type)
  // Links from before there was a search named them apart.
  const q = withTerms([status && `status:${status}`, type && `type:${type}`], raw.q)
  return withoutEmpty({ server: serverIdOf(raw.server), q, page: pageOf(raw) })
}
