import { join } from 'node:path'
import { EngineDown } from '../src/engine/engine.ts'
import { defaultRules } from '../src/policy/format.ts'
import type { FleetSet } from '../src/replies.ts'
import { createFleetBans } from '../src/shield/fleet-bans.ts'
import { createFleetJail } from '../src/shield/fleet-jail.ts'
import { digestOf, endsOf, openFleetStore } from '../src/shield/fleet-store.ts'
import type { FleetBan } from '../src/shield/fleet-store.ts'
import { KernelRefused } from '../src/shield/kernel.ts'
import type { Kernel, Placed } from '../src/shield/kernel.ts'
import { createShield } from '../src/shield/shield.ts'

/* A host whose kernel, fail2ban and server are sets in memory. What is tested is between them: the shield and the fleet bans. */

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }

/** The kernel's table as a map from set and key to an end; it outlives the agent. */
const modelKernel = (now: () => number) => {
  let elements: Map<string, number | null> | null = null
  let generation = 0
  let foreign = 0
  let isFailing = false
  const put = (placed: Iterable<Placed>): void => {
    for (const { set, entry, timeout } of placed)
      if (set.startsWith('ban'))
        elements?.set(`${set} ${entry.key.toString('hex')}`, timeout === null ? null : now() + timeout)
  }
  const prune = (): void => {
    for (const [place, end] of elements ?? []) if (end !== null && end <= now()) elements?.delete(place)
  }
  const change = (work: () => void): Promise<void> => {
    if (isFailing) return Promise.reject(new KernelRefused('the shield is full', 'ENFILE'))
    generation += 1
    work()
    return Promise.resolve()
  }
  const kernel: Kernel = {
    driver: 'netlink',
    isOwned: () => false,
    dropped: () => null,
    replace: (_, placed) =>
      change(() => {
        elements = new Map()
        put(placed)
      }),
    reshape: () => change(() => undefined),
    addListSets: () => change(() => undefined),
    fill: () => change(() => undefined),
    keys: () => Promise.resolve(Buffer.alloc(0)),
    listed: () => null,
    change: (added, removed) =>
      change(() => {
        if (elements === null) throw new KernelRefused('no such table', 'ENOENT')
        for (const { set, entry } of removed) elements.delete(`${set} ${entry.key.toString('hex')}`)
        put(added)
      }),
    find(set, key) {
      prune()
      const end = elements?.get(`${set} ${key.toString('hex')}`)
      return Promise.resolve(end === undefined ? null : { expires: end === null ? null : end - now(), packets: 0 })
    },
    elements(set) {
      prune()
      const own = [...(elements ?? [])].filter(([place]) => place.startsWith(`${set} `))
      return Promise.resolve(
        new Map(own.map(([place, end]) => [place.slice(set.length + 1), end === null ? null : end - now()])),
      )
    },
    damage: () => Promise.resolve(elements === null ? 'is gone' : null),
    generation: () => generation,
    foreign: () => foreign,
    remove: () => change(() => (elements = null)),
  }
  return {
    kernel,
    flush() {
      elements = null
      generation += 1
      foreign += 1
    },
    fail(should: boolean) {
      isFailing = should
    },
    all() {
      prune()
      return new Map(elements ?? [])
    },
  }
}

/** A server of one host: what it should hold, and the log that differences are made of. */
const modelServer = (now: () => number) => {
  let version = 0
  const changedAt = new Map<number, number>()
  let bans = new Map<number, FleetBan>()
  const current = (): FleetBan[] => [...bans.values()].filter(({ until }) => until === null || until > version)
  return {
    current,
    bans: () => bans,
    set(next: Map<number, FleetBan>, changed: readonly number[]) {
      version = Math.max(version + 1, now())
      bans = next
      for (const id of changed) changedAt.set(id, version)
    },
    desired: () => ({ version, digest: digestOf(endsOf(current())) }),
    give(known: number | null): FleetSet | null {
      if (known === version) return null
      const digest = digestOf(endsOf(current()))
      if (known === null || known > version) return { version, full: true, digest, add: current(), remove: [] }
      const changed = [...changedAt].flatMap(([id, at]) => (at > known ? [id] : []))
      const members = new Map(current().map(ban => [ban.id, ban]))
      return {
        version,
        full: false,
        digest,
        add: changed.flatMap(id => members.get(id) ?? []),
        remove: changed.filter(id => !members.has(id)),
      }
    },
  }
}

/** fail2ban's jail `stockade`: a set of addresses that outlives the agent. */
const modelEngine = () => {
  const banned = new Set<string>()
  const world = { isDown: false, reported: new Set<string>() }
  const answer = <T>(work: () => T): Promise<T> =>
    world.isDown ? Promise.reject(new EngineDown('fail2ban is gone')) : Promise.resolve(work())
  const engine = {
    version: () => '1.0.2',
    banned: () => answer(() => new Map([['stockade', new Set(banned)]])),
    ban: (_: string, ip: string) => answer(() => (banned.add(ip), 1)),
    unban: (_: string, ip: string) => answer(() => Number(banned.delete(ip))),
  }
  const active = (jail: string, ip: string) =>
    world.reported.has(ip) ? { jail, ip, time: 1, bantime: -1, round: 0 } : null
  return { engine, ledger: { active }, banned, world }
}

export const modelHost = (directory: string, clock: { now: number }) => {
  const model = modelKernel(() => clock.now)
  const server = modelServer(() => clock.now)
  const fail2ban = modelEngine()
  const world = {
    loseReply: false,
    reaches: true,
    whitelisted: new Set<string>(),
    logins: [] as string[],
    limits: defaultRules.fleetBans,
    isPolicyUnreadable: false,
    approved: null as ReadonlySet<string> | null,
  }
  const start = async () => {
    const store = openFleetStore(directory)
    const shield = createShield({
      file: join(directory, 'shield.json'),
      fallbackFile: join(directory, 'shield.nft'),
      kernel: model.kernel,
      beside: store.wanted,
      kept: () => [],
      isWhitelisted: entry => world.whitelisted.has(entry),
      trackedConnections: () => 0,
      answers: () => Promise.resolve(world.reaches),
      clockOffset: () => 0,
      isReported: () => false,
      onBanned: () => undefined,
      onEnded: () => undefined,
      now: () => clock.now,
      steadyNow: () => clock.now,
      bootNow: () => clock.now,
      log: quiet,
    })
    const jail = createFleetJail({
      ...fail2ban,
      stateDirectory: directory,
      store,
      shield: shield.report,
      ensureOwnJail: () => Promise.resolve(false),
      serverNow: () => clock.now,
    })
    const fleet = createFleetBans({
      store,
      shield,
      jail,
      wire: {
        fleetBans: known =>
          world.loseReply ? Promise.reject(new Error('the answer was cut off')) : Promise.resolve(server.give(known)),
        answers: () => Promise.resolve(world.reaches),
      },
      limits() {
        if (world.isPolicyUnreadable) throw new Error('policy.json can not be read')
        return world.limits
      },
      approved: () => world.approved,
      isWhitelisted: entry => world.whitelisted.has(entry),
      neverBanned: () => ['192.0.2.1'],
      loginSources: () => world.logins,
      onHeld: () => undefined,
      // Each look is later, so that a trial ends.
      steadyNow: () => (clock.now += 25_000),
      log: quiet,
    })
    await shield.start()
    jail.open()
    return { shield, fleet, jail, store }
  }
  return { model, server, world, fail2ban, start }
}
export const ban = (id: number, entry: string, until: number | null = null, isForced = false): FleetBan => ({
  id,
  entry,
  until,
  isForced,
})
