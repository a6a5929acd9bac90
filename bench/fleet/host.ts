import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLine } from '../../packages/agent/src/loops/line.ts'
import type { Line } from '../../packages/agent/src/loops/line.ts'
import { pause } from '../../packages/agent/src/schedule.ts'
import type { Place } from './messages.ts'
import { ask } from './requests.ts'
import type { Caller, Reply } from './requests.ts'

/*
 * All that a simulated host says, as the agent says it: heartbeats and polls on one connection, desired state, results of commands, reports
 * of bans. Latencies count from the moment at which a request was meant to leave, so that a server that falls behind shows.
 */

/** Where hosts write down what happened. */
export interface Notes {
  latency(request: string, since: number): void
  error(what: string): void
  heartbeatTaken(host: Host): void
  /** The host holds it, and its word of that is on the way. */
  whitelistHeld(version: string): void
  commandDelivered(id: string): void
  banTaken(eventId: string): void
}
/** What all hosts of a process share. */
export interface World {
  readonly notes: Notes
  /** Seconds between two heartbeats. */
  readonly heartbeat: number
  /** Name of what happens meanwhile; heartbeats are measured for each. */
  phase: string
  isStopping: boolean
  /** From 0 to 1. */
  random(): number
}
export interface Ban {
  readonly eventId: string
  readonly ip: string
  readonly jail: string
}
interface WhitelistState {
  readonly version: string
  readonly count: number
  readonly spread_seconds: number
}
interface Cargo {
  readonly applied?: object
  readonly results?: readonly object[]
}
type Call = readonly [method: string, path: string, body?: unknown]

const largestReport = 500
const reportOf = ({ eventId, ip, jail }: Ban) => ({
  event_id: eventId,
  ip,
  jail,
  log_lines: 'Nov 21 10:00:00 sim sshd[1]: Failed password for invalid user test from 203.0.113.7 port 4711 ssh2',
  ban_duration: 600,
  banned_at: new Date().toISOString(),
})

export class Host {
  readonly #world: World
  readonly #place: Place
  readonly #caller: Caller & { readonly agent: Agent }
  /** Heartbeats and polls take turns on one connection, as those of an agent do. */
  readonly #line: Line
  /** One for each host: a signal that all share looks through all of its listeners with each request. */
  readonly #ending = new AbortController()
  readonly #outbox: { readonly meant: number; readonly eventId: string; readonly report: object }[] = []
  /** Ends the wait for a ban: thousands of hosts that look for one several times a second cost more than what they send. */
  #wakeReporter = (): void => undefined
  /** What the next poll takes along. */
  #cargo: Cargo = {}
  /** Version of the desired state that it acknowledged, and of the whitelist in it. */
  #version = ''
  #whitelist = ''

  constructor(world: World, place: Place) {
    this.#world = world
    this.#place = place
    // As the agent's (packages/agent/src/transport.ts).
    const agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 15_000 })
    this.#caller = { base: new URL(place.base), agent, token: place.key, source: place.source }
    this.#line = createLine(() => performance.now(), this.#ending.signal)
  }

  /** Resolves when the world stops and all bans are reported. */
  async live(): Promise<void> {
    await Promise.all([this.#beat(), this.#poll(), this.#report()])
  }
  ban(ban: Ban): void {
    this.#outbox.push({ meant: performance.now(), eventId: ban.eventId, report: reportOf(ban) })
    this.#wakeReporter()
  }
  /** Ends the poll that is under way, and all waiting. */
  hangUp(): void {
    this.#ending.abort()
    this.#wakeReporter()
  }
  disconnect(): void {
    this.#caller.agent.destroy()
  }

  async #beat(): Promise<void> {
    const world = this.#world
    const interval = world.heartbeat * 1000
    const slot = performance.now() + world.random() * interval
    for (let turn = -1; !world.isStopping; turn++) {
      const meant = turn < 0 ? performance.now() : slot + turn * interval
      await pause(Math.max(1, meant - performance.now()), this.#ending.signal)
      if (world.isStopping) return
      // It waits for the end of a poll, whose hold has whole seconds: that is not the server's doing, so it counts from then on.
      const reply = await this.#line.heartbeat(() =>
        this.#insist(`heartbeat (${world.phase})`, performance.now(), [
          'POST',
          '/servers/heartbeat',
          this.#heartbeat(),
        ]),
      )
      if (reply) {
        world.notes.heartbeatTaken(this)
        void this.#takeOrders(reply)
      }
      this.#line.due(slot + (turn + 1) * interval - performance.now())
    }
  }
  #heartbeat(): object {
    return {
      hostname: 'sim.example',
      os: 'Simulated',
      engine_version: '1.0.2',
      agent_version: 'fleetsim',
      metrics: { cpu_percent: this.#world.random() * 100, memory_percent: 40, disk_percent: 10, uptime: 1000 },
      jails: [{ name: 'sshd', enabled: true, current_bans: 3 }],
    }
  }

  async #poll(): Promise<void> {
    const world = this.#world
    while (!world.isStopping) {
      let cargo: Cargo = {}
      const reply = await this.#line
        .poll(hold => {
          cargo = this.#cargo
          this.#cargo = {}
          return ask(this.#caller, ...this.#pollCall(hold, cargo), this.#ending.signal)
        })
        .catch(() => null)
      if (world.isStopping) return
      if (!reply || reply.status >= 400) {
        world.notes.error(`poll: ${reply?.status ?? 'no answer'}`)
        await Promise.all([this.#sayAlone(cargo), sleep(500 + world.random() * 1500)])
        continue
      }
      const canTurn = reply.json.turns === true
      const done = this.#takeOrders(reply, canTurn)
      this.#line.first(done)
      const offered = reply.json.desired_state as { readonly version?: unknown } | undefined
      if (String(offered?.version ?? '') !== this.#version) await this.#follow(reply, canTurn)
    }
  }
  #pollCall(hold: number, cargo: Cargo): Call {
    const state = this.#version
    if (Object.keys(cargo).length > 0)
      return ['POST', '/agent/turn', { wait: hold, with: 'state', ...(state === '' ? {} : { state }), ...cargo }]
    const known = state === '' ? '' : `&state=${encodeURIComponent(state)}`
    return ['GET', `/servers/${this.#place.id}/commands/pending?wait=${hold}&with=state${known}`, undefined]
  }
  /** Says by requests of their own what a poll did not take along, or may not have. */
  async #sayAlone({ applied, results }: Cargo): Promise<void> {
    if (applied) await this.#insist('ack', performance.now(), ['POST', '/agent/state/ack', applied])
    if (results) await this.#insist('results', performance.now(), ['POST', '/agent/results', { results }])
  }
  /** Acknowledges the desired state. It, and the whitelist if it is another one, came with the poll or are fetched. */
  async #follow({ json }: Reply, canTurn: boolean): Promise<void> {
    const desired = (json.state ?? (await this.#insist('state', performance.now(), ['GET', '/agent/state']))?.json) as
      | { readonly version: string; readonly whitelist: WhitelistState }
      | undefined
    if (!desired) return
    const { version, whitelist } = desired
    const isNew = whitelist.version !== this.#whitelist
    const sent = json.whitelist as { readonly version: string } | undefined
    if (isNew && sent?.version !== whitelist.version) {
      await sleep(this.#world.random() * whitelist.spread_seconds * 1000)
      if (!(await this.#insist('whitelist.txt', performance.now(), ['GET', '/whitelist.txt']))) return
    }
    const applied = {
      version,
      whitelist_version: whitelist.version,
      entry_count: whitelist.count,
      error: null,
    }
    if (canTurn) this.#cargo = { ...this.#cargo, applied }
    else await this.#sayAlone({ applied })
    this.#version = version
    this.#whitelist = whitelist.version
    if (isNew) this.#world.notes.whitelistHeld(whitelist.version)
  }

  /** Commands come with the answers to polls and to heartbeats. */
  async #takeOrders({ json }: Reply, canTurn = false): Promise<void> {
    const commands = (json.commands ?? []) as { readonly id: string }[]
    if (commands.length === 0) return
    for (const { id } of commands) this.#world.notes.commandDelivered(id)
    const results = commands.map(({ id }) => ({ id, success: true, output: 'done', exit_code: 0 }))
    if (canTurn) this.#cargo = { ...this.#cargo, results }
    else await this.#sayAlone({ results })
  }

  async #report(): Promise<void> {
    const world = this.#world
    while (!world.isStopping || this.#outbox.length > 0) {
      const batch = this.#outbox.slice(0, largestReport)
      const [oldest] = batch
      if (!oldest) {
        await new Promise<void>(resolve => (this.#wakeReporter = resolve))
        continue
      }
      const bans = batch.map(({ report }) => report)
      const reply = await this.#insist('bans', oldest.meant, ['POST', '/bans/batch', { bans }])
      if (reply) {
        this.#outbox.splice(0, batch.length)
        for (const result of reply.json.results as { event_id: string; id: number | null; error: string | null }[])
          if (result.error === null && result.id !== null) world.notes.banTaken(result.event_id)
          else world.notes.error(`ban refused: ${String(result.error)}`)
      } else if (world.isStopping) return
      await sleep(200 + world.random() * 200)
    }
  }

  /** Sends a request again until the server takes it, as an agent does it. A refusal for good counts as an error and resolves to null. */
  async #insist(request: string, meant: number, call: Call): Promise<Reply | null> {
    const world = this.#world
    for (let attempt = 0; !world.isStopping || attempt === 0; attempt++) {
      try {
        const reply = await ask(this.#caller, ...call)
        if (reply.status < 400) {
          world.notes.latency(request, meant)
          return reply
        }
        world.notes.error(`${request}: ${reply.status}`)
        if (reply.status < 500 && reply.status !== 429) return null
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        world.notes.error(`${request}: ${code ?? message}`)
      }
      await sleep(Math.min(5000, 200 * 2 ** attempt) * (0.5 + world.random() / 2))
    }
    return null
  }
}
