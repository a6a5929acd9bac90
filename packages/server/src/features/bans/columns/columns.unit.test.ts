import { expect, test } from 'vitest'
import { countAddresses } from './count-addresses.ts'
import { groupColumns } from './group.ts'
import type { ColumnFilter } from './hits.ts'
import type { ColumnPart, ColumnTree } from './mask.ts'
import { createColumns, UnfitForColumns } from './rows.ts'
import type { ColumnBan } from './rows.ts'

/* Random bans that come, end and go while the columns settle now and then, against the same bans in a plain list. */

const now = 1_795_000_000_000
const day = 86_400_000
let state = 20_261_123
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 4_294_967_296) * below)
}
const anAddress = (): Uint8Array =>
  draw(4) === 0
    ? Uint8Array.from({ length: 16 }, (_, index) => (index === 0 ? 32 : index === 15 ? draw(40) : draw(2)))
    : Uint8Array.of(32, draw(2), 1 + draw(2), draw(60))
const aBan = (id: number): ColumnBan => ({
  id,
  server: 1 + draw(6),
  jail: draw(4),
  country: draw(3),
  asn: draw(3) === 0 ? null : 64_500 + draw(4),
  city: [null, 'Rome', 'Romeoville', 'Lima'][draw(4)] ?? null,
  ip: anAddress(),
  at: now - draw(30 * day),
  duration: [null, -1, 600, 86_400, 604_800, 31_557_600][draw(6)] ?? null,
  isOver: draw(10) === 0,
})
const textOf = (ip: Uint8Array) => Buffer.from(ip).toString('hex')
const isActive = ({ isOver, duration, at }: ColumnBan) =>
  !isOver && (duration === null || duration < 0 || at + duration * 1000 > now)
const every: ColumnFilter = {
  servers: null,
  server: null,
  jail: null,
  country: null,
  asn: null,
  range: null,
  active: null,
  from: null,
  to: null,
  tree: null,
}
const aPart = (): ColumnPart => {
  const byKind: readonly [ColumnPart, ...ColumnPart[]] = [
    { kind: 'numbers', column: 'server', numbers: [1 + draw(6), 1 + draw(6)] },
    { kind: 'numbers', column: 'jail', numbers: draw(3) === 0 ? [] : [draw(4)] },
    { kind: 'numbers', column: 'country', numbers: [draw(3), 70_000] },
    { kind: 'numbers', column: 'asn', numbers: [64_500 + draw(4), 0, -1] },
    { kind: 'range', first: Uint8Array.of(32, 0, 1, draw(60)), last: Uint8Array.of(32, 1, 1, draw(60)) },
    { kind: 'range', first: new Uint8Array(16).fill(0), last: new Uint8Array(16).fill(255) },
    { kind: 'city', text: ['rome', 'li*a', 'nowhere'][draw(3)] ?? '', quoted: false },
  ]
  return byKind[draw(byKind.length)] ?? byKind[0]
}
const aTree = (depth = 0): ColumnTree => {
  switch (depth < 3 ? draw(5) : 0) {
    case 1:
      return { kind: 'not', item: aTree(depth + 1) }
    case 2:
      return { kind: 'and', items: [aTree(depth + 1), aTree(depth + 1)] }
    case 3:
      return { kind: 'or', items: [aTree(depth + 1), aTree(depth + 1)] }
    default:
      return { kind: 'term', parts: Array.from({ length: draw(3) }, aPart) }
  }
}
const partHolds = (ban: ColumnBan, part: ColumnPart): boolean => {
  if (part.kind === 'numbers') return part.numbers.includes(ban[part.column] ?? NaN)
  if (part.kind === 'range') return isWithin(ban.ip, part)
  return ban.city !== null && new RegExp(part.text.replace('*', '.*'), 'i').test(ban.city)
}
const holds = (ban: ColumnBan, tree: ColumnTree): boolean => {
  if (tree.kind === 'term') return tree.parts.some(part => partHolds(ban, part))
  if (tree.kind === 'not') return !holds(ban, tree.item)
  return tree.kind === 'and' ? tree.items.every(item => holds(ban, item)) : tree.items.some(item => holds(ban, item))
}
const aFilter = (): ColumnFilter => {
  const maybe = <T extends object>(part: T): Partial<T> => (draw(4) === 0 ? part : {})
  return {
    ...every,
    ...maybe({ servers: [1, 2, 3, 5] }),
    ...maybe({ server: 1 + draw(6) }),
    ...maybe({ jail: draw(4) }),
    ...maybe({ country: draw(3) }),
    ...maybe({ asn: 64_500 + draw(4) }),
    ...maybe({ range: { first: Uint8Array.of(32, 0, 1, 0), last: Uint8Array.of(32, 0, 2, 29) } }),
    ...maybe({ active: draw(2) === 0 }),
    ...maybe({ from: now - draw(30 * day) }),
    ...maybe({ to: now - draw(10 * day) }),
    ...(draw(2) === 0 ? { tree: aTree() } : {}),
  }
}
const isWithin = (ip: Uint8Array, range: ColumnFilter['range']) =>
  range === null ||
  (ip.length === range.first.length && Buffer.compare(ip, range.first) >= 0 && Buffer.compare(ip, range.last) <= 0)
const isListed = ({ server }: ColumnBan, filter: ColumnFilter) =>
  filter.server === null ? filter.servers === null || filter.servers.includes(server) : server === filter.server
const grouped = (bans: readonly ColumnBan[], filter: ColumnFilter) => {
  const listed = bans.filter(ban => isListed(ban, filter) && isWithin(ban.ip, filter.range))
  const matching = listed.filter(
    ban =>
      (filter.jail === null || ban.jail === filter.jail) &&
      (filter.country === null || ban.country === filter.country) &&
      (filter.asn === null || ban.asn === filter.asn) &&
      (filter.tree === null || holds(ban, filter.tree)) &&
      (filter.active === null || isActive(ban) === filter.active) &&
      ban.at >= (filter.from ?? -Infinity) &&
      ban.at < (filter.to ?? Infinity),
  )
  const byAddress = Map.groupBy(matching, ({ ip }) => textOf(ip))
  const activeNow = new Set(listed.filter(isActive).map(({ ip }) => textOf(ip)))
  return {
    attackers: byAddress.size,
    bans: matching.length,
    activeAddresses: [...byAddress.keys()].filter(ip => activeNow.has(ip)).length,
    groups: [...byAddress].map(([ip, own]) => ({
      ip,
      bans: own.length,
      servers: new Set(own.map(({ server }) => server)).size,
      first: Math.min(...own.map(({ at }) => at)),
      last: Math.max(...own.map(({ at }) => at)),
    })),
  }
}

test('columns group as a plain list does, whatever was added, ended, removed and settled before', () => {
  const columns = createColumns(300)
  let bans: ColumnBan[] = []
  let id = 0
  for (let round = 0; round < 60; round++) {
    for (let n = draw(80); n > 0; n--) {
      const ban = aBan(++id)
      bans.push(ban)
      columns.add(ban)
    }
    for (let n = draw(12); n > 0; n--) {
      const ended = bans[draw(bans.length)]
      if (!ended) continue
      columns.end(ended.ip, ended.id)
      bans = bans.map(ban => (ban.id === ended.id ? { ...ban, isOver: true } : ban))
    }
    for (let n = draw(20); n > 0; n--) {
      const removed = bans[draw(bans.length)]
      if (!removed) continue
      columns.remove(removed.ip, removed.id)
      bans = bans.filter(ban => ban.id !== removed.id)
    }
    if (draw(3) === 0) columns.settle()
    const servers = draw(2) === 0 ? [draw(4)] : [draw(4), draw(4)]
    const from = bans[draw(bans.length)]?.at ?? 0
    const banned = bans.filter(ban => servers.includes(ban.server) && ban.at >= from)
    expect(countAddresses(columns, { servers, from })).toBe(new Set(banned.map(({ ip }) => textOf(ip))).size)
    for (let mix = 0; mix < 8; mix++) {
      const filter = mix === 0 ? every : aFilter()
      const sort = (['last', 'first', 'bans', 'servers'] as const)[draw(4)] ?? 'last'
      const descending = draw(2) === 0
      const { groups, ...totals } = grouped(bans, filter)
      const way = descending ? -1 : 1
      const order = groups.sort((a, b) => way * (a[sort] - b[sort]) || (a.ip < b.ip ? -1 : 1))
      const offset = draw(3) * 10
      const found = groupColumns(columns, { filter, now, sort, descending, offset, limit: 25 })
      expect(found).toMatchObject(totals)
      expect(
        found.rows.map(({ ip, bans: n, servers, first, last }) => ({ ip: textOf(ip), bans: n, servers, first, last })),
      ).toEqual(order.slice(offset, offset + 25))
    }
  }
})

test('a number that does not fit into its column is refused, not cut', () => {
  const columns = createColumns()
  expect(() => columns.add({ ...aBan(1), jail: 65_536 })).toThrow(UnfitForColumns)
})
