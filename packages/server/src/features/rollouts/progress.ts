import { second } from '../../core/clock.ts'
import { system } from '../../core/author.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { Config } from '../../config.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Command } from '../commands/rows.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Registry, Server } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { enabledJails, upgradesOf, whyUnable } from './hosts.ts'
import { changeHost, changeRollout, countStates, findOpen, openHosts, upgradedHosts } from './rollouts.store.ts'
import type { RolloutHostRow, RolloutRow } from './rollouts.store.ts'
import { countsOf, whyPause } from './waves.ts'

/** Orders in one run of the job: downloads of the agent by many hosts are spread. */
const ordersAtOnce = 50

type Change = Partial<Omit<RolloutHostRow, 'rollout_id' | 'server_no'>>

/** Moves the rollout on: orders, judges, pauses, begins the next wave and ends. One process does it. */
export const createProgress = (
  needs: StoreAccess & {
    config: Pick<Config, 'heartbeatInterval'>
    registry: Pick<Registry, 'byNo'>
    servers: Pick<ServersService, 'isWithheld'>
    commands: Pick<CommandsService, 'queue' | 'viewsOf'>
  },
): { run(): Promise<void> } => {
  const { db, clock, config, events, registry, servers, commands } = needs

  const isThere = (rollout: RolloutRow, server: Server, host: RolloutHostRow): boolean => {
    const release = upgradesOf(server)?.release ?? null
    if (rollout.kind === 'rollback') return release === host.wanted
    return release === `${rollout.version}-${(rollout.program ?? '').slice(0, 8)}`
  }
  const order = async (rollout: RolloutRow, server: Server, host: RolloutHostRow): Promise<Change> => {
    const isReturn = rollout.kind === 'rollback'
    const { id } = await commands.queue({ ...system, name: rollout.created_by }, server.row.no, 'upgrade-agent', {
      version: host.wanted,
      ...(isReturn ? { rollback: true } : { manifest_sha256: rollout.manifest, program_sha256: rollout.program }),
    })
    const jails = jsonText(enabledJails(server))
    return { state: 'ordered', command_id: id, jails, from_release: upgradesOf(server)?.release ?? null }
  }
  const startHost = async (rollout: RolloutRow, host: RolloutHostRow): Promise<Change | null> => {
    const server = registry.byNo(host.server_no)
    if (!server) return { state: 'skipped', problem: 'The server was removed.' }
    if (server.row.status !== 'online') return null
    if (isThere(rollout, server, host)) return { state: 'done' }
    if (servers.isWithheld(host.server_no)) return { state: 'skipped', problem: 'The server is in quarantine.' }
    const problem = whyUnable(server)
    return problem === null ? order(rollout, server, host) : { state: 'skipped', problem }
  }
  /** What an order that ended without the release means. */
  const judgeEnded = (server: Server, command: Command | undefined): Change | null => {
    // Nobody fetched it in time: the host went offline, and gets a new order when it returns.
    if (command?.status === 'timeout' && command.started_at === null) return { state: 'waiting', command_id: null }
    // The result can arrive before the heartbeat that names the release.
    const endedAt = Date.parse(command?.completed_at ?? '')
    if (command?.status === 'completed' && (server.lastHeartbeat ?? 0) < endedAt) return null
    return { state: 'failed', problem: command?.result?.output || 'The agent did not say how the upgrade ended.' }
  }
  const judgeOrdered = (rollout: RolloutRow, host: RolloutHostRow, command: Command | undefined): Change | null => {
    const server = registry.byNo(host.server_no)
    if (!server) return { state: 'skipped', problem: 'The server was removed.' }
    if (command?.status === 'pending' || command?.status === 'running') return null
    return isThere(rollout, server, host) ? { state: 'watched', answered_at: clock() } : judgeEnded(server, command)
  }
  /** The third heartbeat of a new agent comes two intervals after the first. */
  const judgeWatched = (host: RolloutHostRow): Change | null => {
    const server = registry.byNo(host.server_no)
    if (!server) return { state: 'skipped', problem: 'The server was removed.' }
    if (server.row.status !== 'online') return { state: 'failed', problem: 'The server went silent after the upgrade.' }
    const since = (server.lastHeartbeat ?? 0) - (host.answered_at ?? 0)
    if (since < 2 * config.heartbeatInterval * second) return null
    const running = new Set(enabledJails(server))
    const lost = parseJson(host.jails).filter(name => !running.has(name))
    if (lost.length > 0)
      return { state: 'failed', problem: `Jails that ran before are gone: ${lost.slice(0, 5).join(', ')}.` }
    return { state: 'done' }
  }
  const moveHosts = async (rollout: RolloutRow): Promise<void> => {
    const hosts = await openHosts(db.read, rollout.id, rollout.wave)
    const ids = hosts.flatMap(({ state, command_id }) => (state === 'ordered' && command_id ? [command_id] : []))
    const commandById = new Map((await commands.viewsOf(ids)).map(command => [command.id, command]))
    let orders = 0
    for (const host of hosts) {
      const command = commandById.get(host.command_id ?? '')
      const isOrder = host.state === 'waiting'
      if (isOrder && (rollout.state !== 'running' || orders >= ordersAtOnce)) continue
      const change = isOrder
        ? await startHost(rollout, host)
        : host.state === 'ordered'
          ? judgeOrdered(rollout, host, command)
          : judgeWatched(host)
      if (change?.state === 'ordered') orders++
      if (change) await changeHost(db.write, host, change)
    }
  }
  const silentOf = async (id: number) => {
    const upgraded = (await upgradedHosts(db.read, id)).filter(({ server_no }) => registry.byNo(server_no))
    const silent = upgraded.filter(({ server_no }) => registry.byNo(server_no)?.row.status !== 'online')
    return { count: upgraded.length, silent: silent.length }
  }
  /** What follows from the states of the hosts; null: nothing. */
  const verdict = async (rollout: RolloutRow) => {
    const states = await countStates(db.read, [rollout.id])
    const counts = countsOf(states.filter(({ wave }) => wave === rollout.wave))
    const wave = { number: rollout.wave, counts, accepted: rollout.accepted_failures }
    const reason = whyPause(wave, { ...(await silentOf(rollout.id)), accepted: rollout.accepted_silent })
    if (reason !== null) return { set: { state: 'paused', reason }, name: 'rollout.stop' } as const
    const isSettled = states.every(
      ({ wave, state }) => wave > rollout.wave || (state !== 'ordered' && state !== 'watched'),
    )
    if (!isSettled || (await hasReady(rollout))) return null
    const starts = [...parseJson(rollout.wave_starts)]
    if (rollout.wave + 1 < starts.length) {
      starts[rollout.wave + 1] = clock()
      const wave_starts = jsonText(starts)
      return { set: { wave: rollout.wave + 1, wave_starts, accepted_failures: 0 }, name: null } as const
    }
    if (countsOf(states).waiting > 0) return null
    return { set: { state: 'finished', reason: null, ended_at: clock() }, name: 'rollout.end' } as const
  }
  /** Whether a server that can be ordered now still waits; offline ones hold up no wave. */
  const hasReady = async (rollout: RolloutRow): Promise<boolean> =>
    (await openHosts(db.read, rollout.id, rollout.wave)).some(
      ({ state, server_no }) => state === 'waiting' && registry.byNo(server_no)?.row.status === 'online',
    )

  return {
    async run() {
      const rollout = await findOpen(db.read)
      if (!rollout) return
      await moveHosts(rollout)
      if (rollout.state !== 'running') return
      const next = await verdict(rollout)
      if (next === null) return
      await events.change(async change => {
        const done = await changeRollout(change.sql, rollout, next.set)
        if (!done || next.name === null) return
        const { id, version, kind, reason } = done
        await change.record({ name: next.name, author: system, data: { id, kind, version, reason } })
      })
    },
  }
}
