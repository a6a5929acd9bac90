import { second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from './mirror.ts'
import { mountWhitelist } from './whitelist.routes.ts'
import { createWhitelist } from './whitelist.service.ts'
import type { WhitelistService } from './whitelist.model.ts'

export const whitelistFeature = (
  needs: Core & { mirror: Mirror; registry: Registry; commands: CommandsService },
): Feature<WhitelistService> => {
  const service = createWhitelist({
    ...needs,
    lift: (author, lifts) =>
      needs.commands.queueMany(
        author,
        lifts.map(({ serverNo, ip }) => ({ serverNo, type: 'unban-ip', params: { jail: '*', ip } })),
      ),
  })
  return {
    service,
    mount: http => mountWhitelist(http, service),
    jobs: [{ name: 'whitelist expiry', every: second, run: service.expire }],
  }
}
