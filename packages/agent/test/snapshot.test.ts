import { beforeEach, expect, it } from 'vitest'
import { createSnapshot } from '../src/bans/snapshot.ts'
import type { Engine } from '../src/engine/engine.ts'
import { subject } from '../src/outbox.ts'
import type { Entry } from '../src/outbox.ts'
import { startedLedger } from './started-ledger.ts'

const startAt = 1_000_000_000
let now = startAt
let up: number | null
let banned: Record<string, string[]>
let told: Entry[]
let renewed: string[]
let hasTable: boolean
let scene: ReturnType<typeof build>

const build = () => {
  const { ledger } = startedLedger(
    () => now,
    entries => told.push(...entries),
  )
  const engine = {
    connectedFor: () => up,
    banned: () => Promise.resolve(new Map(Object.entries(banned).map(([jail, ips]) => [jail, new Set(ips)]))),
  } as unknown as Engine
  const snapshot = createSnapshot({
    engine,
    ledger,
    drain: () => Promise.resolve(),
    hasTable: () => hasTable,
    renew: (_, ip) => Promise.resolve(renewed.includes(ip)),
    now: () => now,
    steadyNow: () => now,
    log: { info: () => undefined, warn: () => undefined, debug: () => undefined },
  })
  return { ledger, snapshot }
}

beforeEach(() => {
  now = startAt
  up = 60_000
  banned = { sshd: [] }
  told = []
  renewed = []
  hasTable = true
  scene = build()
})

const ban = (...ips: string[]): void => {
  scene.ledger.bans(
    ips.map(ip => ({ jail: 'sshd', ip, time: startAt / 1000, bantime: 600, failures: 3, logLines: '' })),
  )
  told.length = 0
}

const look = async (): Promise<string[]> => {
  const before = told.length
  await scene.snapshot.run()
  now += 15_000
  return told.slice(before).map(entry => `${entry.kind} ${subject(entry).ip}`)
}

it('an end that nobody announced is found, at the second look', async () => {
  ban('192.0.2.1', '192.0.2.2')
  banned = { sshd: ['192.0.2.2'] }
  expect(await look()).toEqual([])
  expect(await look()).toEqual(['unban 192.0.2.1'])
  expect(await look()).toEqual([])
})

it('an end by time is told at once, with that time', async () => {
  ban('192.0.2.1')
  now += 700_000
  expect(await look()).toEqual(['unban 192.0.2.1'])
  expect(told[0]?.at).toBe(startAt + 600_000)
})

it('nothing is concluded while fail2ban is down, has just come, or is unsettled', async () => {
  ban('192.0.2.1')
  up = null
  expect([await look(), await look(), await look()]).toEqual([[], [], []])
  up = 5000
  expect([await look(), await look()]).toEqual([[], []])
  up = 60_000
  scene.snapshot.unsettled()
  expect(await look()).toEqual([])
})

it('while bans are being restored, what is not there yet has not ended', async () => {
  ban('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4')
  up = 30_000
  banned = { sshd: ['192.0.2.1'] }
  expect(await look()).toEqual([])
  banned = { sshd: ['192.0.2.1', '192.0.2.2'] }
  expect(await look()).toEqual([])
  banned = { sshd: ['192.0.2.1', '192.0.2.2', '192.0.2.3'] }
  expect(await look()).toEqual([])
  expect(await look()).toEqual(['unban 192.0.2.4'])
})

it('what fail2ban holds beyond its end is told as in force, once', async () => {
  ban('192.0.2.1')
  banned = { sshd: ['192.0.2.1'] }
  now += 609_000
  expect(await look()).toEqual([])
  expect(await look()).toEqual(['adopt 192.0.2.1'])
  expect(await look()).toEqual([])
  banned = { sshd: [] }
  expect([await look(), await look()].flat()).toEqual(['unban 192.0.2.1'])
})

it('a storm of new bans long after the start hides no end', async () => {
  ban('192.0.2.1')
  banned = { sshd: ['192.0.2.2'] }
  expect(await look()).toEqual([])
  banned = { sshd: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }
  expect(await look()).toEqual(['unban 192.0.2.1'])
})

it('two looks within a second are one', async () => {
  ban('192.0.2.1')
  await scene.snapshot.run()
  expect(await look()).toEqual([])
  expect(await look()).toEqual(['unban 192.0.2.1'])
})

it('a ban that was made again has not ended', async () => {
  ban('192.0.2.1')
  renewed = ['192.0.2.1']
  now += 700_000
  expect(await look()).toEqual([])
})

it('bans go with a jail that is stopped, and come back with it for the rest of their time', async () => {
  ban('192.0.2.1', '192.0.2.2')
  banned = { other: [] }
  expect([await look(), await look()]).toEqual([[], ['unban 192.0.2.1', 'unban 192.0.2.2']])
  banned = { sshd: ['192.0.2.1'] }
  expect(await look()).toEqual(['ban 192.0.2.1'])
  expect(told.at(-1)).toMatchObject({ at: startAt + 30_000, ban: { ban_duration: 570 } })
  expect(await look()).toEqual([])
  banned = { sshd: [] }
  expect([await look(), await look()].flat()).toEqual(['unban 192.0.2.1'])
  const ids = told.map(entry => subject(entry).event_id)
  expect(new Set(ids).size).toBe(ids.length)
})

it('without a table the snapshot is where bans come from', async () => {
  hasTable = false
  banned = { sshd: ['192.0.2.9'] }
  expect(await look()).toEqual(['ban 192.0.2.9'])
  expect(await look()).toEqual([])
})
