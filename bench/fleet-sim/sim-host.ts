import { mkdirSync, rmSync } from 'node:fs'
import { canonicalIp } from '../../packages/agent/src/ip.ts'
import { createIntervals } from '../../packages/agent/src/host.ts'
import type { Log } from '../../packages/agent/src/log.ts'
import { createCarrier } from '../../packages/agent/src/loops/carrier.ts'
import { createLine } from '../../packages/agent/src/loops/line.ts'
import { createLink } from '../../packages/agent/src/loops/link.ts'
import { createPoll } from '../../packages/agent/src/loops/poll.ts'
import { createStateLoop } from '../../packages/agent/src/loops/state.ts'
import { createPolicy } from '../../packages/agent/src/policy/policy.ts'
import { createBudget, pause } from '../../packages/agent/src/schedule.ts'
import { createHostShield } from '../../packages/agent/src/shield/host-shield.ts'
import { createTransport, ServerError } from '../../packages/agent/src/transport.ts'
import type { Transport } from '../../packages/agent/src/transport.ts'
import { collapse } from '../../packages/agent/src/whitelist/addresses.ts'
import type { Addresses } from '../../packages/agent/src/whitelist/addresses.ts'
import { createStore } from '../../packages/agent/src/whitelist/store.ts'
import type { Store } from '../../packages/agent/src/whitelist/store.ts'
import { createWire } from '../../packages/agent/src/wire.ts'
import type { Acknowledgement, Wire } from '../../packages/agent/src/wire.ts'
import { createModelKernel } from './model-kernel.ts'
import type { ModelKernel } from './model-kernel.ts'

/*
 * A host with the agent's own code: transport, poll, desired state, fleet bans, blocklists, shield and its files. Only the kernel is a
 * model, and fail2ban is missing.
 */

export interface Enrolment {
  readonly id: string
  readonly key: string
  readonly agentId: string
}
export interface SimHost extends Enrolment {
  readonly name: string
  /** The address that the host takes for its own. */
  readonly ownAddress: string
  readonly kernel: ModelKernel
  readonly isRunning: () => boolean
  start(): Promise<void>
  stop(): Promise<void>
  /** Cuts the network, or gives it back. With `losesReplies` requests arrive, and their answers do not. */
  cut(how: 'no' | 'all' | 'replies'): void
  /** The agent's files are gone, and what the kernel held. */
  wipe(): void
  /** Sends what a broken or hostile agent could send, and then lets the real agent report again. */
  lie(random: () => number): Promise<void>
  /** Compares with the server, as the agent does once a day. */
  verify(): void
  /** The versions that the server heard of last; -1 before the first. */
  readonly acked: { fleet: number; readonly lists: Map<number, number> }
}

const heartbeatEvery = 10_000

export const createSimHost = (needs: {
  enrolment: Enrolment
  name: string
  ownAddress: string
  baseUrl: () => string
  folder: string
  /** The budget of requests; a real agent has 80. */
  perMinute: number
  log: Log
}): SimHost => {
  const { enrolment, name, ownAddress, folder, log } = needs
  const kernel = createModelKernel(Date.now)
  const acked = { fleet: -1, lists: new Map<number, number>() }
  let running: Running | null = null
  let cut: 'no' | 'all' | 'replies' = 'no'

  const start = async (): Promise<void> => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    running = await startParts({
      ...needs,
      kernel,
      cut: () => cut,
      onAck: ({ fleet, lists }) => {
        acked.fleet = fleet?.version ?? 0
        for (const { id, version, error } of lists ?? []) if (error === null) acked.lists.set(id, version)
      },
    })
  }
  return {
    ...enrolment,
    name,
    ownAddress,
    kernel,
    acked,
    isRunning: () => running !== null,
    start,
    async stop() {
      await running?.stop()
      running = null
    },
    cut(how) {
      cut = how
    },
    wipe() {
      rmSync(folder, { recursive: true, force: true })
      kernel.flush()
    },
    async lie(random) {
      await running?.lie(random).catch((error: unknown) => log.debug(String(error)))
    },
    verify: () => running?.verify(),
  }
}

interface Running {
  stop(): Promise<void>
  lie(random: () => number): Promise<void>
  verify(): void
}
interface PartNeeds {
  readonly enrolment: Enrolment
  readonly name: string
  readonly ownAddress: string
  readonly baseUrl: () => string
  readonly folder: string
  readonly perMinute: number
  readonly kernel: ModelKernel
  readonly cut: () => 'no' | 'all' | 'replies'
  readonly onAck: (told: Acknowledgement) => void
  readonly log: Log
}

const startParts = async (needs: PartNeeds): Promise<Running> => {
  const { enrolment, name, folder, log } = needs
  const stopping = new AbortController()
  const { signal } = stopping
  const transport = createTransport({
    baseUrl: needs.baseUrl(),
    apiKey: enrolment.key,
    ca: null,
    budget: createBudget({ perMinute: needs.perMinute, now: () => performance.now() }),
    now: Date.now,
    userAgent: 'stockade-agent/simulated',
  })
  const plain = createWire(throughCut(transport, needs.cut), enrolment.id)
  const wire: Wire = {
    ...plain,
    async acknowledge(told) {
      await plain.acknowledge(told)
      needs.onAck(told)
    },
  }
  const link = createLink(log)
  const store = createStore(folder)
  const whitelist = createModelWhitelist(store)
  const hostShield = createHostShield({
    stateDirectory: folder,
    runDirectory: folder,
    kernel: needs.kernel.kernel,
    loginSources: () => [],
    whitelist,
    policy: createPolicy({ directory: folder, now: Date.now }),
    approvals: () => null,
    floor: { addresses: () => [needs.ownAddress], lookUpServer: () => Promise.resolve() },
    engine: {
      version: () => null,
      banned: () => Promise.resolve(new Map()),
      ban: () => Promise.resolve(0),
      unban: () => Promise.resolve(0),
      unbanAll: () => Promise.resolve(),
    },
    ensureOwnJail: () => Promise.resolve(false),
    ledger: { knows: () => true, bans: () => 0, ended: () => undefined, active: () => null },
    memory: { intents: new Map(), overrides: new Map() },
    overrides: { drop: () => undefined },
    drain: () => Promise.resolve(),
    wire,
    onHeld: () => state.again(),
    verify: () => state.verify(),
    clockOffset: transport.clockOffset,
    now: Date.now,
    log,
  })
  const common = { link, signal, carrier: createCarrier() }
  const state = createStateLoop({
    ...common,
    wire,
    store,
    whitelist,
    knock: noKnocks,
    fleet: hostShield.fleet,
    lists: hostShield.lists,
    mover: { want: () => undefined, report: () => undefined },
    log,
  })
  const line = createLine(() => performance.now(), signal)
  const poll = createPoll({
    ...common,
    wire,
    line,
    onCommands: () => undefined,
    state: state.version,
    onState: state.want,
    interval: () => heartbeatEvery / 1000,
    now: Date.now,
  })
  const intervals = createIntervals(log)
  await hostShield.start(intervals)
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      const shield = hostShield.shield.report()
      await line
        .heartbeat(() =>
          wire.heartbeat(
            { hostname: name, agent_version: 'simulated', agent_id: enrolment.agentId, capabilities: { shield } },
            signal,
          ),
        )
        .then(
          ({ stateVersion }) => {
            link.good('heartbeat')
            state.want(stateVersion)
          },
          () => undefined,
        )
      line.due(heartbeatEvery)
      await pause(heartbeatEvery, signal)
    }
  }
  const loops = [beat(), poll.run(), state.run()]
  return {
    async stop() {
      intervals.stop()
      stopping.abort()
      hostShield.stop()
      state.wake()
      poll.wake()
      transport.close()
      await Promise.all(loops)
      await hostShield.lists.settled()
    },
    async lie(random) {
      const list = { version: Math.floor(random() * 1e13), mode: 'enforce' as const, digest: 'f'.repeat(64), held: 5 }
      await plain
        .acknowledge({
          version: random() < 0.5 ? 'w99999999999999-0.0' : (state.version() ?? ''),
          whitelistVersion: 'nonsense',
          entries: 3,
          error: null,
          fleet: {
            version: hostShield.fleet.version() + Math.floor((random() - 0.5) * 1e9),
            held: 7,
            digest: '0'.repeat(64),
            refused: [{ id: 1 + Math.floor(random() * 50), reason: 'nonsense' }],
            notCovered: random() < 0.2 ? 'nonsense' : null,
            fallback: random() < 0.2 ? 'nonsense' : null,
          },
          lists: [1, 2, 3].map(id => ({ ...list, id, error: random() < 0.5 ? null : 'nonsense' })),
        })
        .finally(() => state.again())
    },
    verify: state.verify,
  }
}

const throughCut = (transport: Transport, cut: PartNeeds['cut']): Transport => {
  const guarded = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (cut() === 'all') throw new ServerError('the network is cut')
    const answer = await ask()
    if (cut() !== 'no') throw new ServerError('the answer was lost')
    return answer
  }
  return {
    ...transport,
    json: (...given) => guarded(() => transport.json(...given)),
    fresh: (...given) => guarded(() => transport.fresh(...given)),
  }
}

const noKnocks = {
  take: () => Promise.resolve(false),
  holds: () => true,
  report: (): undefined => undefined,
  followWhitelist: () => Promise.resolve(),
  even: () => 0,
}

/** The whitelist without a fail2ban that holds it. */
const createModelWhitelist = (store: Store) => {
  const linesOf = (text: string): string[] =>
    text.split('\n').flatMap(line => canonicalIp(line.replace(/#.*/, '').trim()) ?? [])
  let list: { readonly addresses: Addresses; readonly count: number } | null = null
  const read = (text: string): void => {
    const entries = linesOf(text)
    list = { addresses: collapse(entries), count: entries.length }
  }
  const stored = store.text()
  if (stored !== null && store.version() !== '') read(stored)
  const held = () => ({ entries: list?.count ?? 0, error: null })
  return {
    version: store.version,
    covers: (ip: string): boolean => list?.addresses.touches(ip) ?? false,
    held,
    listed: (): Addresses | null => list?.addresses ?? null,
    take(text: string, version: string) {
      store.putList(text, version)
      read(text)
    },
    apply: () => Promise.resolve(held()),
    look: () => Promise.resolve(),
    restored: () => new Map<string, number>(),
    met: () => undefined,
    stop: () => undefined,
  }
}
