import type { Server } from '../servers/registry.ts'
import type { OfferedRelease } from './release.ts'
import type { HostUpgrades } from '../../db/tables/stored.ts'
import { parseJsonOrNull } from '../../core/json-text.ts'

export const upgradesOf = ({ row }: Server): HostUpgrades | null => parseJsonOrNull(row.upgrades)

const tooOld =
  'The installed agent is too old for upgrades from the server: run the install command with --upgrade once.'

/** Whether an agent was ever heard of. */
export const hasAgent = ({ row }: Server): boolean => row.status !== 'pending'
/** Whether the host runs this release. Agents that name none are compared by their version. */
export const runs = (server: Server, release: Pick<OfferedRelease, 'version' | 'name'>): boolean => {
  const upgrades = upgradesOf(server)
  if (upgrades?.release) return upgrades.release === release.name
  return server.row.agent_version === release.version
}
/** Why the host takes no upgrade from this server; null if it does. */
export const whyUnable = (server: Server): string | null => {
  const upgrades = upgradesOf(server)
  if (upgrades === null) return tooOld
  return upgrades.able ? null : sentence(upgrades.reason ?? 'The server gave no reason')
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
export const enabledJails = (server: Server): string[] =>
  server.jails.filter(({ enabled }) => enabled).map(({ name }) => name)
