import type { BodyOf, QueryOf, ReplyOf, rollouts as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { conflict, notFound } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { hasAgent, runs, upgradesOf, whyUnable } from './hosts.ts'
import { checkShares, planWaves } from './plan.ts'
import type { OfferedRelease } from './release.ts'
import {
  changeRollout,
  countRollouts,
  countStates,
  findOpen,
  findRollout,
  insertHosts,
  insertRollout,
  openHosts,
  pageOfHosts,
  pageOfRollouts,
  upgradedHosts,
} from './rollouts.store.ts'
import type { RolloutHostRow, RolloutRow, StateCount } from './rollouts.store.ts'
import { countsOf, usualShares } from './waves.ts'

type Rollout = ReplyOf<typeof contract.getRollout>
type Paging = { readonly page?: number; readonly limit?: number }

export interface RolloutsService {
  release(): Promise<ReplyOf<typeof contract.agentRelease>>
  /** @throws Problem 400 for waves that make no sense, 409 while another one runs or where there is nothing to do. */
  create(actor: Principal, input: BodyOf<typeof contract.createRollout>): Promise<Rollout>
  list(query: QueryOf<typeof contract.listRollouts>): Promise<ReplyOf<typeof contract.listRollouts>>
  read(id: number): Promise<Rollout>
  servers(
    id: number,
    query: QueryOf<typeof contract.listRolloutServers>,
  ): Promise<ReplyOf<typeof contract.listRolloutServers>>
  pause(actor: Principal, id: number): Promise<Rollout>
  resume(actor: Principal, id: number): Promise<Rollout>
  abort(actor: Principal, id: number): Promise<Rollout>
  /** Answers the rollout that returns the servers. */
  rollBack(actor: Principal, id: number): Promise<Rollout>
}

const rolloutView = (row: RolloutRow, states: readonly StateCount[]): Rollout => {
  const own = states.filter(({ rollout_id }) => rollout_id === row.id)
  const starts = parseJson(row.wave_starts)
  return {
    id: row.id,
    kind: row.kind,
    version: row.version,
    state: row.state,
    reason: row.reason,
    wave: row.wave,
    waves: starts.map((startedAt, number) => {
      const inWave = own.filter(({ wave }) => wave === number)
      return {
        servers: inWave.reduce((sum, { n }) => sum + n, 0),
        counts: countsOf(inWave),
        started_at: isoOrNull(startedAt),
      }
    }),
    counts: countsOf(own),
    created_by: row.created_by,
    created_at: iso(row.created_at),
    ended_at: isoOrNull(row.ended_at),
  }
}

/** How often each value occurs, most often first. */
const tally = <T>(values: readonly T[]): [T, number][] => {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

export const createRollouts = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'all' | 'byNo'>
    servers: Pick<ServersService, 'named'>
    commands: Pick<CommandsService, 'cancelMany'>
    offer: () => Promise<OfferedRelease | null>
  },
): RolloutsService => {
  const { db, clock, events, registry, servers, commands, offer } = needs

  const rowOf = async (id: number): Promise<RolloutRow> => {
    const row = await findRollout(db.read, id)
    if (!row) throw notFound(`There is no rollout ${id}.`)
    return row
  }
  const viewOf = async (row: RolloutRow): Promise<Rollout> => rolloutView(row, await countStates(db.read, [row.id]))
  const pageOf = ({ page = 1, limit = 20 }: Paging) => ({ page, limit, offset: (page - 1) * limit })

  const start = async (
    actor: Principal,
    head: Pick<RolloutRow, 'kind' | 'version' | 'manifest' | 'program'>,
    waves: readonly (readonly number[])[],
    wantedOf: (serverNo: number) => string,
  ): Promise<Rollout> => {
    const now = clock()
    const row = await events.change(async change => {
      if (await findOpen(change.sql)) throw conflict(another)
      const newRollout = await insertRollout(change.sql, {
        ...head,
        state: 'running',
        reason: null,
        wave: 0,
        wave_starts: jsonText(waves.map((_, index) => (index === 0 ? now : null))),
        accepted_failures: 0,
        accepted_silent: 0,
        created_by: actor.name,
        created_at: now,
        ended_at: null,
      })
      const hosts = waves.flatMap((nos, wave) =>
        nos.map((server_no): RolloutHostRow => ({
          rollout_id: newRollout.id,
          server_no,
          wave,
          state: 'waiting',
          from_release: null,
          wanted: wantedOf(server_no),
          jails: jsonText([]),
          command_id: null,
          answered_at: null,
          problem: null,
        })),
      )
      await insertHosts(change.sql, hosts)
      const { id, kind, version } = newRollout
      const data = { id, kind, version, servers: hosts.length, waves: waves.length }
      await change.record({ name: 'rollout.create', author: authorOf(actor), data })
      return newRollout
    })
    return viewOf(row)
  }

  /** Moves it to another state, with its event. @throws Problem 409 where it is in none of these states. */
  const move = async (
    actor: Principal,
    id: number,
    from: readonly RolloutRow['state'][],
    name: 'rollout.pause' | 'rollout.resume' | 'rollout.abort',
    set: Partial<Omit<RolloutRow, 'id'>>,
  ): Promise<RolloutRow> => {
    const row = await rowOf(id)
    const done = await events.change(async change => {
      const moved = from.includes(row.state) ? await changeRollout(change.sql, row, set) : undefined
      if (!moved) throw conflict(`The rollout is ${row.state} by now.`)
      const data = { id, kind: row.kind, version: row.version }
      await change.record({ name, author: authorOf(actor), data })
      return moved
    })
    return done
  }
  const abort = async (actor: Principal, id: number): Promise<RolloutRow> => {
    const set = { state: 'aborted', reason: `Aborted by ${actor.name}.`, ended_at: clock() } as const
    const row = await move(actor, id, ['running', 'paused'], 'rollout.abort', set)
    const ordered = (await openHosts(db.read, id, row.wave)).flatMap(({ command_id }) => command_id ?? [])
    if (ordered.length > 0) await commands.cancelMany(actor, ordered)
    return row
  }

  return {
    async release() {
      const offered = await offer()
      const all = registry.all()
      const outdated = offered ? all.filter(server => hasAgent(server) && !runs(server, offered)) : []
      const reasons = outdated.flatMap(server => whyUnable(server) ?? [])
      return {
        version: offered?.version ?? null,
        release: offered?.name ?? null,
        signed: typeof offered?.manifest === 'string',
        versions: tally(all.filter(hasAgent).map(({ row }) => row.agent_version)).map(([version, count]) => ({
          version,
          servers: count,
        })),
        outdated: outdated.length,
        rebuilt: outdated.filter(({ row }) => row.agent_version === offered?.version).length,
        unable: reasons.length,
        reasons: tally(reasons).map(([reason, count]) => ({ reason, servers: count })),
      }
    },
    async create(actor, { server_ids, waves: shares = [...usualShares] }) {
      checkShares(shares)
      const offered = await offer()
      if (!offered) throw conflict('This server offers no agent: it was not built here. Run: npm run build')
      const targetServers = server_ids?.map(id => registry.byNo(servers.named(actor, 'server_ids', id).no))
      const candidates = targetServers ?? registry.all().filter(hasAgent)
      const chosen = [...new Set(candidates)].flatMap(server => (server && !runs(server, offered) ? [server] : []))
      if (!chosen.some(server => hasAgent(server) && whyUnable(server) === null))
        throw conflict(
          chosen.length === 0
            ? `Every agent runs ${offered.version} already.`
            : 'None of these servers takes upgrades from this server; GET /api/v1/agents/release says why.',
        )
      const { version, manifest, program } = offered
      return start(actor, { kind: 'upgrade', version, manifest, program }, planWaves(chosen, shares), () => version)
    },
    async list(query) {
      const { page, limit, offset } = pageOf(query)
      const rows = await pageOfRollouts(db.read, offset, limit)
      const states = await countStates(
        db.read,
        rows.map(({ id }) => id),
      )
      return {
        rollouts: rows.map(row => rolloutView(row, states)),
        total: await countRollouts(db.read),
        page,
        limit,
      }
    },
    read: async id => viewOf(await rowOf(id)),
    async servers(id, query) {
      const row = await rowOf(id)
      const { page, limit, offset } = pageOf(query)
      const hosts = await pageOfHosts(db.read, row.id, query.state, offset, limit)
      const counts = countsOf(await countStates(db.read, [row.id]))
      const total = query.state ? counts[query.state] : Object.values(counts).reduce((sum, n) => sum + n, 0)
      return {
        servers: hosts.flatMap(host => {
          const server = registry.byNo(host.server_no)
          return server ? [{ server: { id: server.row.id, hostname: server.row.hostname }, ...hostView(host) }] : []
        }),
        total,
        page,
        limit,
      }
    },
    pause: async (actor, id) => {
      const set = { state: 'paused', reason: `Paused by ${actor.name}.` } as const
      return viewOf(await move(actor, id, ['running'], 'rollout.pause', set))
    },
    async resume(actor, id) {
      const row = await rowOf(id)
      const states = await countStates(db.read, [id])
      const upgraded = await upgradedHosts(db.read, id)
      const isSilent = ({ server_no }: RolloutHostRow) => registry.byNo(server_no)?.row.status === 'offline'
      const set = {
        state: 'running',
        reason: null,
        accepted_failures: countsOf(states.filter(({ wave }) => wave === row.wave)).failed,
        accepted_silent: upgraded.filter(isSilent).length,
      } as const
      return viewOf(await move(actor, id, ['paused'], 'rollout.resume', set))
    },
    abort: async (actor, id) => viewOf(await abort(actor, id)),
    async rollBack(actor, id) {
      const row = await rowOf(id)
      if (row.kind === 'rollback') throw conflict('This rollout is a return already.')
      const upgraded = await upgradedHosts(db.read, id)
      const before = new Map<number, string>()
      for (const { server_no, from_release } of upgraded) {
        const server = registry.byNo(server_no)
        if (server && from_release !== null && upgradesOf(server)?.previous === from_release)
          before.set(server_no, from_release)
      }
      if (before.size === 0) throw conflict('No server that this rollout upgraded still keeps the release before.')
      if (row.ended_at === null) await abort(actor, id)
      const { version } = row
      const head = { kind: 'rollback', version, manifest: null, program: null } as const
      return start(actor, head, [[...before.keys()]], no => before.get(no) ?? '')
    },
  }
}

const another = 'Another rollout is under way. Abort it first: the servers that it upgraded keep their release.'

const hostView = ({ wave, state, from_release, problem, command_id }: RolloutHostRow) => ({
  wave,
  state,
  from_release,
  problem,
  command_id,
})
