import { Readable } from 'node:stream'
import { attackers as attackersContract, bans as contract, servers } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { AttackersService } from './attackers.ts'
import type { BansService } from './bans.service.ts'
import type { BanComparison } from './comparison.ts'
import type { BanStatsService } from './stats.ts'
import type { TopBansService } from './top.ts'

export const mountBans = (
  http: Http,
  bans: BansService,
  stats: BanStatsService,
  top: TopBansService,
  attackers: AttackersService,
  comparison: BanComparison,
): void => {
  http.serve(contract.banStats, ({ actor, query }) => stats.ofBans(actor, query))
  http.serve(contract.topBans, ({ actor, query }) => top.of(actor, query))
  http.serve(servers.serverStats, ({ actor, params, query }) => stats.ofServer(actor, params.serverId, query.period))
  http.serve(attackersContract.listAttackers, ({ actor, query }) => attackers.list(actor, query))
  http.serve(contract.listBans, ({ actor, query }) => bans.list(actor, query))
  http.serve(contract.exportBans, async ({ actor, query, reply }) => {
    const { format = 'json' } = query
    const text = await bans.export(actor, query)
    const [type, ending] = exported[format]
    return reply
      .header('content-disposition', `attachment; filename="bans.${ending}"`)
      .type(`${type}; charset=utf-8`)
      .send(Readable.from(text))
  })
  http.serve(contract.getBan, ({ actor, params }) => bans.read(actor, params.banId))
  http.serve(contract.reportBan, ({ actor, body }) => bans.report(actor, body))
  http.serve(contract.reportBans, ({ actor, body }) => bans.reportMany(actor, body))
  http.serve(contract.adoptBans, ({ actor, body }) => bans.adopt(actor, body))
  http.serve(contract.compareBans, ({ actor, body, query }) => comparison.compare(actor, body, query))
  http.serve(contract.createBan, ({ actor, params, body }) => bans.ban(actor, params.serverId, body))
  http.serve(contract.removeBan, ({ actor, params, query }) => bans.lift(actor, params.serverId, params.ip, query.jail))
}

const exported = { json: ['application/json', 'json'], csv: ['text/csv', 'csv'], plain: ['text/plain', 'txt'] } as const
