import { rollouts as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { RolloutsService } from './rollouts.service.ts'

export const mountRollouts = (http: Http, rollouts: RolloutsService): void => {
  http.serve(contract.agentRelease, () => rollouts.release())
  http.serve(contract.createRollout, ({ actor, body }) => rollouts.create(actor, body))
  http.serve(contract.listRollouts, ({ query }) => rollouts.list(query))
  http.serve(contract.getRollout, ({ params }) => rollouts.read(params.id))
  http.serve(contract.listRolloutServers, ({ params, query }) => rollouts.servers(params.id, query))
  http.serve(contract.pauseRollout, ({ actor, params }) => rollouts.pause(actor, params.id))
  http.serve(contract.resumeRollout, ({ actor, params }) => rollouts.resume(actor, params.id))
  http.serve(contract.abortRollout, ({ actor, params }) => rollouts.abort(actor, params.id))
  http.serve(contract.rollBackRollout, ({ actor, params }) => rollouts.rollBack(actor, params.id))
}
