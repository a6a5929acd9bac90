import { agents as contract, commands } from '@stockade/contract'
import { addressOf } from '../../http/request.ts'
import type { Http } from '../../http/http.ts'
import type { AgentsService } from './agents.service.ts'

export const mountAgents = (http: Http, agents: AgentsService): void => {
  http.serve(contract.enroll, ({ body, request }) => agents.enroll(body, addressOf(request)))
  http.serve(contract.heartbeat, ({ actor, body }) => agents.heartbeat(actor, body))
  http.serve(contract.putJails, async ({ actor, body }) => {
    await agents.putJails(actor, body)
    return { message: 'Noted.' }
  })
  http.serve(contract.pendingCommands, async ({ actor, params, query, request }) => {
    const gone = new AbortController()
    const left = () => gone.abort()
    request.raw.socket.once('close', left)
    try {
      const { wait: seconds = 0, state, with: beside } = query
      return await agents.pending(actor, params.serverId, { seconds, state, beside, gone: gone.signal })
    } finally {
      request.raw.socket.off('close', left)
    }
  })
  http.serve(commands.reportResult, async ({ actor, params, body }) => {
    await agents.result(actor, params.commandId, body)
    return { message: 'Noted.' }
  })
  http.serve(contract.reportResults, async ({ actor, body }) => ({
    results: await agents.results(actor, body.results),
  }))
}
