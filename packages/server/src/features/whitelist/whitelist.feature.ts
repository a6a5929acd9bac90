import { second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import { createListChanges } from './changes.ts'
import { createCoveredBans } from './covered-bans.ts'
import { createNameResolver } from './dns-names.ts'
import type { Mirror } from './mirror.ts'
import { createWhitelistNames } from './names.service.ts'
import { mountWhitelist } from './whitelist.routes.ts'
import { createWhitelist } from './whitelist.service.ts'
import type { WhitelistService } from './whitelist.model.ts'

export const whitelistFeature = (
  needs: Core & { mirror: Mirror; registry: Registry; commands: CommandsService },
): Feature<WhitelistService> => {
  const changes = createListChanges(needs)
  const covered = createCoveredBans({
    ...needs,
    lift: (author, lifts) =>
      needs.commands.queueMany(
        author,
        lifts.map(({ serverNo, ip }) => ({ serverNo, type: 'unban-ip', params: { jail: '*', ip } })),
      ),
  })
  const service = createWhitelist({ ...needs, changes, covered })
  const names = createWhitelistNames({
    ...needs,
    changes,
    liftCovered: covered.lift,
    resolve: createNameResolver(needs.config.dnsServers),
  })
  return {
    service,
    mount: http => mountWhitelist(http, service, names),
    jobs: [
      { name: 'whitelist expiry', every: second, run: service.expire },
      { name: 'whitelisted names', every: 2 * second, run: names.lookAtDue },
    ],
  }
}
