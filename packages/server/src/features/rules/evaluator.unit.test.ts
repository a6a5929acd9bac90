import { expect, test } from 'vitest'
import { parseIp } from '../../core/ip.ts'
import { createEvaluator } from './evaluator.ts'
import type { RuleLogic, SeenBan } from './evaluator.ts'
import { createHistory, keyOfAddress } from './history.ts'

const minute = 60_000
const hour = 60 * minute
const start = Date.UTC(2026, 10, 20)
let lastId = 0
const ban = (ip: string, serverNo: number, at: number, more: Partial<SeenBan> = {}): SeenBan => ({
  id: ++lastId,
  at: start + at,
  isLate: false,
  serverNo,
  jailId: 1,
  countryId: 0,
  asn: null,
  ip: parseIp(ip)?.bytes ?? new Uint8Array(4),
  ...more,
})
const everything = { jail: () => true, country: () => true, network: () => true, server: () => true }
const rule = (more: Partial<RuleLogic> = {}): RuleLogic => ({
  id: 1,
  minServers: 3,
  minBans: 3,
  within: hour,
  duration: 24 * hour,
  factor: 1,
  longest: null,
  perHour: 1000,
  standing: 1000,
  filter: everything,
  ...more,
})
const evaluatorOf = (...rules: RuleLogic[]) => createEvaluator(rules, () => null)

test('an address matches with the ban of its third server, once', () => {
  const evaluator = evaluatorOf(rule())
  expect(evaluator.take(ban('192.0.2.7', 1, 0))).toEqual([])
  expect(evaluator.take(ban('192.0.2.8', 3, 0))).toEqual([])
  expect(evaluator.take(ban('192.0.2.7', 1, minute))).toEqual([])
  expect(evaluator.take(ban('192.0.2.7', 2, 2 * minute))).toEqual([])
  const [match, ...others] = evaluator.take(ban('192.0.2.7', 3, 3 * minute))
  expect(others).toEqual([])
  expect(match).toMatchObject({ entry: '192.0.2.7', outcome: 'banned', times: 1, servers: [3, 2, 1] })
  expect(match?.until).toBe(start + 3 * minute + 24 * hour)
  expect(evaluator.take(ban('192.0.2.7', 4, 4 * minute)), 'while the ban stands').toEqual([])
})

test('bans count only within the window, whichever comes first', () => {
  const evaluator = evaluatorOf(rule({ minServers: 2, minBans: 2 }))
  evaluator.take(ban('192.0.2.7', 1, 0))
  expect(evaluator.take(ban('192.0.2.7', 2, hour + 1))).toEqual([])
  expect(evaluator.take(ban('192.0.2.7', 3, 30 * minute)), 'a late report').toHaveLength(1)
})

test('a late report completes no match, and counts when it arrives', () => {
  const evaluator = evaluatorOf(rule({ minServers: 2, minBans: 2 }))
  evaluator.take(ban('192.0.2.7', 1, 0))
  expect(evaluator.take(ban('192.0.2.7', 2, minute, { isLate: true }))).toEqual([])
  expect(evaluator.take(ban('192.0.2.7', 3, 2 * minute))).toMatchObject([{ servers: [3, 2, 1] }])
  expect(evaluator.take(ban('192.0.2.8', 2, 3 * minute, { isLate: true }))).toEqual([])
  expect(evaluator.take(ban('192.0.2.8', 1, 4 * minute))).toMatchObject([{ servers: [1, 2] }])
})

test('one server can not match alone where a rule asks for two', () => {
  const evaluator = evaluatorOf(rule({ minServers: 2, minBans: 2 }))
  for (let at = 0; at < 50; at++) expect(evaluator.take(ban('192.0.2.7', 1, at * 1000))).toEqual([])
})

test('the same report twice counts once', () => {
  const evaluator = evaluatorOf(rule({ minServers: 1, minBans: 2 }))
  const first = ban('192.0.2.7', 1, 0)
  expect(evaluator.take(first)).toEqual([])
  expect(evaluator.take(first)).toEqual([])
  expect(evaluator.take(ban('192.0.2.7', 1, 1))).toHaveLength(1)
})

test('a further ban of an address is longer, up to the longest, and its evidence is new', () => {
  const evaluator = evaluatorOf(
    rule({ minServers: 1, minBans: 2, duration: hour, factor: 3, longest: 5 * hour, within: 24 * hour }),
  )
  const lengths: number[] = []
  for (let at = 0; at < 40; at++)
    for (const match of evaluator.take(ban('192.0.2.7', 1, at * hour)))
      lengths.push(((match.until ?? 0) - match.at) / hour)
  expect(lengths.slice(0, 4)).toEqual([1, 3, 5, 5])
})

test('the evidence of a ban that ended does not count again', () => {
  const evaluator = evaluatorOf(rule({ minServers: 1, minBans: 2, duration: hour, within: 24 * hour }))
  const matchesAt = (at: number) => evaluator.take(ban('192.0.2.7', 1, at)).length
  expect([0, minute, 3 * hour, 4 * hour].map(matchesAt)).toEqual([0, 1, 0, 1])
})

test('addresses of a /64 are one, and the /64 is banned', () => {
  const evaluator = evaluatorOf(rule({ minServers: 2, minBans: 2 }))
  evaluator.take(ban('2001:db8:1:2::5', 1, 0))
  expect(evaluator.take(ban('2001:db8:1:3::5', 2, 1))).toEqual([])
  expect(evaluator.take(ban('2001:db8:1:2:ffff::9', 2, 2))).toMatchObject([{ entry: '2001:db8:1:2::/64' }])
})

test('what must not be banned is refused once for the time of its ban, and does not count for the limits', () => {
  const evaluator = createEvaluator([rule({ minServers: 1, minBans: 1, duration: hour, perHour: 1 })], (_, entry) =>
    entry === '192.0.2.7' ? 'whitelisted' : null,
  )
  expect(evaluator.take(ban('192.0.2.7', 1, 0))).toMatchObject([{ outcome: 'refused', cause: 'whitelisted' }])
  expect(evaluator.take(ban('192.0.2.7', 1, 1))).toEqual([])
  expect(evaluator.take(ban('192.0.2.8', 1, 2))).toMatchObject([{ outcome: 'banned' }])
  expect(evaluator.take(ban('192.0.2.7', 1, hour + 1))).toMatchObject([{ outcome: 'refused' }])
})

test('a rule beyond its limits stops, and the others go on', () => {
  const evaluator = evaluatorOf(
    rule({ id: 1, minServers: 1, minBans: 1, perHour: 2 }),
    rule({ id: 2, minServers: 1, minBans: 1, standing: 3 }),
  )
  const outcomes = Array.from({ length: 5 }, (_, n) => evaluator.take(ban(`192.0.2.${n}`, 1, n * minute))).map(
    matches => matches.map(({ ruleId, outcome }) => `${ruleId} ${outcome}`),
  )
  expect(outcomes).toEqual([
    ['1 banned', '2 banned'],
    ['1 banned', '2 banned'],
    ['1 tripped', '2 banned'],
    ['2 tripped'],
    [],
  ])
})

test('what is recalled stands, is longer the next time, and its bans are used up', () => {
  const live = evaluatorOf(rule({ minServers: 2, minBans: 2, duration: hour, factor: 2 }))
  const bans = [ban('192.0.2.7', 1, 0), ban('192.0.2.7', 2, minute)]
  const matches = bans.flatMap(live.take)
  const again = evaluatorOf(rule({ minServers: 2, minBans: 2, duration: hour, factor: 2 }))
  bans.forEach(again.remember)
  matches.forEach(again.recall)
  const later = [ban('192.0.2.7', 3, 2 * minute), ban('192.0.2.7', 1, 65 * minute), ban('192.0.2.7', 2, 66 * minute)]
  const expected = later.flatMap(live.take)
  expect(expected).toMatchObject([{ times: 2 }])
  expect(later.flatMap(again.take)).toEqual(expected)
})

test('a ban that the window holds before its event comes still matches, once', () => {
  const evaluator = evaluatorOf(rule({ minServers: 2, minBans: 2 }), rule({ id: 2, minServers: 1, minBans: 1 }))
  const bans = [ban('192.0.2.7', 1, 0), ban('192.0.2.7', 2, minute)]
  bans.forEach(evaluator.remember)
  expect(bans.map(evaluator.take)).toMatchObject([
    [{ ruleId: 2, banId: bans[0]?.id }],
    [{ ruleId: 1, banId: bans[1]?.id, servers: [2, 1] }],
  ])
  expect(bans.flatMap(evaluator.take)).toEqual([])
})

test('the window holds what a plain list holds, also after it has grown and turned over', () => {
  const history = createHistory(1000, 16_384)
  const plain = new Map<string, { id: number; at: number }[]>()
  let newest = 0
  let seed = 7
  const random = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most
  for (let id = 1; id <= 60_000; id++) {
    const at = Math.floor(id / 10)
    const ip = `198.51.${random(20)}.${random(250)}`
    const rows = plain.get(ip)
    if (rows) rows.push({ id, at })
    else plain.set(ip, [{ id, at }])
    newest = at
    history.add({
      id,
      at,
      serverNo: random(5),
      key: keyOfAddress(parseIp(ip)?.bytes ?? new Uint8Array(4)),
      rules: { low: 1, high: 0 },
    })
  }
  expect(history.pushedOut).toBe(0)
  for (let n = 0; n < 20; n++)
    for (let m = 0; m < 250; m += 7) {
      const ip = `198.51.${n}.${m}`
      const expectedIds = (plain.get(ip) ?? []).filter(({ at }) => at >= newest - 1000).map(({ id }) => id)
      const found: number[] = []
      const key = keyOfAddress(parseIp(ip)?.bytes ?? new Uint8Array(4))
      for (let place = history.head(key); place >= 0; place = history.before(place))
        if (history.at(place) >= newest - 1000) found.push(history.id(place))
      expect(found.reverse(), ip).toEqual(expectedIds)
    }
})

test('a window that is full pushes out the oldest and says how many', () => {
  const history = createHistory(1e9, 4096)
  for (let id = 1; id <= 5000; id++)
    history.add({ id, at: id, serverNo: 1, key: { high: 0xffffffff, low: id % 50 }, rules: { low: 1, high: 0 } })
  expect(history.size).toBe(4096)
  expect(history.pushedOut).toBe(904)
})
