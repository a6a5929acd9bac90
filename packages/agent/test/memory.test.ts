import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openMemory } from '../src/bans/memory.ts'
import type { ActiveBan } from '../src/bans/remembered-bans.ts'

const day = 24 * 3_600_000
let directory: string
let now: number

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-memory-'))
  now = 100 * day
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const warnings: string[] = []
const open = () =>
  openMemory(join(directory, 'state.json'), {
    ready: () => true,
    now: () => now,
    warn: text => void warnings.push(text),
  })
const journal = (): string => join(directory, 'bans.jsonl')
const ban = (ip: string, changes: Partial<ActiveBan> = {}): ActiveBan => ({
  jail: 'sshd',
  ip,
  time: 99 * 86_400,
  bantime: 600,
  round: 0,
  ...changes,
})

it('keeps what it knows over a restart', () => {
  const { memory, save } = open()
  memory.started = true
  memory.cursor = { last: 7, key: ['sshd', '192.0.2.1', 5] }
  memory.active.set(ban('192.0.2.1'))
  memory.active.set(ban('2001:db8::1', { round: 2 }))
  memory.paused.set(ban('192.0.2.3'))
  memory.seen.add(['sshd', '192.0.2.1', 99 * 86_400])
  memory.overrides.set('sshd|192.0.2.1', { jail: 'sshd', ip: '192.0.2.1', until: 5 })
  save()
  memory.active.delete('sshd', '192.0.2.1')
  memory.active.set(ban('2001:db8::1', { bantime: -1 }))
  save()
  const again = open().memory
  expect([...again.active.values()]).toEqual([ban('2001:db8::1', { bantime: -1 })])
  expect([...again.paused.values()]).toEqual([ban('192.0.2.3')])
  expect(again.seen.has(['sshd', '192.0.2.1', 99 * 86_400])).toBe(true)
  expect(again.seen.has(['sshd', '192.0.2.1', 99 * 86_400 + 1])).toBe(false)
  expect({ started: again.started, cursor: again.cursor, overrides: [...again.overrides.keys()] }).toEqual({
    started: true,
    cursor: memory.cursor,
    overrides: ['sshd|192.0.2.1'],
  })
})

it('writes a line for a ban, however many there are', () => {
  const { memory, save } = open()
  for (let index = 0; index < 5000; index += 1) memory.active.set(ban(`192.0.2.${index}`))
  save()
  const before = fs.statSync(journal()).size
  memory.active.set(ban('203.0.113.1'))
  save()
  expect(fs.statSync(journal()).size - before).toBeLessThan(100)
  save()
  expect(open().memory.active.size()).toBe(5001)
})

it('writes the file anew when most of it is out of date', () => {
  const { memory, save } = open()
  for (let turn = 0; turn < 30; turn += 1) {
    for (let index = 0; index < 1000; index += 1) memory.active.set(ban(`192.0.2.${index}`, { time: turn }))
    save()
  }
  expect(fs.readFileSync(journal(), 'utf8').split('\n').length).toBeLessThan(20_000)
  const again = open().memory
  expect(again.active.size()).toBe(1000)
  expect([...again.active.values()].every(({ time }) => time === 29)).toBe(true)
})

it('forgets bans that were reported more than nine days ago, and keeps the newer ones', () => {
  const { memory, save } = open()
  for (let index = 0; index < 3000; index += 1)
    memory.seen.add(['sshd', `192.0.2.${index}`, (index % 2 === 0 ? 80 : 99) * 86_400])
  save()
  expect(memory.seen.size()).toBe(1500)
  now += 2 * 3_600_000
  save()
  const again = open().memory.seen
  expect(again.has(['sshd', '192.0.2.1', 99 * 86_400])).toBe(true)
  expect(again.has(['sshd', '192.0.2.2', 80 * 86_400])).toBe(false)
})

it('takes over the state of an agent that kept its bans in one file', () => {
  const old = {
    v: 1,
    started: true,
    cursor: { last: 3, key: ['sshd', '192.0.2.1', 8_553_600] },
    spool: { inode: 4, offset: 5 },
    seen: { 'sshd|2001:db8::1|8553600': 8_553_600 },
    active: [{ ...ban('2001:db8::1'), eventId: 'x' }],
    paused: [{ ...ban('192.0.2.3'), eventId: 'y' }],
    overrides: [],
    intents: [],
  }
  fs.writeFileSync(join(directory, 'state.json'), JSON.stringify(old))
  // Of a newer agent that ran in between: the file of the older one is newer.
  fs.writeFileSync(journal(), '["a","sshd","192.0.2.99",5,5,0]\n')
  open().save()
  const { memory } = open()
  expect([...memory.active.values()]).toEqual([ban('2001:db8::1')])
  expect([...memory.paused.values()]).toEqual([ban('192.0.2.3')])
  expect(memory.seen.has(['sshd', '2001:db8::1', 8_553_600])).toBe(true)
  expect(memory.spool).toEqual({ inode: 4, offset: 5 })
})

it('loses no more than the half line that a crash left, and goes on behind it', () => {
  const { memory, save } = open()
  memory.active.set(ban('192.0.2.1'))
  save()
  fs.appendFileSync(journal(), '["a","sshd","192.0.2.2",5')
  const second = open()
  expect(second.memory.active.size()).toBe(1)
  second.memory.active.set(ban('192.0.2.3'))
  second.save()
  expect([...open().memory.active.values()].map(({ ip }) => ip)).toEqual(['192.0.2.1', '192.0.2.3'])
})

it('writes all bans again when its file was taken away', () => {
  const { memory, save } = open()
  memory.active.set(ban('192.0.2.1'))
  save()
  fs.rmSync(journal())
  memory.active.set(ban('192.0.2.2'))
  save()
  expect(open().memory.active.size()).toBe(2)
  expect(warnings).toEqual([])
})
