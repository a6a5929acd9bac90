import { second } from '../../core/clock.ts'
import { parseJsonOrNull } from '../../core/json-text.ts'
import type { Core, Feature } from '../feature.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import type { GuardBan } from '../whitelist/mirror.feature.ts'
import { mountCommands } from './commands.routes.ts'
import { createCommands } from './commands.service.ts'
import type { CommandsService } from './commands.service.ts'

export const commandsFeature = async (
  needs: Core & {
    servers: ServersService
    registry: Pick<Registry, 'byNo'>
    templates: TemplatesService
    passkeys: PasskeysService
    guardBan: GuardBan
  },
): Promise<Feature<CommandsService>> => {
  const { servers, registry, passkeys } = needs
  const service = await createCommands({
    ...needs,
    sealedOf(serverNo) {
      const server = registry.byNo(serverNo)
      return server ? { hostname: server.row.hostname, sealed: parseJsonOrNull(server.row.sealed) } : null
    },
    site: passkeys.siteOrNull,
  })
  servers.onRemoval(service.cancelAll)
  return {
    service,
    mount: http => mountCommands(http, service),
    jobs: [{ name: 'command time-outs', every: 5 * second, run: service.expire }],
    follow: {
      on: ['command.*'],
      async reload(events) {
        const serverNos = new Set(events.flatMap(({ serverNo }) => serverNo ?? []))
        await service.reload(events.length === 0 ? undefined : [...serverNos])
      },
    },
    drain: service.close,
  }
}
