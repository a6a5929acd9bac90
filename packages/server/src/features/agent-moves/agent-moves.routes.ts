import { agentMoves as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { AddressProofs } from './address-proofs.ts'
import type { AgentMoves } from './agent-moves.service.ts'

export const mountAgentMoves = (http: Http, moves: AgentMoves, proofs: AddressProofs): void => {
  http.serve(contract.proveAddress, ({ body }) => proofs.prove(body))
  http.serve(contract.getAgentAddress, () => moves.read())
  http.serve(contract.changeAgentAddress, ({ actor, body }) => moves.change(actor, body))
  http.serve(contract.listAgentMoves, ({ query }) => moves.servers(query))
}
