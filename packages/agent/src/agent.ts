import { createHostBans } from './bans/host-bans.ts'
import type { Identity } from './config.ts'
import { steadyNow } from './clock.ts'
import { createOwnJail } from './engine/own-jail.ts'
import { ownJail, passingJails } from './engine/own-files.ts'
import { privateDirectory } from './files.ts'
import { createIntervals, removeStages } from './host.ts'
import type { Log } from './log.ts'
import type { Options } from './options.ts'
import type { Entry } from './outbox.ts'
import type { Assembled } from './parts/assembled.ts'
import { openDisk } from './parts/disk.ts'
import { findFail2ban } from './parts/fail2ban.ts'
import { createHeld } from './parts/held.ts'
import { createLoops } from './parts/loops.ts'
import type { Loops } from './loops/loops.ts'
import { createOrders } from './parts/orders.ts'
import { createServerSide } from './parts/server-side.ts'
import { createPolicyFollower } from './policy/follow.ts'
import { createSerial } from './serial.ts'
import { errorText } from './text.ts'

const lookEvery = 5000
const snapshotEvery = 15_000
/** The server hears of a moved end within 15 s. */
const lengthsEvery = 10_000
/** The server hears of a host whose nft hangs, before the shield gives up. */
const shieldWait = 3000
const historySeconds = 8 * 24 * 3600
/** Milliseconds between two looks at it while no jail was reloaded. */
const historyEvery = 30_000

/** Builds and starts the whole agent. `stop` ends it within a few seconds. */
export const startAgent = async (
  identity: Identity,
  options: Options,
  log: Log,
): Promise<{ stop: () => Promise<void> }> => {
  const now = Date.now
  const stopping = new AbortController()
  privateDirectory(options.state)
  privateDirectory(options.run)
  removeStages(options.run)

  // What is built first calls what is built last by these.
  const lateLoops = (): Loops => loops
  const common = { identity, options, loops: lateLoops, now, log }
  const server = createServerSide(common)
  const disk = openDisk(common)
  const append = (entries: readonly Entry[]): void => {
    disk.outbox.append(entries)
    if (entries.length > 0) loops.sender.wake()
  }
  const fail2ban = await findFail2ban(options, {
    up: () => void upkeep.cameUp(),
    down: () => log.warn('fail2ban is gone; waiting for it'),
  })
  const { engine, loader, python } = fail2ban
  const bans = createHostBans({
    ...{ engine, python, append, options, now, log },
    serverId: identity.server_id,
    saved: disk.saved,
    transport: server.transport,
    policy: disk.policy,
    enginePlaces: fail2ban.places,
    isShielded: (jail, ip) => jail === ownJail && heldBans.hostShield.shield.has(ip),
    isOfFleet: (jail, ip) => heldBans.hostShield.fleetJail.holds(jail, ip),
    onBan: (jail, ip, hasActed) => heldBans.whitelist.met(jail, ip, hasActed),
  })
  const ownJailKeeper = createOwnJail({ f2bConfig: options.f2bConfig, engine, loader, hook: bans.hook, log })
  const parts: Assembled = { ...common, server, disk, fail2ban, bans, ownJailKeeper, append }
  const heldBans = createHeld(parts)
  const orders = createOrders(parts, heldBans, () => {
    // A command has just reloaded or started a jail: the word of our action that ended may not be read yet.
    parts.bans.hook.suspect()
    return upkeep.settle()
  })
  const loops = createLoops(parts, heldBans, orders, stopping.signal)
  const agent = { parts, held: heldBans, orders }
  const upkeep = createUpkeep(agent)

  const intervals = createIntervals(log)
  const running = await start(agent, upkeep, intervals)
  return { stop: () => stop(agent, { intervals, running, stopping }) }
}

interface Upkeep {
  /** Runs on each new connection to fail2ban, which may have been restarted without our action and settings. */
  cameUp(): Promise<void>
  /** Restores what a reload or restart of fail2ban removed. */
  settle(): Promise<void>
}

/** The agent, built and not yet started. */
interface Agent {
  readonly parts: Assembled
  readonly held: ReturnType<typeof createHeld>
  readonly orders: ReturnType<typeof createOrders>
}

const createUpkeep = ({ parts, held, orders }: Agent): Upkeep => {
  const { ownJailKeeper, loops, log } = parts
  const { engine } = parts.fail2ban
  const { hook, snapshot, tail, wishes, adoption } = parts.bans
  const inTurn = createSerial()
  let historyDueAt = -Infinity
  const settle = (): Promise<void> =>
    inTurn(async () => {
      const touched = await hook.run()
      const isStarted = await ownJailKeeper.keep()
      if (touched) orders.protection.forget()
      // A start or a reload sets it back, and fail2ban answers before its client has sent the whole configuration.
      if (touched || steadyNow() >= historyDueAt) {
        historyDueAt = steadyNow() + historyEvery
        await engine.keepHistory(historySeconds)
      }
      await held.whitelist.look(touched || isStarted)
    })
  return {
    settle,
    async cameUp() {
      try {
        log.info(`fail2ban ${engine.version() ?? ''} answers`)
        hook.forget()
        ownJailKeeper.tryAgain()
        snapshot.unsettled()
        orders.protection.hold('engine')
        for (const jail of passingJails) await engine.dissolve(jail)
        tail.follow(await engine.databaseFile())
        await engine.keepHistory(historySeconds)
        await wishes.run()
        await adoption.run()
        await settle()
        await held.hostShield.moveOwnBans()
        loops().heartbeat.wake()
      } catch (error) {
        log.debug(`fail2ban went away again: ${errorText(error)}`)
      }
    },
  }
}

/** Starts everything in the order in which it depends on each other. Resolves to what ends when the loops have stopped. */
const start = async (
  { parts, held, orders }: Agent,
  { settle }: Upkeep,
  intervals: ReturnType<typeof createIntervals>,
): Promise<Promise<void>[]> => {
  const { disk, bans, log } = parts
  const { knock, hostShield } = held
  const { engine } = parts.fail2ban
  const { upgrades, journal, policy } = disk
  const loops = parts.loops()
  const followPolicy = createPolicyFollower({
    policy,
    wake: loops.heartbeat.wake,
    judgeAgain: knock.judgeAgain,
    log,
  })
  /** While fail2ban is down, this is the attempt to reach it. */
  const lookAtEngine = async (): Promise<void> => {
    if (engine.version() === null) await engine.ping().catch(() => undefined)
    else await settle()
  }
  intervals.every(lookEvery, lookAtEngine)
  intervals.every(lookEvery, followPolicy)
  intervals.every(snapshotEvery, bans.compare)
  intervals.every(lengthsEvery, bans.lengths.run)
  intervals.every(1000, bans.overrides.tick)
  intervals.every(1000, parts.server.mover.tick)
  intervals.every(lookEvery, () => upgrades.settle(journal, loops.results.wake))
  bans.spool.start()
  orders.protection.start()
  await knock.start()
  await Promise.race([hostShield.start(intervals), new Promise(resolve => setTimeout(resolve, shieldWait))])
  await followPolicy()
  await engine
    .ping()
    .catch((error: unknown) => log.warn(`fail2ban does not answer (${errorText(error)}); waiting for it`))
  return Object.values(loops).map((loop: Loops[keyof Loops]) => loop.run())
}

const within = (ms: number, work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise(resolve => setTimeout(resolve, ms))])

const stop = async (
  { parts, held, orders }: Agent,
  started: { intervals: ReturnType<typeof createIntervals>; running: Promise<void>[]; stopping: AbortController },
): Promise<void> => {
  const { bans, loops } = parts
  const { knock, whitelist, hostShield } = held
  started.intervals.stop()
  orders.protection.stop()
  bans.spool.stop()
  hostShield.stop()
  bans.tail.stop()
  whitelist.stop()
  await within(5000, knock.stop())
  // A running command gets a moment to end. The next start reports longer ones as unknown.
  await within(5000, orders.runner.idle())
  started.stopping.abort()
  for (const loop of Object.values(loops())) loop.wake()
  await within(2000, Promise.all(started.running))
  parts.disk.saved.save()
  parts.fail2ban.engine.close()
  parts.server.transport.close()
}
