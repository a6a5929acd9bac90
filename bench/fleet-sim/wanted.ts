import { isDeepStrictEqual } from 'node:util'
import type { TargetInput } from '@stockade/contract'
import { overlaps } from '../../packages/agent/src/ip.ts'
import { laterEnd } from '../../packages/agent/src/shield/fleet-store.ts'
import { areSameKeys, parseListed } from '../../packages/agent/src/shield/listed.ts'
import { placeOf } from '../../packages/agent/src/shield/table.ts'
import type { ModelKernel } from './model-kernel.ts'

/* What each host should hold, kept beside the server by what was asked of it. */

export interface WantedBan {
  readonly entry: string
  readonly until: number | null
  readonly target: TargetInput
}
export interface WantedList {
  readonly name: string
  readonly target: TargetInput
  readonly mode: 'enforce' | 'observe' | 'off'
  readonly lines: readonly string[]
}
export interface Member {
  readonly id: string
  readonly name: string
  readonly ownAddress: string
  readonly kernel: ModelKernel
}

/** Ends nearer than this are not compared: the clocks of kernel, agent and comparison differ. */
const blur = 6000

export const createWantedState = () => {
  const bans = new Map<number, WantedBan>()
  const lists = new Map<number, WantedList>()
  const tags = new Map<string, Set<string>>()
  const whitelist = new Map<number, string>()

  const concerns = (target: TargetInput, id: string): boolean =>
    target.all === true ||
    target.server_ids?.includes(id) === true ||
    target.tags?.some(tag => tags.get(id)?.has(tag)) === true
  const isWhitelisted = (entry: string): boolean => [...whitelist.values()].some(listed => overlaps(listed, entry))

  const bansOf = ({ id, ownAddress }: Member, now: number): Map<string, number | null> => {
    const ends = new Map<string, number | null>()
    for (const { entry, until, target } of bans.values()) {
      if ((until !== null && until <= now) || !concerns(target, id)) continue
      if (overlaps(entry, ownAddress) || isWhitelisted(entry)) continue
      const place = placeOf(entry)
      const before = ends.get(place)
      ends.set(place, before === undefined ? until : laterEnd(before, until))
    }
    return ends
  }
  const banDifferences = (host: Member, now: number): string[] => {
    const [wanted, held] = [bansOf(host, now), host.kernel.bans()]
    const isOver = (end: number | null | undefined) => end !== null && end !== undefined && end < now + blur
    const isEven = (a: number | null, b: number | null) => (a === null || b === null ? a === b : Math.abs(a - b) < blur)
    return [...new Set([...wanted.keys(), ...held.keys()])].flatMap(place => {
      const [want, has] = [wanted.get(place), held.get(place)]
      if (want === undefined) return isOver(has) ? [] : [`${host.name}: holds ${place}, which is not banned`]
      if (has === undefined) return isOver(want) ? [] : [`${host.name}: lacks ${place}`]
      return isEven(want, has) ? [] : [`${host.name}: ${place} ends at ${has}, and should at ${want}`]
    })
  }

  /** Keys of the whitelist's cut, for all hosts once. */
  const keysOf = ({ lines }: WantedList) => {
    const cut = lines.filter(line => !isWhitelisted(line))
    return new Map(
      parseListed(cut.map(line => `${line}\n`).join(''), 200_000).map(set => [`ipv${set.family} ${set.length}`, set]),
    )
  }
  const listDifferences = (host: Member, keys: ReadonlyMap<number, ReturnType<typeof keysOf>>): string[] => {
    const wanted = [...lists].filter(([, list]) => list.mode !== 'off' && concerns(list.target, host.id))
    const held = host.kernel.lists()
    const surplus = held.filter(({ id }) => !wanted.some(([wantedId]) => wantedId === id))
    return [
      ...surplus.map(({ id }) => `${host.name}: holds list ${id}, which it should not`),
      ...wanted.flatMap(([id, list]) => {
        const there = held.find(one => one.id === id)
        if (!there) return [`${host.name}: lacks list ${id}`]
        if (there.mode !== list.mode) return [`${host.name}: list ${id} is ${there.mode}, and should be ${list.mode}`]
        const sets = keys.get(id) ?? new Map<string, never>()
        const isEqual =
          isDeepStrictEqual([...there.keys.keys()].sort(), [...sets.keys()].sort()) &&
          [...sets].every(([size, set]) => areSameKeys(set.family, there.keys.get(size) ?? Buffer.alloc(0), set.keys))
        return isEqual ? [] : [`${host.name}: list ${id} has other entries`]
      }),
    ]
  }
  return {
    bans,
    lists,
    tags,
    whitelist,
    isWhitelisted,
    differences(hosts: readonly Member[]): string[] {
      const now = Date.now()
      const keys = new Map([...lists].map(([id, list]) => [id, keysOf(list)]))
      return hosts.flatMap(host => [...banDifferences(host, now), ...listDifferences(host, keys)])
    },
  }
}
export type WantedState = ReturnType<typeof createWantedState>
