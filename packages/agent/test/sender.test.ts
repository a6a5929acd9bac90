import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLink } from '../src/loops/link.ts'
import { createSender } from '../src/loops/sender.ts'
import { openOutbox } from '../src/outbox.ts'
import type { Outbox } from '../src/outbox.ts'
import { createRejected } from '../src/rejected.ts'
import type { Rejected } from '../src/rejected.ts'
import { ServerError } from '../src/transport.ts'
import type { BanReport, KnockReport, RowResult, UnbanReport, Wire } from '../src/wire.ts'

let directory = ''
let outbox: Outbox
let rejected: Rejected
let stop: AbortController
const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-sender-'))
  outbox = openOutbox(join(directory, 'outbox'), { warn: () => undefined })
  rejected = createRejected(join(directory, 'rejected.jsonl'), Date.now)
  stop = new AbortController()
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const fill = (count: number): void => {
  outbox.append(
    Array.from({ length: count }, (_, n) => ({
      kind: 'ban' as const,
      at: 1_795_250_132_000,
      offset: null,
      ban: { event_id: `id-${n}`, ip: '192.0.2.1', jail: 'sshd', log_lines: '', ban_duration: 600 },
    })),
  )
}

type Report = (bans: readonly BanReport[], unbans: readonly UnbanReport[]) => RowResult[]

/** Runs the sender against `report` until the outbox is empty; the sizes of the requests. */
const drain = async (report: Report): Promise<number[]> => {
  const sizes: number[] = []
  const wire = {
    report: (bans: readonly BanReport[], unbans: readonly UnbanReport[]) => {
      sizes.push(bans.length + unbans.length)
      return Promise.resolve().then(() => report(bans, unbans))
    },
  } as unknown as Wire
  const link = createLink(quiet)
  const sender = createSender({
    outbox,
    rejected,
    wire,
    link,
    clockOffset: () => 0,
    signal: stop.signal,
    now: Date.now,
    log: quiet,
  })
  const done = sender.run()
  for (let waited = 0; outbox.bytes() > 0 && waited < 15_000; waited += 20) {
    await new Promise(resolve => setTimeout(resolve, 20))
    // Failures wait as long as they must in life; here each wake stands for the end of a back-off.
    sender.wake()
  }
  stop.abort()
  sender.wake()
  await done
  expect(outbox.bytes()).toBe(0)
  return sizes
}

const taken = (bans: readonly BanReport[]): RowResult[] => bans.map(({ event_id }) => ({ id: event_id, error: null }))

it('sends everything in batches of at most 1000', async () => {
  fill(2500)
  const seen = new Set<string>()
  const sizes = await drain(bans => {
    for (const ban of bans) seen.add(ban.event_id)
    expect(bans[0]?.banned_at).toBe('2026-11-21T08:35:32.000Z')
    return taken(bans)
  })
  expect(sizes).toEqual([1000, 1000, 500])
  expect(seen.size).toBe(2500)
})

it('a row that is refused is set aside, the others are through', async () => {
  fill(3)
  await drain(bans =>
    bans.map(({ event_id }) => ({ id: event_id, error: event_id === 'id-1' ? 'ip is not an address' : null })),
  )
  expect(rejected.lately()).toMatchObject({ count: 1 })
  expect(JSON.parse(fs.readFileSync(join(directory, 'rejected.jsonl'), 'utf8'))).toMatchObject({
    reason: 'ip is not an address',
    entry: { ban: { event_id: 'id-1' } },
  })
})

it('413 halves the batch', async () => {
  fill(100)
  const sizes = await drain(bans => {
    if (bans.length > 30) throw new ServerError('too large', 413, null, true)
    return taken(bans)
  })
  expect(sizes.slice(0, 3)).toEqual([100, 50, 25])
  expect(rejected.lately()).toBeNull()
})

it('one poisonous event that fails the whole request is found and set aside, and no other', async () => {
  fill(16)
  const through = new Set<string>()
  await drain(bans => {
    if (bans.some(ban => ban.event_id === 'id-11')) throw new ServerError('bad', 400, null, true)
    for (const ban of bans) through.add(ban.event_id)
    return taken(bans)
  })
  expect(rejected.lately()).toMatchObject({ count: 1 })
  expect(through.size).toBe(15)
})

it.each([
  ['a proxy says 400', new ServerError('x', 400, null, false)],
  ['401', new ServerError('x', 401, null, true)],
  ['403', new ServerError('x', 403, null, true)],
  ['404', new ServerError('x', 404, null, true)],
  ['409', new ServerError('x', 409, null, true)],
  ['500', new ServerError('x', 500, null, true)],
  ['no connection', new ServerError('x', 0, null, false)],
])('%s: everything is kept and goes later', async (_, error) => {
  fill(5)
  let failures = 0
  const seen: string[] = []
  await drain(bans => {
    failures += 1
    if (failures < 4) throw error
    seen.push(...bans.map(ban => ban.event_id))
    return taken(bans)
  })
  expect(seen).toHaveLength(5)
  expect(rejected.lately()).toBeNull()
})

it('a server that says 200 and decides nothing keeps the events; one that skips a row holds up no other', async () => {
  fill(4)
  let rounds = 0
  await drain(bans => {
    rounds += 1
    return rounds < 12 ? [] : taken(bans)
  })
  expect(rejected.lately()).toBeNull()

  stop = new AbortController()
  fill(4)
  await drain(bans => taken(bans).filter(row => row.id !== 'id-2'))
  expect(rejected.lately()).toMatchObject({ count: 1 })
})

it('knocks go to an endpoint of their own, and a server that has none does not hold up the bans', async () => {
  for (const hasKnocks of [true, false]) {
    fill(1)
    outbox.append([
      {
        kind: 'knock',
        at: 1_795_250_132_000,
        offset: null,
        knock: { event_id: 'knock', sequence_id: 1, ip: '192.0.2.1', status: 'success', reason: null },
      },
    ])
    const knocks: KnockReport[] = []
    const taken: string[] = []
    const wire = {
      report: (bans: readonly BanReport[]) => Promise.resolve(bans.map(({ event_id: id }) => ({ id, error: null }))),
      knocks: (events: readonly KnockReport[]) => {
        if (!hasKnocks) return Promise.reject(new ServerError('answered 404', 404, null, true))
        knocks.push(...events)
        return Promise.resolve(events.map(({ event_id: id }) => ({ id, error: null })))
      },
    } as unknown as Wire
    const ending = new AbortController()
    const sender = createSender({
      outbox,
      rejected,
      wire,
      link: createLink(quiet),
      clockOffset: () => 0,
      onKnocks: ids => taken.push(...ids),
      signal: ending.signal,
      now: Date.now,
      log: quiet,
    })
    const done = sender.run()
    for (let waited = 0; outbox.bytes() > 0 && waited < 5000; waited += 20)
      await new Promise(resolve => setTimeout(resolve, 20))
    ending.abort()
    sender.wake()
    await done
    expect(outbox.bytes()).toBe(0)
    expect(taken).toEqual(['knock'])
    expect(knocks.map(({ timestamp }) => timestamp)).toEqual(hasKnocks ? ['2026-11-21T08:35:32.000Z'] : [])
    expect(rejected.lately()?.count ?? 0).toBe(hasKnocks ? 0 : 1)
  }
})
