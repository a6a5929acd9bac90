import { enrolmentTokens, hostMetrics, servers as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { EnrolmentTokens } from './enrolment-tokens.ts'
import type { MetricsHistory } from './metrics-history.ts'
import type { ServersService } from './servers.service.ts'
import type { ServerTags } from './tags.ts'

export const mountServers = (
  http: Http,
  servers: ServersService,
  tags: ServerTags,
  history: Pick<MetricsHistory, 'read'>,
): void => {
  http.serve(contract.listServers, ({ actor, query }) => servers.list(actor, query))
  http.serve(contract.summariseServers, ({ actor }) => servers.summary(actor))
  http.serve(contract.listJailsOfName, ({ actor, query }) => servers.jailsOfName(actor, query.name))
  http.serve(contract.listServerTags, ({ actor }) => tags.list(actor))
  http.serve(contract.changeServerTags, async ({ actor, body }) => {
    const changed = await tags.change(actor, body)
    return { message: `The tags of ${changed} server${changed === 1 ? '' : 's'} changed.`, changed }
  })
  http.serve(contract.getServer, ({ actor, params }) => servers.read(actor, params.serverId))
  http.serve(contract.createServer, ({ actor, body }) => servers.create(actor, body))
  http.serve(contract.updateServer, ({ actor, params, body }) => servers.update(actor, params.serverId, body))
  http.serve(contract.deleteServer, async ({ actor, params }) => {
    await servers.remove(actor, params.serverId)
    return { message: 'The server is removed. Its bans stay in the history.' }
  })
  http.serve(contract.regenerateToken, ({ actor, params }) => servers.regenerateToken(actor, params.serverId))
  http.serve(contract.quarantineServer, ({ actor, params, body }) =>
    servers.quarantine(actor, params.serverId, body.reason),
  )
  http.serve(contract.releaseServer, async ({ actor, params }) => {
    await servers.release(actor, params.serverId)
    return { message: 'The server is released: its reports are taken again.' }
  })
  http.serve(contract.settleClone, async ({ actor, params }) => {
    await servers.settleClone(actor, params.serverId)
    return { message: 'Commands go out again.' }
  })
  http.serve(hostMetrics.serverMetricsHistory, ({ actor, params, query }) =>
    history.read(servers.get(actor, params.serverId).row.no, query.hours ?? 24),
  )
  http.serve(contract.listJails, ({ actor, params }) => servers.jails(actor, params.serverId))
}

export const mountEnrolmentTokens = (http: Http, tokens: EnrolmentTokens): void => {
  http.serve(enrolmentTokens.listEnrolmentTokens, () => tokens.list())
  http.serve(enrolmentTokens.createEnrolmentToken, ({ actor, body }) => tokens.create(actor, body))
  http.serve(enrolmentTokens.readEnrolmentToken, ({ params }) => tokens.read(params.id))
  http.serve(enrolmentTokens.revokeEnrolmentToken, ({ actor, params }) => tokens.revoke(actor, params.id))
}
