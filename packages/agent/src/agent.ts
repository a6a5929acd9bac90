import { join } from 'node:path'
import { openMemory } from './bans/memory.ts'
import { createHostBans } from './bans/host-bans.ts'
import { createGuard } from './commands/guard.ts'
import { openJournal } from './commands/journal.ts'
import { createHandlers } from './commands/handlers.ts'
import { createRunner } from './commands/runner.ts'
import { createShieldOrders } from './commands/shield-orders.ts'
import type { Identity } from './config.ts'
import { createMover } from './move/mover.ts'
import { createFloor } from './policy/floor.ts'
import { createPolicyFollower } from './policy/follow.ts'
import { createPolicy } from './policy/policy.ts'
import { createEngineConfig } from './engine/config.ts'
import { createEngine } from './engine/engine.ts'
import { createJailLoader } from './engine/jail-loader.ts'
import { privateDirectory } from './files.ts'
import { createKnock } from './knock/knock.ts'
import { markAlive } from './lock.ts'
import type { Log } from './log.ts'
import { inheritedConnection } from './netlink/connection.ts'
import { nftablesSubsystem } from './netlink/tables.ts'
import { createComparison } from './loops/comparison.ts'
import { createHeartbeat } from './loops/heartbeat.ts'
import { createLink } from './loops/link.ts'
import { createPoll } from './loops/poll.ts'
import { createResults } from './loops/results.ts'
import { createSender } from './loops/sender.ts'
import { createStateLoop } from './loops/state.ts'
import { createMetrics } from './metrics.ts'
import type { Options } from './options.ts'
import { openOutbox } from './outbox.ts'
import { findInterpreter } from './python/interpreter.ts'
import { createProtection } from './protection/protection.ts'
import { checker, lister, probe as probeProgram } from './python/programs.ts'
import { createRejected } from './rejected.ts'
import { createBudget } from './schedule.ts'
import { closedPort, unapprovedPort, wideWhitelist } from '@stockade/contract/seal.ts'
import { openApprovals } from './seal/approvals.ts'
import { createSealGate } from './seal/gate.ts'
import { openSpent } from './seal/spent.ts'
import { ownJail, testJail } from './engine/own-files.ts'
import { createHostSelfTest } from './self-test/host-self-test.ts'
import { createProbes } from './self-test/probe.ts'
import { createHostShield } from './shield/host-shield.ts'
import { openKernel } from './shield/open.ts'
import { loginSources } from './shield/sessions.ts'
import { createSerial, once } from './serial.ts'
import { aboutHost, createIntervals, createNftCheck, removeStages, serviceKind } from './host.ts'
import { createOwnJail } from './engine/own-jail.ts'
import { errorText } from './text.ts'
import { createTemplates } from './templates/templates.ts'
import { createTransport } from './transport.ts'
import { createUpgrades } from './upgrade/upgrades.ts'
import { agentVersion } from './version.ts'
import { createStore } from './whitelist/store.ts'
import { createWhitelist } from './whitelist/whitelist.ts'
import { createWire } from './wire.ts'

const lookEvery = 5000
const snapshotEvery = 15_000
/** The server hears of a host whose nft hangs, before the shield gives up. */
const shieldWait = 3000
const historySeconds = 8 * 24 * 3600

/** Builds and starts the whole agent. `stop` ends it within a few seconds. */
export const startAgent = async (
  identity: Identity,
  options: Options,
  log: Log,
): Promise<{ stop: () => Promise<void> }> => {
  const now = Date.now
  const stopping = new AbortController()
  const intervals = createIntervals(log)
  privateDirectory(options.state)
  privateDirectory(options.run)
  removeStages(options.run)

  // The server
  const transport = createTransport({
    baseUrl: identity.base_url,
    apiKey: identity.api_key,
    ca: identity.ca,
    pins: identity.pins,
    proxy: identity.proxy,
    budget: createBudget({ perMinute: 80, now: () => performance.now() }),
    now,
    userAgent: `stockade-agent/${agentVersion}`,
  })
  const wire = createWire(transport, identity.server_id)
  const link = createLink(log)
  const interval = (): number => heartbeat.interval()
  const mover = createMover({ options, identity, transport, interval, changed: () => state.again(), log })
  link.onHeartbeat(mover.heard)

  // State that survives a restart
  const outbox = openOutbox(join(options.state, 'outbox'), { warn: log.warn })
  const rejected = createRejected(join(options.state, 'rejected.jsonl'), now)
  const saved = openMemory(join(options.state, 'state.json'), { ready: () => outbox.flush(), now, warn: log.warn })
  const { memory } = saved
  const policy = createPolicy({ directory: options.config, now })
  const upgrades = createUpgrades({ options, identity, policy, now, log })
  const journal = openJournal(join(options.state, 'cmd-journal.json'), now, { isUnderWay: upgrades.isUnderWay })

  // fail2ban
  const python = findInterpreter(options.f2bServer)
  const config = createEngineConfig({ directory: options.f2bConfig, python, lister, checker })
  const { probe, probeAll } = createProbes(python, probeProgram)
  const socketPath = options.f2bSocket ?? (await config.socket().catch(() => null)) ?? '/var/run/fail2ban/fail2ban.sock'
  const engine = createEngine({
    socketPath,
    onUp: () => void cameUp(),
    onDown: () => log.warn('fail2ban is gone; waiting for it'),
  })
  const loader = createJailLoader({ engine, config, runDirectory: options.run })

  // Bans
  const isShielded = (jail: string, ip: string): boolean => jail === ownJail && shield.has(ip)
  const bans = createHostBans({
    serverId: identity.server_id,
    engine,
    python,
    saved,
    append: entries => {
      outbox.append(entries)
      if (entries.length > 0) sender.wake()
    },
    transport,
    policy,
    options,
    isShielded,
    isOfFleet: (jail, ip) => hostShield.fleetJail.holds(jail, ip),
    onBan: (jail, ip, hasActed) => whitelist.met(jail, ip, hasActed),
    now,
    log,
  })
  const { ledger, tail, overrides, snapshot, hook } = bans
  const ownJailKeeper = createOwnJail({ f2bConfig: options.f2bConfig, engine, loader, hook, log })

  // Operators' signatures
  const seals = createSealGate({
    configDirectory: options.config,
    serverId: identity.server_id,
    spent: openSpent(join(options.state, 'seals.json'), now),
    now,
  })
  const approvals = openApprovals(join(options.state, 'approvals.json'), () => {
    state.again()
    void knock.judgeAgain()
  })

  // Desired state
  const store = createStore(options.state)
  const whitelist = createWhitelist({
    store,
    engine,
    config,
    ledger,
    overrides,
    drain: tail.drain,
    runDirectory: options.run,
    limits: policy.listLimits,
    approvals: () => (seals.wants(wideWhitelist) ? approvals : null),
    onHeld: () => state.again(),
    now,
    log,
  })

  const knock = createKnock({
    stateDirectory: options.state,
    serverId: identity.server_id,
    nft: options.nft,
    connection: inheritedConnection(nftablesSubsystem),
    whyNotClose: (port, holds) =>
      policy.whyNotClose(port, holds) ??
      (holds || approvals.isPortApproved(port) || !seals.wants(closedPort) ? null : unapprovedPort(port)),
    onWanted: ports => approvals.followPorts(ports),
    allowed: whitelist.listed,
    answers: wire.answers,
    append: entries => {
      outbox.append(entries)
      sender.wake()
    },
    clockOffset: transport.clockOffset,
    changed: () => state.knocksChanged(),
    now,
    log,
  })

  // The shield
  const floor = createFloor({
    baseUrls: () => [identity.base_url, mover.url()],
    proxy: identity.proxy,
    peer: transport.peer,
    now,
  })
  const kernel = openKernel(options.nft)
  const hostShield = createHostShield({
    stateDirectory: options.state,
    runDirectory: options.run,
    kernel,
    loginSources,
    whitelist,
    floor,
    engine,
    ensureOwnJail: ownJailKeeper.ensure,
    ledger,
    memory,
    overrides,
    drain: tail.drain,
    wire,
    onHeld: () => state.again(),
    verify: () => state.verify(),
    clockOffset: transport.clockOffset,
    now,
    log,
  })
  const { shield, fleet } = hostShield

  // Commands
  const guard = createGuard({ floor, whitelisted: whitelist.covers })
  const shieldOrders = createShieldOrders({ shield, fleet, guard, now })
  const templates = createTemplates({ engine, config, loader, python, policy, drain: tail.drain })
  const handlers = createHandlers({
    engine,
    config,
    loader,
    ledger,
    memory,
    overrides,
    guard,
    shield: shieldOrders,
    unbanLater: bans.wishes.unbanLater,
    templates,
    drain: tail.drain,
    save: saved.save,
    ensureOwnJail: ownJailKeeper.ensure,
    settle: () => settle(),
    unsettled() {
      snapshot.unsettled()
      protection.hold('everything')
    },
    client: [options.f2bClient, '-c', options.f2bConfig, '-s', socketPath],
    service: serviceKind(options),
    nft: options.nft,
    now,
    approvals: approvals.handlers,
    selfTest: createHostSelfTest({ testBan: shield.testBan, probe, engine, config, loader, options, now }),
    upgrade: upgrades.handler,
  })
  const runner = createRunner({
    handlers,
    journal,
    seals,
    policy,
    isShieldUsed: shieldOrders.isUsed,
    onResult: (command, success) => {
      results.wake()
      if (success && command && /^jail-|-template$/.test(command.type)) heartbeat.wake()
    },
    log,
  })

  const protection = createProtection({
    engine,
    config,
    python,
    socketPath,
    transport,
    outbox,
    shield,
    floor,
    bans: { ledger, overrides, whitelist, drain: tail.drain },
    probeAll,
    generation: kernel.generation,
    whyNotProbe: () => policy.whyNotCommand('self-test', {}),
    options,
    onNews: () => heartbeat.wake(),
    now,
    log,
  })

  // The loops
  const common = { wire, link, signal: stopping.signal, now, log }
  const sender = createSender({
    ...common,
    outbox,
    rejected,
    clockOffset: transport.clockOffset,
    onKnocks: knock.taken,
  })
  const results = createResults({ ...common, journal })
  const { clockOffset } = transport
  const comparison = createComparison({ ...common, serverId: identity.server_id, ledger, outbox, engine, clockOffset })
  const heartbeat = createHeartbeat({
    ...common,
    engine,
    config,
    serverId: identity.server_id,
    about: aboutHost(identity),
    nftables: createNftCheck(options.nft, now),
    shield: shield.report,
    drops: hostShield.drops,
    lists: hostShield.lists,
    sealed: seals.report,
    upgrades: upgrades.report,
    metrics: createMetrics(),
    policy: policy.state,
    protection: protection.report,
    onCommands: runner.take,
    onState: version => state.want(version),
    onAnswer: once(() => markAlive(options.run)),
  })
  const state = createStateLoop({ ...common, store, whitelist, knock, fleet, lists: hostShield.lists, mover })
  const poll = createPoll({
    ...common,
    onCommands: runner.take,
    state: state.version,
    onState: state.want,
    interval,
  })

  const settleInTurn = createSerial()

  /** Runs on each new connection to fail2ban, which may have been restarted without our action and settings. */
  const cameUp = async (): Promise<void> => {
    try {
      log.info(`fail2ban ${engine.version() ?? ''} answers`)
      hook.forget()
      ownJailKeeper.tryAgain()
      snapshot.unsettled()
      protection.hold('engine')
      await engine.dissolve(testJail)
      tail.follow(await engine.databaseFile())
      await engine.keepHistory(historySeconds)
      await bans.wishes.run()
      await bans.adoption.run()
      await settle()
      await hostShield.moveOwnBans()
      heartbeat.wake()
    } catch (error) {
      log.debug(`fail2ban went away again: ${errorText(error)}`)
    }
  }

  /** Restores what a reload or restart of fail2ban removed. */
  const settle = (): Promise<void> =>
    settleInTurn(async () => {
      const touched = await hook.run()
      const isStarted = await ownJailKeeper.keep()
      // A start or a reload sets it back: fail2ban answers before its client has sent the whole configuration.
      if (touched) await engine.keepHistory(historySeconds)
      await whitelist.look(touched || isStarted)
    })

  const followPolicy = createPolicyFollower({ policy, wake: heartbeat.wake, judgeAgain: knock.judgeAgain, log })

  /** Runs every 5 s. While fail2ban is down, this is the attempt to reach it. */
  const lookAtEngine = async (): Promise<void> => {
    if (engine.version() === null) await engine.ping().catch(() => undefined)
    else await settle()
  }

  intervals.every(lookEvery, lookAtEngine)
  intervals.every(lookEvery, followPolicy)
  intervals.every(snapshotEvery, bans.compare)
  intervals.every(1000, overrides.tick)
  intervals.every(1000, mover.tick)
  intervals.every(lookEvery, () => upgrades.settle(journal, results.wake))
  bans.spool.start()
  protection.start()
  await knock.start()
  await Promise.race([hostShield.start(intervals), new Promise(resolve => setTimeout(resolve, shieldWait))])
  await followPolicy()
  await engine
    .ping()
    .catch((error: unknown) => log.warn(`fail2ban does not answer (${errorText(error)}); waiting for it`))
  const loops = [heartbeat, poll, state, sender, results, comparison]
  const running = loops.map(loop => loop.run())

  return {
    async stop() {
      intervals.stop()
      protection.stop()
      bans.spool.stop()
      hostShield.stop()
      tail.stop()
      whitelist.stop()
      await Promise.race([knock.stop(), new Promise(resolve => setTimeout(resolve, 5000))])
      // A running command gets a moment to end. The next start reports longer ones as unknown.
      await Promise.race([runner.idle(), new Promise(resolve => setTimeout(resolve, 5000))])
      stopping.abort()
      for (const loop of loops) loop.wake()
      await Promise.race([Promise.all(running), new Promise(resolve => setTimeout(resolve, 2000))])
      saved.save()
      engine.close()
      transport.close()
    },
  }
}
