import { bans as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { BansService } from './bans.service.ts'

export const mountBans = (http: Http, bans: BansService): void => {
  http.serve(contract.listBans, ({ actor, query }) => bans.list(actor, query))
  http.serve(contract.getBan, ({ actor, params }) => bans.read(actor, params.banId))
  http.serve(contract.reportBan, ({ actor, body }) => bans.report(actor, body))
  http.serve(contract.reportBans, ({ actor, body }) => bans.reportMany(actor, body))
  http.serve(contract.createBan, ({ actor, params, body }) => bans.ban(actor, params.serverId, body))
  http.serve(contract.removeBan, ({ actor, params, query }) => bans.lift(actor, params.serverId, params.ip, query.jail))
}
