import { bans as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { LookupService } from './lookup.service.ts'

export const mountLookup = (http: Http, lookup: LookupService): void =>
  http.serve(contract.lookUp, ({ actor, params, query }) => lookup.of(actor, params.ip, query))
