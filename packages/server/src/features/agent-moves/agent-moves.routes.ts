import { agentMoves as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { AddressProofs } from './address-proofs.ts'

export const mountAgentMoves = (http: Http, proofs: AddressProofs): void => {
  http.serve(contract.proveAddress, ({ body }) => proofs.prove(body))
}
