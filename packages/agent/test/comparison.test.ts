import { expect, it } from 'vitest'
import { sliceOf } from '@stockade/contract/slices.ts'
import { activeEventId } from '../src/bans/ban-entries.ts'
import type { ActiveBan } from '../src/bans/remembered-bans.ts'
import { canonicalIp } from '../src/ip.ts'
import { createComparison } from '../src/loops/comparison.ts'
import { createLink } from '../src/loops/link.ts'
import { ServerError } from '../src/transport.ts'
import type { Wire } from '../src/wire.ts'
import { eventually } from '../../server/src/testing/waiting.ts'

const bansOf = (count: number): ActiveBan[] =>
  Array.from({ length: count }, (_, i) => ({
    jail: 'sshd',
    // fail2ban may write an address in another way than the server.
    ip: i % 3 ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` : `2001:DB8::${i.toString(16)}`,
    time: 1_795_250_000,
    bantime: -1,
    round: 0,
  }))

/** Runs a comparison of these bans against what `answer` says, with timers that are moved by hand. */
const build = (active: readonly ActiveBan[], answer: Wire['compare']) => {
  const stopping = new AbortController()
  const link = createLink({ info: () => undefined, warn: () => undefined, debug: () => undefined })
  const again: ActiveBan[] = []
  const renewed: ActiveBan[] = []
  const warnings: string[] = []
  const loop = createComparison({
    wire: { compare: answer },
    link,
    signal: stopping.signal,
    serverId: 'a-server',
    ledger: {
      allActive: () => [...active],
      tellAgain: bans => again.push(...bans),
      tellRenewed: bans => renewed.push(...bans),
    },
    outbox: { next: () => null },
    engine: { connectedFor: () => 3_600_000 },
    clockOffset: () => 0,
    now: Date.now,
    random: () => 0,
    log: { info: () => undefined, warn: text => void warnings.push(text), debug: () => undefined },
  })
  const running = loop.run()
  const end = async (): Promise<void> => {
    stopping.abort()
    loop.wake()
    await running
  }
  /** The server was away and answers again, so that the next comparison is due at once. */
  const comeBack = (): void => {
    link.bad(new ServerError('answered 503', 503), 'other')
    link.good('other')
  }
  return { again, renewed, warnings, comeBack, turned: loop.turned, end }
}

it('compares more bans than the server takes at once in slices, each ban in one', async () => {
  const active = bansOf(50_001)
  const sent = new Map<number, readonly { event_id: string; ip: string }[]>()
  const { again, end } = build(active, (_, bans, { slice, of }) => {
    expect(of).toBe(3)
    sent.set(slice, bans)
    return Promise.resolve({ unknown: slice === 1 ? [bans[0]?.event_id ?? ''] : [], listedAsEnded: [], pending: 0 })
  })
  await eventually(() => expect(sent.size).toBe(3))
  await end()
  const ids = [...sent.values()].flat().map(({ event_id }) => event_id)
  expect(new Set(ids)).toEqual(new Set(active.map(ban => activeEventId('a-server', ban))))
  expect(ids).toHaveLength(active.length)
  for (const [slice, bans] of sent) {
    expect(bans.length).toBeLessThan(25_000)
    expect(bans.every(({ ip }) => sliceOf(canonicalIp(ip) ?? '', 3) === slice)).toBe(true)
  }
  expect(again.map(ban => activeEventId('a-server', ban))).toEqual([sent.get(1)?.[0]?.event_id])
})

it('asks as before where one request is enough, and gives up where the server knows no slices', async () => {
  const few: unknown[] = []
  const small = build(bansOf(10), (_, bans, part) => {
    few.push({ ...part, bans: bans.length })
    return Promise.resolve({ unknown: [], listedAsEnded: [], pending: 0 })
  })
  await eventually(() => expect(few).toEqual([{ slice: 0, of: 1, bans: 10 }]))
  await small.end()
  const old = build(bansOf(50_001), () => Promise.reject(new ServerError('slice is not known', 400)))
  await eventually(() => expect(old.warnings[0]).toMatch(/does not compare so many bans/))
  await old.end()
})

it('tells a ban as a new one only where the server lists it as ended twice', async () => {
  const active = bansOf(2)
  let looks = 0
  const { renewed, comeBack, turned, end } = build(active, (_, bans) => {
    looks += 1
    return Promise.resolve({ unknown: [], listedAsEnded: [bans[0]?.event_id ?? ''], pending: 0 })
  })
  await turned()
  expect([looks, renewed]).toEqual([1, []])
  const second = turned()
  comeBack()
  await second
  expect([looks, renewed]).toEqual([2, [active[0]]])
  await end()
})
