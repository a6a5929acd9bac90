import { bans as contract, neighbours as neighboursContract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { LookupService } from './lookup.service.ts'
import type { Neighbours } from './neighbours.ts'

export const mountLookup = (http: Http, lookup: LookupService, neighbours: Neighbours): void => {
  http.serve(contract.lookUp, ({ actor, params, query }) => lookup.of(actor, params.ip, query))
  http.serve(neighboursContract.neighbours, ({ actor, params }) => neighbours(actor, params.ip))
}
