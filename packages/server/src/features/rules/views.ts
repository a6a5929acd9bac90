import type { ReplyOf, rules as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Registry } from '../servers/registry.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import { conditionsOf, limitsOf } from './conditions.ts'
import type { JudgedMatch } from './evaluator.ts'
import type { MatchRow, RuleRow } from './rules.store.ts'
import { byDay } from './simulation.ts'
import type { Simulated } from './simulation.ts'

type Rule = ReplyOf<typeof contract.getRule>
type Match = ReplyOf<typeof contract.listRuleMatches>['matches'][number]
type Simulation = ReplyOf<typeof contract.simulateRule>
interface Needs {
  readonly registry: Pick<Registry, 'byNo'>
  readonly targeting: Pick<Targeting, 'view'>
}

const mostServers = 20
const mostMatches = 100

export const viewRule = (needs: Needs, actor: Principal, row: RuleRow, bannedLately: number): Rule => {
  const { from, target, jails, countries, asns, ...conditions } = conditionsOf(row)
  const { exclude, ...limits } = limitsOf(row)
  return {
    id: row.id,
    name: row.name,
    ...conditions,
    jails: jails && [...jails],
    countries: countries && [...countries],
    asns: asns && [...asns],
    from: needs.targeting.view(actor, targetsOf(from)),
    target: needs.targeting.view(actor, targetsOf(target)),
    ...limits,
    // Addresses that somebody protects are no business of who has access to some servers.
    exclude: actor.servers === 'all' ? [...exclude] : [],
    state: row.state,
    reason: row.reason,
    simulated_at: isoOrNull(row.simulated_at),
    simulation: row.simulation === null ? null : parseJson(row.simulation),
    armed_by: row.armed_by,
    armed_at: isoOrNull(row.armed_at),
    banned_30_days: bannedLately,
    created_by: row.created_by,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

const viewServers = ({ registry }: Needs, actor: Principal, nos: readonly number[]) =>
  nos
    .filter(no => sees(actor, no))
    .slice(0, mostServers)
    .flatMap(no => {
      const server = registry.byNo(no)
      return server ? [{ id: server.row.id, hostname: server.row.hostname }] : []
    })

export const viewMatch = (needs: Needs, actor: Principal, row: MatchRow): Match => {
  const { servers } = parseJson(row.evidence)
  return {
    entry: row.entry,
    at: iso(row.at),
    until: isoOrNull(row.until),
    times: row.times,
    outcome: row.outcome,
    cause: row.cause,
    servers: viewServers(needs, actor, servers),
    server_count: servers.length,
    fleet_ban_id: row.fleet_ban_id,
  }
}
const viewJudged = (needs: Needs, actor: Principal, match: JudgedMatch): Match => ({
  entry: match.entry,
  at: iso(match.at),
  until: isoOrNull(match.until),
  times: match.times,
  outcome: match.outcome,
  cause: match.outcome === 'banned' ? null : match.cause,
  servers: viewServers(needs, actor, match.servers),
  server_count: match.servers.length,
  fleet_ban_id: null,
})

export const viewSimulation = (needs: Needs, actor: Principal, simulated: Simulated): Simulation => {
  const banned = simulated.matches.filter(({ outcome }) => outcome === 'banned')
  const refused = simulated.matches.filter(({ outcome }) => outcome === 'refused')
  const newest = [...refused.toReversed().slice(0, mostMatches / 2), ...banned.toReversed()].slice(0, mostMatches)
  return {
    from: iso(simulated.from),
    to: iso(simulated.to),
    complete: simulated.isComplete,
    bans_read: simulated.bansRead,
    banned: banned.length,
    addresses: new Set(banned.map(({ entry }) => entry)).size,
    refused: refused.length,
    returned: simulated.returned.size,
    spared: [...simulated.spared.values()].reduce((sum, n) => sum + n, 0),
    tripped_at: isoOrNull(simulated.trippedAt),
    days: byDay(simulated).map(({ day, bans, returned }) => ({ day: iso(day).slice(0, 10), bans, returned })),
    servers: [...simulated.spared]
      .sort(([, a], [, b]) => b - a)
      .flatMap(([no, spared]) => viewServers(needs, actor, [no]).map(server => ({ server, spared })))
      .slice(0, mostServers),
    matches: newest.map(match => viewJudged(needs, actor, match)),
  }
}
