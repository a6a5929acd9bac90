import type { BodyOf, ReplyOf, agents as contract } from '@stockade/contract'
import type { Config } from '../../config.ts'
import type { AgentActor } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { forbidden, unauthorized } from '../../core/problem.ts'
import { tameLine } from '../../core/text.ts'
import type { Change, Events } from '../../events/events.ts'
import type { BansService } from '../bans/bans.service.ts'
import { addDrops } from '../bans/drops.store.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Effect, Result } from '../commands/results.ts'
import type { Desired } from '../desired/desired.service.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { areAlike, withTemplate } from '../servers/host-state.ts'
import type { HostState } from '../servers/host-state.ts'
import { readProtection } from '../servers/protection.ts'
import type { EnrolmentTokens } from '../servers/enrolment-tokens.ts'
import type { Registry, Server } from '../servers/registry.ts'
import { updateServer } from '../servers/servers.store.ts'
import type { ServerRow } from '../servers/servers.store.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { createClones } from './clones.ts'
import { createEnrolment } from './enrolment.ts'
import type { Enrol } from './enrolment.ts'
import { detailsOf, listedJails, metricsOf, saidIn } from './heartbeat-columns.ts'
import { createNews, jailsEvent } from './news.ts'
import { createProtectionWatch } from './protection.ts'
import { createSilenceWatch } from './silence.ts'

type Heartbeat = BodyOf<typeof contract.heartbeat>
type JailsReport = BodyOf<typeof contract.putJails>

type News = ReplyOf<typeof contract.pendingCommands>
type TakenResults = { id: string; error: string | null }[]
/** How a host waits for news. */
interface Wait {
  readonly seconds: number
  /** Version of the state that the host knows. */
  readonly state: string | undefined
  /** Whether a changed state comes with the answer. */
  readonly beside: 'state' | undefined
  /** Aborted when the host hangs up. */
  readonly gone: AbortSignal
}

export interface AgentsService {
  enroll: Enrol
  heartbeat(agent: AgentActor, beat: Heartbeat): Promise<ReplyOf<typeof contract.heartbeat>>
  putJails(agent: AgentActor, body: JailsReport): Promise<void>
  /** Its agent is being removed: nobody waits for its heartbeats any more. */
  farewell(agent: AgentActor): Promise<void>
  /** The news of the host with this id. @throws Problem 403 for the key of another host */
  pending(agent: AgentActor, serverId: string, wait: Wait): Promise<News>
  /** Waits for orders; not at all where the host knows another state than the one that is wanted. */
  news(agent: AgentActor, wait: Wait): Promise<News>
  /** Stores what a host did with its last news. Resolves to what became of each result. */
  takeIn(agent: AgentActor, said: Pick<BodyOf<typeof contract.takeTurn>, 'applied' | 'results'>): Promise<TakenResults>
  result(agent: AgentActor, id: string, result: Result): Promise<void>
  results(agent: AgentActor, results: readonly (Result & { id: string })[]): Promise<TakenResults>
  /** Declares silent servers offline. */
  markOffline(): Promise<void>
}

/** A template that a command put on its host, or took off it. */
interface PlacedTemplate {
  readonly name: string
  readonly isThere: boolean
}

export const createAgents = (needs: {
  clock: Clock
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>
  events: Events
  registry: Registry
  keys: Pick<KeysService, 'createForServer' | 'remember' | 'retireAgentKeys' | 'reload'>
  enrolment: Pick<EnrolmentTokens, 'take' | 'taken' | 'noteRefusal'>
  commands: Pick<CommandsService, 'take' | 'waitAndTake' | 'finish'>
  bans: Pick<BansService, 'lifted'>
  templates: Pick<TemplatesService, 'frozen'>
  desired: Pick<Desired, 'version' | 'offer' | 'acknowledge'>
  blocklists: Pick<Blocklists, 'countPackets'>
  /** Several processes share the hosts: what another one heard of may reach us seconds late. */
  isShared: boolean
  /** Resolves when other processes know what was changed here. */
  settle: () => Promise<void>
}): AgentsService => {
  const { clock, config, events, registry, commands, bans, templates, desired, blocklists } = needs
  const watchProtection = createProtectionWatch({ clock, events, registry })
  const clones = createClones(needs)
  const news = createNews(needs)
  const serverOf = (agent: AgentActor): Server => {
    const server = registry.byNo(agent.serverNo)
    if (!server) throw unauthorized('The server of this key was removed.')
    return server
  }
  /** The template that an effect concerns; null for other effects. */
  const placedBy = async (sql: Change['sql'], effect: Effect): Promise<PlacedTemplate | null> => {
    if (effect.kind === 'template-removed') return { name: effect.name, isThere: false }
    if (effect.kind !== 'template-deployed') return null
    const frozen = (await templates.frozen(sql, [effect.hash])).get(effect.hash)
    return frozen ? { name: frozen.name, isThere: true } : null
  }

  const service: AgentsService = {
    enroll: createEnrolment(needs),
    markOffline: createSilenceWatch(needs),
    async heartbeat(agent, beat) {
      const now = clock()
      const server = serverOf(agent)
      await clones.judge(agent, server, beat)
      const { row } = server
      await news.noteRow(agent, row, saidIn(agent, row, beat, now), now)
      const jailsBefore = server.jails
      const isLatest = registry.receive(row.no, {
        version: beat.report,
        receivedAt: now,
        metrics: metricsOf(beat.metrics),
        jails: beat.jails && listedJails(beat.jails),
        protection: beat.protection ? readProtection(beat.protection, server.protection, now) : undefined,
      })
      if (isLatest) {
        await news.saveJails(row.no, jailsBefore)
        await watchProtection(row.no)
      }
      const dropped = beat.dropped ?? []
      if (beat.listed) await blocklists.countPackets(row.no, beat.listed)
      if (dropped.length > 0) await events.change(change => addDrops(change, row.no, dropped, now))
      return {
        message: 'ok',
        commands: await commands.take(row.no),
        desired_state: { version: desired.version(row.no) },
        heartbeat_interval: config.heartbeatInterval,
      }
    },
    async putJails(agent, { jails, report }) {
      const server = serverOf(agent)
      const isLatest = registry.receive(server.row.no, {
        version: report,
        receivedAt: server.lastHeartbeat ?? clock(),
        metrics: server.metrics,
        jails: listedJails(jails),
      })
      if (!isLatest) return
      const detailed = new Map(jails.map(jail => [tameLine(jail.name, 256), jail]))
      await news.saveJails(server.row.no, server.jails, known =>
        known.map(jail => {
          const detail = detailed.get(jail.name)
          return detail ? { ...jail, ...detailsOf(detail, jail.template) } : jail
        }),
      )
    },
    async farewell(agent) {
      const { no, id, hostname } = serverOf(agent).row
      const left = await events.change(async change => {
        const row = await updateServer(change.sql, no, { status: 'pending', updated_at: clock() })
        if (row) await change.record({ name: 'server.farewell', serverNo: no, data: { id, hostname } })
        return row
      })
      if (left) registry.put(left)
    },
    async pending(agent, serverId, wait) {
      if (serverOf(agent).row.id !== serverId.toLowerCase()) throw forbidden('This key is bound to another server.')
      return service.news(agent, wait)
    },
    async news(agent, { seconds, state, beside, gone }) {
      serverOf(agent)
      const version = () => desired.version(agent.serverNo)
      const knownVersion = state ?? version()
      const orders = await commands.waitAndTake(agent.serverNo, seconds, gone, () => version() !== knownVersion)
      const offer = beside === 'state' && version() !== state ? await desired.offer(agent, state) : null
      return {
        commands: orders,
        desired_state: { version: offer?.state.version ?? version() },
        ...offer,
        ...(beside === 'state' ? { turns: true } : {}),
      }
    },
    async takeIn(agent, { applied, results = [] }) {
      serverOf(agent)
      const [taken] = await Promise.all([
        service.results(agent, results),
        applied && desired.acknowledge(agent, applied),
      ])
      return taken
    },
    async result(agent, id, result) {
      const placed: { template?: PlacedTemplate; state?: HostState; row?: ServerRow | undefined } = {}
      const isTaken = await commands.finish(agent, id, result, async (change, effect) => {
        const { serverNo } = effect
        if (effect.kind === 'bans-lifted') return bans.lifted(change, serverNo, effect.address, effect.jail)
        if (effect.kind === 'self-tested') {
          placed.row = await updateServer(change.sql, serverNo, { self_test: jsonText(effect.test) })
          return change.record({ name: 'server.self_test', serverNo, data: { ...effect.test } })
        }
        // A successful deployment is known at once, also with an agent that never reports the details of its jails.
        const template = await placedBy(change.sql, effect)
        if (!template || !registry.byNo(serverNo)) return
        const { before, after } = await registry.writeJails(change.sql, serverNo, jails =>
          withTemplate(jails, template),
        )
        Object.assign(placed, { template, state: after })
        if (!areAlike(before, after.jails)) await change.record(jailsEvent(serverNo, after.jails))
      })
      const { template, state, row } = placed
      if (row) registry.put(row)
      // Not taken: another process took the same result in while this one tried again.
      if (!isTaken || !template || !state) return
      registry.take(agent.serverNo, state)
      // A report that arrived during the transaction was composed without the template.
      const knownJails = registry.byNo(agent.serverNo)?.jails ?? []
      await news.saveJails(agent.serverNo, knownJails, jails => withTemplate(jails, template))
      // The host's next report may go to another process, which must know of the change by then.
      await needs.settle()
    },
    async results(agent, results) {
      const answers: TakenResults = []
      for (const { id, ...result } of results)
        try {
          await service.result(agent, id, result)
          answers.push({ id, error: null })
        } catch (error) {
          if (!(error instanceof Error) || error.name !== 'Problem') throw error
          answers.push({ id, error: error.message })
        }
      return answers
    },
  }
  return service
}
