import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@stockade/client'
import type { TargetInput } from '@stockade/contract'
import type { Service, Source } from './servers.ts'
import type { SimHost } from './sim-host.ts'
import type { WantedState } from './wanted.ts'

/* A day of what operators, networks and hosts do, compressed to minutes. */

export type Random = () => number
export interface World {
  readonly service: Service
  readonly source: Source
  readonly wanted: WantedState
  readonly hosts: SimHost[]
  readonly random: Random
  addHost(): Promise<void>
  /** Also what an agent looks for only once a minute: lost elements, and a kernel that refused. */
  readonly hasSlowTrouble: boolean
}

const tagNames = ['web', 'db', 'mail', 'edge']
/** At most this share of hosts is away at a time. */
const mostAway = 0.15

const pick = <T>(random: Random, items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
const below = (random: Random, most: number): number => Math.floor(random() * most)

/** Few enough that bans of one entry with different targets, and ranges in ranges, are frequent. */
const anEntry = (random: Random): string => {
  const draw = random()
  if (draw < 0.6) return `11.0.${below(random, 4)}.${below(random, 100)}`
  if (draw < 0.75) return `11.0.${below(random, 4)}.${16 * below(random, 7)}/28`
  if (draw < 0.8) return `11.0.${below(random, 4)}.0/24`
  if (draw < 0.83) return `11.${below(random, 3)}.0.0/20`
  if (draw < 0.87) return `12.0.${below(random, 4)}.0/24`
  return draw < 0.94 ? `2001:db8:${below(random, 40)}::/64` : `2001:db8:${below(random, 40)}::${1 + below(random, 9)}`
}
const aTarget = ({ random, hosts }: World): TargetInput => {
  const draw = random()
  if (draw < 0.4) return { all: true }
  if (draw < 0.8) return { tags: [...new Set([pick(random, tagNames) ?? 'web', pick(random, tagNames) ?? 'db'])] }
  const some = Array.from({ length: 1 + below(random, 20) }, () => pick(random, hosts)?.id ?? '')
  return { server_ids: [...new Set(some)] }
}
/** Seconds; most bans outlast the day. */
const aDuration = (random: Random): number =>
  random() < 0.2 ? -1 : random() < 0.5 ? 3600 + below(random, 80_000) : 2 + below(random, 60)

const ban = async (world: World): Promise<void> => {
  const { service, wanted, random } = world
  const target = aTarget(world)
  const body = { entry: anEntry(random), target, duration: aDuration(random), force: true }
  const { id, entry, expires_at } = await service.admin().call('POST /fleet/bans', { body })
  wanted.bans.set(id, { entry, until: expires_at === null ? null : Date.parse(expires_at), target })
}
const standing = ({ wanted, random }: World) =>
  pick(
    random,
    [...wanted.bans].filter(([, { until }]) => until === null || until > Date.now() + 3000),
  )
const lift = async (world: World): Promise<void> => {
  const found = standing(world)
  if (!found) return
  await world.service.admin().call('DELETE /fleet/bans/{id}', { params: { id: found[0] } })
  world.wanted.bans.delete(found[0])
}
const changeBan = async (world: World): Promise<void> => {
  const found = standing(world)
  if (!found) return
  const [id, before] = found
  const target = world.random() < 0.4 ? aTarget(world) : undefined
  const body = { duration: aDuration(world.random), ...(target ? { target } : {}) }
  const { expires_at } = await world.service.admin().call('PATCH /fleet/bans/{id}', { params: { id }, body })
  const until = expires_at === null ? null : Date.parse(expires_at)
  world.wanted.bans.set(id, { entry: before.entry, until, target: target ?? before.target })
}
const retag = async ({ service, wanted, hosts, random }: World): Promise<void> => {
  const some = [...new Set(Array.from({ length: 1 + below(random, 30) }, () => pick(random, hosts)?.id ?? ''))]
  const tag = pick(random, tagNames) ?? 'web'
  const isAdded = random() < 0.6
  await service
    .admin()
    .call('POST /servers/tags', { body: { server_ids: some, ...(isAdded ? { add: [tag] } : { remove: [tag] }) } })
  for (const id of some) {
    const tags = wanted.tags.get(id) ?? new Set()
    if (isAdded) tags.add(tag)
    else tags.delete(tag)
    wanted.tags.set(id, tags)
  }
}

/** Entries that have no neighbours, so that the server merges none. */
const aLine = (random: Random): string =>
  random() < 0.8
    ? `21.${below(random, 20)}.${below(random, 250)}.${1 + 2 * below(random, 120)}`
    : `22.${below(random, 20)}.${2 * below(random, 120)}.0/24`
const textOf = (lines: readonly string[]): string => `# a list\n${lines.join('\n')}\n`
/** The first look at a source comes after the answer. */
export const untilRead = async (service: Service, id: number): Promise<number> => {
  for (;;) {
    const { version, last_error } = await service.admin().call('GET /lists/{id}', { params: { id } })
    if (last_error !== null) throw new Error(last_error)
    if (version > 0) return version
    await sleep(20)
  }
}
const addList = async (world: World): Promise<void> => {
  const { service, source, wanted, random } = world
  if (wanted.lists.size >= 6) return
  const name = `list-${Date.now()}`
  const lines = [...new Set(Array.from({ length: 50 + below(random, 3000) }, () => aLine(random)))]
  source.texts.set(`/${name}`, textOf(lines))
  const target = aTarget(world)
  const mode = random() < 0.6 ? 'enforce' : 'observe'
  const from = { kind: 'url' as const, url: source.urlOf(`/${name}`) }
  const body = { name, source: from, target, mode, allow_private: true } as const
  const { id } = await service.admin().call('POST /lists', { body })
  await untilRead(service, id)
  wanted.lists.set(id, { name, target, mode, lines })
}
const updateList = async ({ service, source, wanted, random }: World): Promise<void> => {
  const [id, list] = pick(random, [...wanted.lists]) ?? []
  if (id === undefined || list === undefined) return
  const refresh = () =>
    service.admin().call('POST /lists/{id}/refresh', { params: { id }, body: { accept_change: false } })
  if (list.mode === 'off') return
  if (random() < 0.3) {
    const poison = [
      '<!doctype html><html><body>404</body></html>',
      '',
      `0.0.0.0/0\n${list.lines.join('\n')}\n`.slice(0, 10),
    ]
    source.texts.set(`/${list.name}`, pick(random, poison) ?? '')
    const { last_error } = await refresh()
    if (last_error === null) throw new Error('a poisoned list was applied')
    return
  }
  const stay = list.lines.filter(() => random() > 0.1)
  const lines = [...new Set([...stay, ...Array.from({ length: stay.length / 10 }, () => aLine(random))])]
  source.texts.set(`/${list.name}`, textOf(lines))
  const { last_error } = await refresh()
  if (last_error === null) wanted.lists.set(id, { ...list, lines })
}
const changeList = async (world: World): Promise<void> => {
  const { service, wanted, random } = world
  const [id, list] = pick(random, [...wanted.lists]) ?? []
  if (id === undefined || list === undefined) return
  if (random() < 0.2) {
    await service.admin().call('DELETE /lists/{id}', { params: { id } })
    wanted.lists.delete(id)
    return
  }
  const mode = pick(random, ['enforce', 'enforce', 'observe', 'off'] as const) ?? 'off'
  const target = random() < 0.3 ? aTarget(world) : list.target
  const given = { params: { id }, body: { mode, target } }
  // A list that was off is fetched again.
  if (list.mode === 'off') world.source.texts.set(`/${list.name}`, textOf(list.lines))
  await service.admin().call('PATCH /lists/{id}', given)
  wanted.lists.set(id, { ...list, mode, target })
}
const changeWhitelist = async ({ service, wanted, random }: World): Promise<void> => {
  const listed = pick(random, [...wanted.whitelist.keys()])
  if (listed !== undefined && random() < 0.5) {
    await service.admin().call('DELETE /whitelist/{id}', { params: { id: listed } })
    wanted.whitelist.delete(listed)
    return
  }
  const ip = random() < 0.5 ? `11.0.${below(random, 4)}.${below(random, 100)}` : aLine(random).replace('/24', '')
  // A whitelisted address in a range splits it, which the comparison does not know.
  if (ip.startsWith('22.')) return
  const { id } = await service.admin().call('POST /whitelist', { body: { ip, description: 'simulation' } })
  wanted.whitelist.set(id, ip)
}

const away = new Set<string>()
const aHostThere = ({ hosts, random }: World): SimHost | null => {
  if (away.size > hosts.length * mostAway) return null
  const host = pick(random, hosts)
  return host && host.isRunning() && !away.has(host.id) ? host : null
}
/** Kinds of trouble below this are over within seconds. */
const quickTrouble = 0.8

/** Something happens to a host, and after some seconds it is over. */
const trouble = (world: World, longest: number): Promise<void> => {
  const host = aHostThere(world)
  if (host === null) return Promise.resolve()
  away.add(host.id)
  const seconds = 1 + world.random() * longest
  const kind = world.random() * (world.hasSlowTrouble ? 1 : quickTrouble)
  return happens(world, host, kind, seconds)
    .catch((error: unknown) => failures.push(`${host.name}: ${String(error)}`))
    .then(() => void away.delete(host.id))
}
const failures: string[] = []
const happens = async ({ random }: World, host: SimHost, kind: number, seconds: number): Promise<void> => {
  if (kind < 0.4) {
    // An outage: of the network, of its replies, or of the agent.
    const how = random()
    if (how < 0.35) host.cut('all')
    else if (how < 0.6) host.cut('replies')
    else await host.stop()
    await sleep(seconds * 1000)
    host.cut('no')
    if (!host.isRunning()) await host.start()
  } else if (kind < 0.55) {
    // A restart of the host, or a new installation with its key.
    await host.stop()
    host.kernel.flush()
    if (random() < 0.5) host.wipe()
    await sleep(seconds * 300)
    await host.start()
  } else if (kind < 0.7) host.kernel.flush()
  else if (kind < quickTrouble) await host.lie(random)
  else if (kind < 0.9) host.kernel.loseBans(() => random() < 0.5)
  else {
    host.kernel.refuse(true)
    await sleep(seconds * 500)
    host.kernel.refuse(false)
  }
}

/** What happens, and how often among all that happens. */
const operations: readonly (readonly [name: string, weight: number, work: (world: World) => Promise<void>])[] = [
  ['ban', 30, ban],
  ['lift', 16, lift],
  ['change of a ban', 8, changeBan],
  ['change of tags', 8, retag],
  ['new list', 3, addList],
  ['list update', 10, updateList],
  ['change of a list', 5, changeList],
  ['change of the whitelist', 5, changeWhitelist],
  ['new server', 0.5, world => world.addHost()],
]

export interface DayReport {
  readonly counts: ReadonlyMap<string, number>
  readonly refusals: number
  readonly failures: readonly string[]
}

/** `every` is the pause between two operations in milliseconds; each second `troubles` hosts meet trouble. */
export const liveDay = async (
  world: World,
  { seconds, every, troubles, restarts }: { seconds: number; every: number; troubles: number; restarts: number },
): Promise<DayReport> => {
  const counts = new Map<string, number>()
  const note = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  let refusals = 0
  const until = Date.now() + seconds * 1000
  const under = new Set<Promise<void>>()
  const total = operations.reduce((sum, [, weight]) => sum + weight, 0)
  const operate = async (): Promise<void> => {
    let draw = world.random() * total
    const [name, , work] = operations.find(([, weight]) => (draw -= weight) < 0) ?? ['ban', 0, ban]
    note(name)
    try {
      await work(world)
    } catch (error) {
      // Refused with a reason, such as a ban of what is whitelisted; or the server is just being started.
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      refusals += 1
    }
  }
  const restartAt = Array.from({ length: restarts }, (_, n) => Date.now() + ((n + 1) * seconds * 1000) / (restarts + 1))
  let troubled = 0
  const from = Date.now()
  while (Date.now() < until) {
    await operate()
    for (; troubled < ((Date.now() - from) / 1000) * troubles; troubled++) {
      note('trouble of a host')
      const work = trouble(world, Math.min(25, seconds / 3)).finally(() => void under.delete(work))
      under.add(work)
    }
    if ((restartAt[0] ?? Infinity) < Date.now()) {
      restartAt.shift()
      note('kill of a server process')
      await world.service.restart()
    }
    await sleep(every)
  }
  await Promise.all(under)
  return { counts, refusals, failures }
}
