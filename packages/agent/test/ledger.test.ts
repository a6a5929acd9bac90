import { beforeEach, expect, it } from 'vitest'
import { createLedger } from '../src/bans/ledger.ts'
import type { Ledger } from '../src/bans/ledger.ts'
import { createMemory, placeKey } from '../src/bans/memory.ts'
import type { Memory } from '../src/bans/memory.ts'
import type { BanRow } from '../src/bans/table.ts'
import { subject } from '../src/outbox.ts'
import type { Entry } from '../src/outbox.ts'

let memory: Memory
let told: Entry[]
let ledger: Ledger

beforeEach(() => {
  memory = { ...createMemory(), started: true }
  told = []
  ledger = createLedger({
    serverId: 'server',
    memory,
    append: entries => void told.push(...entries),
    changed: () => undefined,
    clockOffset: () => 5000,
    tellsLines: () => true,
    now: () => 1_000_000,
    warn: () => undefined,
  })
})

const row = (changes: Partial<BanRow> = {}): BanRow => ({
  jail: 'sshd',
  ip: '203.0.113.7',
  time: 1000,
  bantime: 600,
  failures: 3,
  logLines: 'a\u0000b',
  ...changes,
})
const summary = (): string[] => told.map(entry => `${entry.kind} ${subject(entry).ip} ${entry.at}`)

it('tells of a ban once, whoever saw it', () => {
  expect(ledger.bans([row()])).toBe(1)
  expect(ledger.bans([row(), row()])).toBe(0)
  expect(told).toMatchObject([
    {
      kind: 'ban',
      at: 1_000_000,
      offset: 5000,
      ban: { ip: '203.0.113.7', jail: 'sshd', log_lines: 'ab', ban_duration: 600 },
    },
  ])
})

const lengthsTold = () =>
  told.flatMap(entry => (entry.kind === 'adopt' ? [[entry.adopt.event_id, entry.at, entry.adopt.ban_duration]] : []))

it('tells a later end of a ban with its id, and no earlier one', () => {
  ledger.bans([row()])
  const id = told[0] && subject(told[0]).event_id
  ledger.bans([row({ bantime: 1200 })])
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: 600 })
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: 7200 })
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: 7200 })
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: -1 })
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: 7200 })
  ledger.lasts('sshd', '203.0.113.99', { from: 1000, seconds: 7200 })
  expect(lengthsTold()).toEqual([
    [id, 1_000_000, 1200],
    [id, 1_000_000, 7200],
    [id, 1_000_000, -1],
  ])
})

it('tells a ban anew that goes on after the end that the server has', () => {
  ledger.bans([row({ time: 500, bantime: 504 })])
  const id = told[0] && subject(told[0]).event_id
  // Now is second 1000: the server takes it as over before it hears of it.
  ledger.lasts('sshd', '203.0.113.7', { from: 500, seconds: 600 })
  expect(lengthsTold()).toEqual([[expect.not.stringContaining(String(id)), 1_000_000, 100]])
})

it('learns the end of a ban that it found without a row', () => {
  ledger.adopt([{ row: row({ time: 1000, bantime: -1 }), isEndKnown: false }])
  ledger.lasts('sshd', '203.0.113.7', { from: 900, seconds: 3600 })
  expect(lengthsTold().map(([, at, duration]) => [at, duration])).toEqual([
    [1_000_000, null],
    [1_000_000, 3500],
  ])
})

it('believes no end in the past of a ban that fail2ban holds', () => {
  ledger.adopt([{ row: row({ time: 1000, bantime: -1 }), isEndKnown: false }])
  ledger.lasts('sshd', '203.0.113.7', { from: 300, seconds: 600 })
  expect(lengthsTold().map(([, at, duration]) => [at, duration])).toEqual([[1_000_000, null]])
})

it('has nothing to tell of what is no address', () => {
  ledger.bans([row({ ip: 'joe' })])
  ledger.adopt([{ row: row({ ip: 'host.example' }), isEndKnown: true }])
  expect(told).toEqual([])
  expect(['joe', 'host.example', '203.0.113.7'].map(ip => ledger.isSettled('sshd', ip))).toEqual([true, true, false])
})

it('keeps the end of a ban by command, whatever fail2ban says', () => {
  ledger.bans([row()])
  memory.overrides.set(placeKey('sshd', '203.0.113.7'), { jail: 'sshd', ip: '203.0.113.7', until: 1_600_000 })
  ledger.lasts('sshd', '203.0.113.7', { from: 1000, seconds: 7200 })
  expect(lengthsTold()).toEqual([])
})

it('tells of its end once, and not at all of an end that belongs to nothing', () => {
  ledger.ended('sshd', '203.0.113.7', 1)
  ledger.bans([row()])
  ledger.ended('sshd', '203.0.113.7', 1_200_000)
  ledger.ended('sshd', '203.0.113.7', 1_300_000)
  expect(summary()).toEqual(['ban 203.0.113.7 1000000', 'unban 203.0.113.7 1200000'])
})

it('an end never lies before its ban', () => {
  ledger.bans([row()])
  ledger.ended('sshd', '203.0.113.7', 5)
  expect(summary()[1]).toBe('unban 203.0.113.7 1000000')
})

it('a second ban of the same address ends the first, which had gone unseen', () => {
  ledger.bans([row(), row({ time: 1300 })])
  ledger.bans([row({ time: 5000 })])
  expect(summary()).toEqual([
    'ban 203.0.113.7 1000000',
    'unban 203.0.113.7 1300000',
    'ban 203.0.113.7 1300000',
    'unban 203.0.113.7 1900000',
    'ban 203.0.113.7 5000000',
  ])
})

it('an older ban that comes to light late is told as one that is over, and the present one stays', () => {
  ledger.bans([row({ time: 2000 })])
  ledger.bans([row({ time: 1999 })])
  // No unban: the server would take it for the end of the present one.
  expect(summary()).toEqual(['ban 203.0.113.7 2000000', 'ban 203.0.113.7 1999000'])
  expect(told[1]).toMatchObject({ ban: { ban_duration: 1 } })
  expect(ledger.active('sshd', '203.0.113.7')?.time).toBe(2000)
})

it('what was there before the first run is never told', () => {
  ledger.baseline([row()])
  expect(ledger.bans([row()])).toBe(0)
  expect(told).toEqual([])
})

it('something that is not an address is not told; an address in another form is told in ours', () => {
  ledger.bans([row({ ip: 'mallory' }), row({ ip: '::ffff:203.0.113.9' }), row({ ip: '2001:DB8::1' })])
  expect(summary()).toEqual(['ban 203.0.113.9 1000000', 'ban 2001:db8::1 1000000'])
})

const ordered = { jail: 'sshd', ip: '203.0.113.7', since: 999_500, commandId: 'c1', duration: 60 }
it('a ban by command has its duration and names the command', () => {
  memory.intents.set('sshd|203.0.113.7', ordered)
  ledger.bans([row({ failures: 0, logLines: '' })])
  expect(told).toMatchObject([{ ban: { ban_duration: 60, command_id: 'c1', source: 'manual' } }])
  expect(memory.intents.size).toBe(0)
})

it('a ban by log lines is not taken for the one that was ordered', () => {
  memory.intents.set('sshd|203.0.113.7', ordered)
  ledger.bans([row()])
  expect(told).toMatchObject([{ ban: { ban_duration: 600 } }])
})

it('a renewal is the same ban to the server', () => {
  ledger.bans([row()])
  memory.intents.set('sshd|203.0.113.7', {
    jail: 'sshd',
    ip: '203.0.113.7',
    since: 1_600_000,
    commandId: null,
    duration: null,
  })
  ledger.bans([row({ time: 1601, failures: 0 })])
  ledger.ended('sshd', '203.0.113.7', 2_000_000)
  expect(summary()).toEqual(['ban 203.0.113.7 1000000', 'unban 203.0.113.7 2000000'])
})

it('durations that the interface has no number for', () => {
  ledger.bans([
    row({ ip: '203.0.113.1', bantime: -1 }),
    row({ ip: '203.0.113.2', bantime: -5 }),
    row({ ip: '203.0.113.3', bantime: 99_999_999 }),
  ])
  expect(told.map(entry => entry.kind === 'ban' && entry.ban.ban_duration)).toEqual([-1, -1, null])
})

const ids = (): string[] =>
  told.flatMap(entry => ('adopt' in entry ? [entry.adopt.event_id] : 'ban' in entry ? [entry.ban.event_id] : []))

it('gives a ban that returns within its first second another id, the same again after a crash', () => {
  ledger.bans([row()])
  ledger.ended('sshd', '203.0.113.7', 1_000_500)
  // The table holds the same row as before, and so does the action.
  expect(ledger.bans([row()])).toBe(0)
  expect(ledger.isSettled('sshd', '203.0.113.7')).toBe(false)
  ledger.adopt([{ row: row(), isEndKnown: true }])
  memory.active.delete('sshd', '203.0.113.7')
  ledger.adopt([{ row: row(), isEndKnown: true }])
  expect(summary().at(-1)).toBe('adopt 203.0.113.7 1000000')
  const [first, second, repeated] = ids()
  expect(second).not.toBe(first)
  expect(repeated).toBe(second)
  ledger.ended('sshd', '203.0.113.7', 1_000_900)
  ledger.adopt([{ row: row(), isEndKnown: true }])
  expect(new Set(ids()).size).toBe(3)
})

it('gives a ban that ran out, or was there before the first run, the id of its row', () => {
  ledger.baseline([row()])
  ledger.adopt([{ row: row(), isEndKnown: true }])
  ledger.ended('sshd', '203.0.113.7', 1_600_000)
  ledger.adopt([{ row: row(), isEndKnown: true }])
  expect(new Set(ids()).size).toBe(1)
  expect(memory.seen.size()).toBe(1)
})

it('sends what the server lists as ended as a new ban for the time that is left', () => {
  ledger.bans([row({ bantime: 3600 }), row({ ip: '203.0.113.8', bantime: -1 })])
  ledger.adopt([{ row: row({ ip: '203.0.113.9' }), isEndKnown: false }])
  const bans = ledger.allActive()
  ledger.ended('sshd', '203.0.113.8', 1_000_000)
  told = []
  ledger.tellRenewed(bans)
  expect(told).toMatchObject([
    { kind: 'adopt', at: 1_000_000, adopt: { ip: '203.0.113.7', ban_duration: 3600 } },
    { kind: 'adopt', at: 1_000_000, adopt: { ip: '203.0.113.9', ban_duration: null } },
  ])
  // Told once, as the ban in memory has another id now.
  ledger.tellRenewed(bans)
  expect(told).toHaveLength(2)
  ledger.tellAgain(ledger.allActive())
  expect(told.slice(2)).toMatchObject([{ adopt: { ban_duration: 3600 } }, { adopt: { ban_duration: null } }])
  expect(ids().slice(2)).toEqual(ids().slice(0, 2))
})
