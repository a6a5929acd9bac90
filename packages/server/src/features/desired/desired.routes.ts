import { agents, whitelist } from '@stockade/contract'
import { conditional } from '../../http/conditional.ts'
import type { Http } from '../../http/http.ts'
import type { Desired } from './desired.service.ts'

export const mountDesired = (http: Http, desired: Desired): void => {
  http.serve(agents.agentState, async ({ actor, request, reply }) => {
    const state = await desired.stateFor(actor)
    return conditional(request, reply, state.version, state)
  })
  http.serve(agents.acknowledgeState, async ({ actor, body }) => {
    await desired.acknowledge(actor, body)
    return { message: 'Noted.' }
  })
  http.serve(whitelist.whitelistSyncStatus, ({ actor }) => desired.syncStatus(actor))
  http.serve(whitelist.syncWhitelist, async ({ actor, body }) => {
    const servers_notified = await desired.sync(actor, body.server_ids)
    return {
      message: `${servers_notified} ${servers_notified === 1 ? 'server applies' : 'servers apply'} the whitelist again.`,
      servers_notified,
    }
  })
}
