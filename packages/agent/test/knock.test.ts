import { expect, it } from 'vitest'
import { createKnockEvents } from '../src/knock/events.ts'
import { judgeSequences } from '../src/knock/judge.ts'
import { createLists, createMembers } from '../src/knock/members.ts'
import { parseKnock } from '../src/knock/model.ts'
import type { Sequence } from '../src/knock/model.ts'
import { listeningPorts } from '../src/knock/ports.ts'
import { allowScript, markOf, namesIn, ofMark, putScript, script } from '../src/knock/rules.ts'
import { createKnockTime } from '../src/knock/time.ts'
import { createWatch } from '../src/knock/watch.ts'
import type { Seen } from '../src/knock/nft.ts'
import type { Entry } from '../src/outbox.ts'

const sequence = (id: number, more: Partial<Sequence> = {}): Sequence => ({
  id,
  revision: 1,
  protectedPort: 22,
  knockPorts: [7001 + id, 8001 + id, 9001 + id],
  protocol: 'tcp',
  timeout: 30,
  knockTimeout: 10,
  maxAttempts: 5,
  blockDuration: 3600,
  ...more,
})
const plain = { reset: true, fresh: false, present: [] }

it('the same sequences give the same rules, in whatever order they come', () => {
  const [one, two] = [sequence(1), sequence(2, { protectedPort: 5432, protocol: 'udp' })]
  expect(script([one, two], ['192.0.2.1'], plain)).toBe(script([two, one], ['192.0.2.1'], plain))
  expect(script([{ ...one, revision: 9 }, two], ['192.0.2.1'], plain)).toBe(script([one, two], ['192.0.2.1'], plain))
})

it('no number that a change of a sequence changes stands in the definition of a set', () => {
  const sets = (each: Sequence): string[] =>
    script([each], [], plain)
      .split('\n')
      .filter(line => line.startsWith('add set'))
  const changed = sequence(1, { timeout: 1, knockTimeout: 1, maxAttempts: 1, blockDuration: 1, protocol: 'udp' })
  expect(sets(changed)).toEqual(sets(sequence(1)))
})

it('what is no longer wanted is deleted, chains first; what is not ours to name stays', () => {
  expect(namesIn(script([sequence(1)], [], plain))).toEqual(
    expect.arrayContaining(['pre', 'p22', 'c1_4', 'k1_open_6', 'allow']),
  )
  const lines = script([sequence(1)], null, {
    ...plain,
    present: ['k7_open_4', 'c7_4', 'p23', 'pre', 'k1_open_4', 'allow', 'allow24_4', 'allow_6'],
  }).split('\n')
  expect(lines.filter(line => line.startsWith('delete'))).toEqual([
    'delete chain inet stockade_knock c7_4',
    'delete chain inet stockade_knock p23',
    'delete set inet stockade_knock k7_open_4',
    // The interval set of an older agent.
    'delete set inet stockade_knock allow_6',
  ])
})

it('addresses of both families go into the sets of their family', () => {
  expect(allowScript(['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32', '203.0.113.1'])).toEqual([
    'add chain inet stockade_knock allow',
    'flush chain inet stockade_knock allow',
    'add set inet stockade_knock allow24_4 { type ipv4_addr; }',
    'flush set inet stockade_knock allow24_4',
    'add element inet stockade_knock allow24_4 { 192.0.2.0, 198.51.100.0 }',
    'add rule inet stockade_knock allow ip saddr and 255.255.255.0 @allow24_4 accept',
    'add set inet stockade_knock allow32_6 { type ipv6_addr; }',
    'flush set inet stockade_knock allow32_6',
    'add element inet stockade_knock allow32_6 { 2001:db8:: }',
    'add rule inet stockade_knock allow ip6 saddr and ffff:ffff:: @allow32_6 accept',
    'add set inet stockade_knock allow32_4 { type ipv4_addr; }',
    'flush set inet stockade_knock allow32_4',
    'add element inet stockade_knock allow32_4 { 203.0.113.1 }',
    'add rule inet stockade_knock allow ip saddr @allow32_4 accept',
  ])
  expect(putScript('open', 3, '2001:db8::1', 1500.4).at(-1)).toBe(
    'add element inet stockade_knock k3_open_6 { 2001:db8::1 timeout 1500ms }',
  )
  for (const kind of ['success', 'wrong', 'late', 'block', 'hit'] as const)
    expect(ofMark(markOf(2 ** 28, kind))).toEqual({ sequence: 2 ** 28, kind })
  expect(ofMark(7)).toBeNull()
})

it('of what a server says only numbers in range and addresses get through', () => {
  const good = {
    id: 1,
    revision: 4,
    protected_port: 22,
    knock_ports: [1, 65_535],
    protocol: 'udp',
    timeout: 86_400,
    knock_timeout: 300,
    max_attempts: 100,
    block_duration: 31_557_600,
  }
  const read = parseKnock({
    sequences: [good, { ...good }, { ...good, id: 2, timeout: 1.5 }, { ...good, id: 3, knock_ports: { 0: 1, 1: 2 } }],
    openings: [
      {
        id: '00000000-0000-4000-8000-000000000001',
        sequence_id: 1,
        ip: '::FFFF:192.0.2.1',
        expires_at: '2026-11-21T12:00:00Z',
      },
      { id: 'x', sequence_id: 1, ip: '192.0.2.1', expires_at: '2026-11-21T12:00:00Z' },
      {
        id: '00000000-0000-4000-8000-000000000002',
        sequence_id: 1,
        ip: '192.0.2.0/24',
        expires_at: '2026-11-21T12:00:00Z',
      },
      { id: '00000000-0000-4000-8000-000000000003', sequence_id: 1, ip: '192.0.2.1', expires_at: 'soon' },
    ],
    cuts: [{ sequence_id: '1', ip: '192.0.2.1', expires_at: '2026-11-21T12:00:00Z' }],
  })
  expect(read.sequences.map(({ id, revision, timeout }) => [id, revision, timeout])).toEqual([[1, 4, 86_400]])
  expect(read.faults.map(({ id }) => id)).toEqual([2, 3])
  expect(read.openings.map(({ ip }) => ip)).toEqual(['192.0.2.1'])
  expect(read.cuts).toEqual([])
  for (const nonsense of [null, 'x', [], { sequences: 7, openings: null }])
    expect(parseKnock(nonsense)).toEqual({ sequences: [], faults: [], openings: [], blocked: [], cuts: [] })
})

it('only a sequence of the same protocol can share a knock port', () => {
  const wanted = { faults: [], openings: [], blocked: [], cuts: [] }
  const host = {
    listening: () => new Set<number>(),
    whyNotClose: () => null,
    isProved: () => false,
    whyTakenBack: () => undefined,
  }
  const [tcp, udp, rival] = [
    sequence(1, { knockPorts: [7001, 8001] }),
    sequence(2, { knockPorts: [9001, 8001], protocol: 'udp', protectedPort: 5432 }),
    sequence(3, { knockPorts: [8001, 9001], protectedPort: 5433 }),
  ]
  const { sequences, refusals } = judgeSequences({ ...wanted, sequences: [tcp, udp, rival] }, host)
  expect(sequences).toEqual([tcp, udp])
  expect([...refusals]).toEqual([[3, { state: 'failed', error: 'it shares a knock port with sequence 1' }]])
})

it('an address that opened a port is listed for the time of its sequence, and a blocked one for that of its block', () => {
  const lists = createLists({ open: [], block: [], kill: [] }, 0)
  const told: Entry[] = []
  const events = createKnockEvents({
    saved: [],
    serverId: 'server',
    lists,
    table: { loaded: () => [sequence(1)] },
    nft: { addresses: () => Promise.resolve([]) },
    append: entries => void told.push(...entries),
    clockOffset: () => 0,
    markUnsaved: () => undefined,
    steadyNow: () => 100_000,
    time: { now: () => 500_000, onClock: at => at },
  })
  const found = [seen('success', 1, 86_399), seen('block', 1, 86_399, '192.0.2.2')]
  expect(events.digest(found, 500_000)).toEqual({ hasNews: true, hasOpened: true })
  const atOf = (ip: string) => told.find(entry => entry.kind === 'knock' && entry.knock.ip === ip)?.at ?? 0
  const lastsOf = (list: 'open' | 'block', ip: string) => (lists[list].get(1, ip)?.until ?? 0) - atOf(ip)
  expect([lastsOf('open', '192.0.2.1'), lastsOf('block', '192.0.2.2')]).toEqual([30_000, 3_600_000])
})

it('a port counts as taken when others can reach what listens on it', () => {
  const head = '  sl  local_address rem_address   st\n'
  const tables: Record<string, string> = {
    '/proc/net/tcp': `${head}   0: 00000000:1B59 00000000:0000 0A 0\n   1: 0100007F:1B5A 00000000:0000 0A 0\n   2: 0201A8C0:1B5B 0301A8C0:0016 01 0\n`,
    '/proc/net/tcp6': `${head}   0: 00000000000000000000000001000000:1B5C 00000000000000000000000000000000:0000 0A 0\n   1: 00000000000000000000000000000000:1B5D 00000000000000000000000000000000:0000 0A 0\n`,
    '/proc/net/udp': `${head}   0: 00000000:1B5E 00000000:0000 07 0\n   1: 0201A8C0:1B5F 0301A8C0:0035 07 0\n`,
  }
  const read = (path: string): string | null => tables[path] ?? null
  expect([...listeningPorts('tcp', read)]).toEqual([7001, 7005])
  expect([...listeningPorts('udp', read)]).toEqual([7006])
})

const seen = (kind: Seen['kind'], count: number, expires: number, ip = '192.0.2.1'): Seen => ({
  sequence: 1,
  kind,
  ip,
  count,
  expires,
})

it('what an address did is told once, also after a crash before it was remembered', () => {
  let rounds = 0
  const round = (): string => `r${(rounds += 1)}`
  const first = createWatch(undefined, round)
  const kept = first.save()
  kept.kept()
  const told = first.look([seen('wrong', 2, 59)], 100_000, 500_000, 499_300)
  expect(told).toMatchObject([
    { kind: 'wrong', times: 1 },
    { kind: 'wrong', times: 1 },
  ])
  expect(told.every(({ at }) => at >= 499_300 && at <= 500_000)).toBe(true)
  expect(first.look([seen('wrong', 2, 58)], 100_700, 500_700, 500_000)).toEqual([])
  // The crash: the memory of before, and one failure more.
  const second = createWatch(kept.rows, round)
  const again = second.look([seen('wrong', 3, 59)], 101_000, 501_000, 0)
  expect(again.slice(0, 2).map(({ mark }) => mark)).toEqual(told.map(({ mark }) => mark))
  expect(again).toHaveLength(3)
  // Remembered: nothing is told again; an element that was made anew is something new.
  const saved = second.save()
  saved.kept()
  const third = createWatch(saved.rows, round)
  expect(third.look([seen('wrong', 3, 58)], 101_900, 501_900, 0)).toEqual([])
  const anew = third.look([seen('wrong', 3, 59)], 190_000, 590_000, 0)
  expect(anew).toHaveLength(3)
  expect(anew.some(({ mark }) => again.some(old => old.mark === mark))).toBe(false)
})

it('a crowd is a few events with a number, and openings are never left out', () => {
  const watch = createWatch(undefined, () => 'r')
  const crowd = Array.from({ length: 10_000 }, (_, i) => seen('wrong', 1, 59, `10.0.${i >> 8}.${i & 255}`))
  const told = watch.look([...crowd, seen('success', 1, 86_399)], 100_000, 500_000, 499_000)
  expect(told[0]).toMatchObject({ kind: 'success' })
  expect(told).toHaveLength(301)
  expect(told.at(-1)?.unlisted).toBe(9700)
  expect(watch.look(crowd, 100_700, 500_700, 500_000)).toEqual([])
})

it('who keeps knocking while blocked is told of at once, and then now and then', () => {
  const watch = createWatch(undefined, () => 'r')
  expect(watch.look([seen('hit', 1, 59)], 0, 500_000, 0)).toMatchObject([{ kind: 'hit', times: 1 }])
  expect(watch.look([seen('hit', 40, 59)], 10_000, 510_000, 0)).toEqual([])
  expect(watch.look([seen('hit', 90, 59)], 31_000, 531_000, 0)).toMatchObject([{ kind: 'hit', times: 89 }])
})

it('a list becomes what the server wants, but for what the server cannot know yet', () => {
  const members = createMembers(undefined)
  const knocked = { sequence: 1, ip: '192.0.2.1', until: 60_000, listed: false, event: 'e1', takenAt: null }
  members.arrived(knocked)
  expect(members.difference([], 0, 100)).toEqual({ put: [], take: [] })
  members.taken(new Set(['e1']), 200)
  expect(members.difference([], 0, 200).take).toEqual([])
  expect(members.difference([], 0, 201).take).toMatchObject([{ ip: '192.0.2.1' }])
  // Listed: it stays as it is, is made longer, and goes when it is missing. A new knock is unknown again.
  const want = { sequence: 1, ip: '192.0.2.1', until: 60_900 }
  expect(members.difference([want], 0, 300)).toEqual({ put: [], take: [] })
  expect(members.difference([{ ...want, until: 90_000 }], 0, 300).put).toMatchObject([{ until: 90_000 }])
  expect(members.difference([], 0, 0).take).toHaveLength(1)
  members.arrived({ ...knocked, until: 70_000, event: 'e2' })
  expect(members.difference([], 0, 400).take).toEqual([])
  expect(members.difference([{ ...want, ip: '192.0.2.2', until: 100 }], 0, 400).put).toEqual([])
})

it('the time that an opening has left does not depend on the clock of the host, also over a restart', () => {
  const host = { wall: 1_000_000_000, steady: 50_000, boot: 'one' }
  const run = (): ReturnType<typeof createKnockTime> =>
    createKnockTime({
      now: () => host.wall,
      steadyNow: () => host.steady,
      // The clock of the server shows the steady time and a billion seconds.
      clockOffset: () => 1_000_000_000_000 + host.steady - host.wall,
      boot: host.boot,
    })
  const pass = (ms: number): void => void ((host.steady += ms), (host.wall += ms))
  const before = run()
  const until = before.ofServer(1_000_000_000_000 + host.steady + 60_000)
  const left = (time: ReturnType<typeof run>, saved?: unknown): number =>
    until + (saved === undefined ? 0 : time.shiftSince(saved)) - time.now()
  expect(left(before)).toBe(60_000)
  for (const step of [3_600_000, -7_200_000]) {
    host.wall += step
    pass(1000)
    expect(before.onClock(before.now())).toBe(host.wall)
    expect(before.ofServer(1_000_000_000_000 + host.steady + 500) - before.now()).toBe(500)
  }
  expect(left(before)).toBe(58_000)
  const saved = before.save()
  host.wall += 3_600_000
  pass(1000)
  expect(left(run(), saved)).toBe(57_000)
  // After a start of the host only its clock can tell, and it never adds time.
  Object.assign(host, { steady: 10, boot: 'two' })
  expect(left(run(), { ...saved, wall: host.wall - 5000 })).toBe(53_000)
  host.wall -= 86_400_000
  expect(left(run(), saved)).toBe(58_000)
})
