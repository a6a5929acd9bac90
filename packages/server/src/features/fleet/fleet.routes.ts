import { fleetBans as contract } from '@stockade/contract'
import { conditional } from '../../http/conditional.ts'
import type { Http } from '../../http/http.ts'
import type { FleetBans } from './fleet.service.ts'

export const mountFleetBans = (http: Http, fleet: FleetBans): void => {
  http.serve(contract.createFleetBan, ({ actor, body }) => fleet.create(actor, body))
  http.serve(contract.createFleetBans, ({ actor, body }) => fleet.createMany(actor, body))
  http.serve(contract.removeFleetBans, ({ actor, body }) => fleet.removeMany(actor, body.ids))
  http.serve(contract.listFleetBans, ({ actor, query }) => fleet.list(actor, query))
  http.serve(contract.getFleetBan, ({ actor, params }) => fleet.read(actor, params.id))
  http.serve(contract.listFleetBanServers, ({ actor, params, query }) => fleet.servers(actor, params.id, query))
  http.serve(contract.changeFleetBan, ({ actor, params, body }) => fleet.change(actor, params.id, body))
  http.serve(contract.removeFleetBan, async ({ actor, params }) => {
    const { entry, wasStanding } = await fleet.remove(actor, params.id)
    return { message: wasStanding ? `${entry} is being unbanned.` : `The fleet ban of ${entry} has ended already.` }
  })
  http.serve(contract.agentFleetBans, ({ actor, query, request, reply }) => {
    const set = fleet.setFor(actor, query.since)
    return conditional(request, reply, String(set.version), set)
  })
}
