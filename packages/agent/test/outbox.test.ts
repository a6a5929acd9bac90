import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sendable } from '../src/loops/sender.ts'
import { openOutbox, subject } from '../src/outbox.ts'
import type { Entry, Limits } from '../src/outbox.ts'

let directory = ''
const warnings: string[] = []

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-outbox-'))
  warnings.length = 0
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const open = (limits?: Limits) =>
  openOutbox(directory, { ...(limits ? { limits } : {}), warn: text => warnings.push(text) })

const aBan = (n: number, log = ''): Entry => {
  const ban = { event_id: `id-${n}`, ip: `198.51.100.${n % 250}`, jail: 'sshd', log_lines: log, ban_duration: 600 }
  return { kind: 'ban', at: n, offset: null, ban }
}

const anUnban = (n: number): Entry => ({
  kind: 'unban',
  at: n,
  offset: null,
  unban: { event_id: `un-${n}`, ip: `198.51.100.${n % 250}`, jail: 'sshd' },
})

const ids = (entries: readonly Entry[]): string[] => entries.map(entry => subject(entry).event_id)

/** Everything that waits, batch by batch. */
const empty = (outbox: ReturnType<typeof open>, size = 7): string[] => {
  const found: string[] = []
  for (let batch = outbox.next(size, 1e6); batch; batch = outbox.next(size, 1e6)) {
    found.push(...ids(batch.entries))
    batch.done()
  }
  return found
}

describe('the outbox', () => {
  it('gives everything once, in order, over segments and restarts', () => {
    const limits = { total: 1e6, segment: 500 }
    let outbox = open(limits)
    for (let n = 0; n < 50; n += 1) expect(outbox.append([aBan(n)])).toBe(true)
    const first = outbox.next(10, 1e6)
    expect(ids(first?.entries ?? [])).toEqual(
      ids(Array.from({ length: first?.entries.length ?? 0 }, (_, n) => aBan(n))),
    )
    first?.done()
    outbox = open(limits)
    for (let n = 50; n < 60; n += 1) outbox.append([aBan(n)])
    const taken = first?.entries.length ?? 0
    expect(taken).toBeGreaterThan(0)
    expect(empty(outbox)).toEqual(Array.from({ length: 60 - taken }, (_, n) => `id-${n + taken}`))
    expect(outbox.bytes()).toBe(0)
    expect(fs.readdirSync(directory)).toEqual(['head.json'])
    outbox = open(limits)
    outbox.append([aBan(99)])
    expect(empty(outbox)).toEqual(['id-99'])
  })

  it('a batch that was not settled comes again, also after a crash', () => {
    const outbox = open()
    outbox.append([aBan(1), aBan(2)])
    expect(ids(outbox.next(10, 1e6)?.entries ?? [])).toEqual(['id-1', 'id-2'])
    expect(ids(open().next(10, 1e6)?.entries ?? [])).toEqual(['id-1', 'id-2'])
  })

  it('half a line of a crash is cut off, and what follows is whole', () => {
    open().append([aBan(1)])
    const [segment = ''] = fs.readdirSync(directory).filter(name => name.endsWith('.jsonl'))
    for (const torn of ['{"kind":"ban","at":2,"of', '\u0000\u0000\u0000']) {
      fs.appendFileSync(join(directory, segment), torn)
      const outbox = open()
      outbox.append([aBan(3)])
      expect(ids(outbox.next(10, 1e6)?.entries ?? []).slice(0, 2)).toEqual(['id-1', 'id-3'])
    }
  })

  it('half a line that is all of a file is cut off too', () => {
    open().append([aBan(1)])
    const [segment = ''] = fs.readdirSync(directory).filter(name => name.endsWith('.jsonl'))
    fs.writeFileSync(join(directory, segment), '{"kind":"ban","at":2,"of')
    const outbox = open()
    outbox.append([aBan(3)])
    expect(empty(outbox)).toEqual(['id-3'])
  })

  it('a line that is not one of ours is passed over', () => {
    open().append([aBan(1)])
    const [segment = ''] = fs.readdirSync(directory).filter(name => name.endsWith('.jsonl'))
    fs.appendFileSync(join(directory, segment), 'nonsense\n{"kind":"other"}\n')
    const outbox = open()
    outbox.append([aBan(2)])
    expect(empty(outbox, 1)).toEqual(['id-1', 'id-2'])
  })

  it('a lost or damaged head repeats, and loses nothing', () => {
    const outbox = open()
    outbox.append([aBan(1), aBan(2)])
    outbox.next(1, 1e6)?.done()
    fs.writeFileSync(join(directory, 'head.json'), '{"segm')
    expect(empty(open())).toEqual(['id-1', 'id-2'])
  })

  it('is bounded: the oldest go first, counted and told', () => {
    const outbox = open({ total: 10_000, segment: 1000 })
    for (let n = 0; n < 200; n += 1) outbox.append([aBan(n)])
    expect(outbox.bytes()).toBeLessThanOrEqual(11_000)
    expect(outbox.dropped()).toBeGreaterThan(50)
    const left = empty(outbox)
    expect(left).toHaveLength(200 - outbox.dropped())
    expect(left.at(-1)).toBe('id-199')
    expect(warnings.at(-1)).toMatch(/the outbox is full/)
  })

  it('what the disk does not take is kept and says so, until it does', () => {
    const outbox = open()
    outbox.append([aBan(1)])
    const away = `${directory}-away`
    fs.renameSync(directory, away)
    fs.writeFileSync(directory, 'a file where the directory was')
    expect(outbox.append([aBan(2)])).toBe(false)
    expect(outbox.flush()).toBe(false)
    fs.rmSync(directory)
    fs.renameSync(away, directory)
    expect(outbox.flush()).toBe(true)
    expect(empty(outbox)).toEqual(['id-1', 'id-2'])
  })

  it('long log lines do not hide a batch', () => {
    const outbox = open()
    outbox.append(Array.from({ length: 20 }, (_, n) => aBan(n, 'x'.repeat(16_000))))
    expect(outbox.next(1000, 50_000)?.entries.length).toBeLessThan(20)
    const found: string[] = []
    for (let batch = outbox.next(1000, 10_000); batch; batch = outbox.next(1000, 10_000)) {
      found.push(...ids(batch.entries))
      batch.done()
    }
    expect(found).toHaveLength(20)
  })
})

it('a ban after the end of an earlier one of the same address waits for the next request', () => {
  expect(sendable([aBan(1), anUnban(1), aBan(2), anUnban(2)])).toBe(4)
  expect(sendable([aBan(1), anUnban(1), aBan(2), aBan(1)])).toBe(3)
  expect(sendable([anUnban(1), aBan(1)])).toBe(1)
  expect(sendable([])).toBe(0)
})

it('goes on when a file of it was taken away', () => {
  const outbox = open({ total: 1e6, segment: 200 })
  for (let n = 0; n < 6; n += 1) outbox.append([aBan(n)])
  const [first = ''] = fs.readdirSync(directory).filter(name => name.endsWith('.jsonl'))
  fs.rmSync(join(directory, first))
  expect(empty(outbox).at(-1)).toBe('id-5')
  expect(warnings.at(-1)).toMatch(/taken away/)
})
