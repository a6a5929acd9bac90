import { aboutHost, createNftCheck } from '../host.ts'
import { steadyNow } from '../clock.ts'
import { markAlive } from '../lock.ts'
import { createCarrier } from '../loops/carrier.ts'
import { createComparison } from '../loops/comparison.ts'
import { createHeartbeat } from '../loops/heartbeat.ts'
import { createLine } from '../loops/line.ts'
import type { Loops } from '../loops/loops.ts'
import { createPoll } from '../loops/poll.ts'
import { createResults } from '../loops/results.ts'
import { createSender } from '../loops/sender.ts'
import { createStateLoop } from '../loops/state.ts'
import { createMetrics } from '../metrics.ts'
import { once } from '../serial.ts'
import type { Assembled } from './assembled.ts'
import type { createHeld } from './held.ts'
import type { createOrders } from './orders.ts'

export const createLoops = (
  parts: Assembled,
  held: ReturnType<typeof createHeld>,
  { runner, protection }: ReturnType<typeof createOrders>,
  signal: AbortSignal,
): Loops => {
  const { identity, options, server, disk, now, log } = parts
  const { engine, config } = parts.fail2ban
  const { wire, link, mover } = server
  const { clockOffset } = server.transport
  const { outbox, rejected, journal } = disk
  const { store, whitelist, knock, hostShield } = held
  const { fleet, lists } = hostShield
  const serverId = identity.server_id
  const carrier = createCarrier()
  const common = { wire, link, carrier, signal, now, log }
  const line = createLine(steadyNow, signal)
  const sender = createSender({ ...common, outbox, rejected, clockOffset, onKnocks: knock.taken })
  const results = createResults({ ...common, journal })
  const comparison = createComparison({ ...common, serverId, ledger: parts.bans.ledger, outbox, engine, clockOffset })
  const heartbeat = createHeartbeat({
    ...common,
    ...{ engine, config, serverId, lists, line, places: parts.bans.places },
    about: aboutHost(identity),
    nftables: createNftCheck(options.nft, now),
    shield: hostShield.shield.report,
    drops: hostShield.drops,
    sealed: held.seals.report,
    upgrades: disk.upgrades.report,
    metrics: createMetrics(),
    policy: disk.policy.state,
    protection: protection.report,
    onCommands: runner.take,
    onState: version => state.want(version),
    onAnswer: once(() => markAlive(options.run)),
  })
  const state = createStateLoop({ ...common, store, whitelist, knock, fleet, lists, mover })
  const poll = createPoll({
    ...common,
    line,
    onCommands(commands) {
      if (commands.length > 0) line.first(results.turned())
      runner.take(commands)
    },
    state: state.version,
    onState(version, offer) {
      // A host with port knocking may get the next opening meanwhile, and has no offer.
      if (offer !== null) line.first(state.turned())
      state.want(version, offer)
    },
    interval: heartbeat.interval,
  })
  return { heartbeat, poll, state, sender, results, comparison }
}
