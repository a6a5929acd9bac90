import { second } from '../../core/clock.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Desired } from '../desired/desired.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { EnrolmentTokens } from '../servers/enrolment-tokens.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { mountAgents } from './agents.routes.ts'
import { createAgents } from './agents.service.ts'
import { mountDownloads } from './downloads.ts'
import { createRuntimes } from './runtimes.ts'

export const agentsFeature = (
  needs: Core & {
    baseUrl: () => string
    servers: ServersService
    registry: Registry
    keys: KeysService
    enrolment: EnrolmentTokens
    commands: CommandsService
    bans: BansService
    templates: TemplatesService
    desired: Desired
    blocklists: Blocklists
  },
): Feature<null> => {
  const agents = createAgents(needs)
  return {
    service: null,
    mount(http) {
      mountAgents(http, agents)
      mountDownloads(http.fastify, {
        baseUrl: needs.baseUrl,
        agentDir: needs.config.agentDir,
        runtimes: createRuntimes(needs.config.dataDir),
        onScript: needs.servers.scriptFetched,
      })
    },
    jobs: [{ name: 'offline', every: 5 * second, run: agents.markOffline }],
  }
}
