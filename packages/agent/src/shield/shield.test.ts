import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fromKey } from '../ip.ts'
import { createSerial } from '../serial.ts'
import { createBatches } from './batches.ts'
import { createDrift } from './drift.ts'
import { setName, toEntry, widen } from './entry.ts'
import { needsTrial, refuseMore, whyNotShield } from './refusals.ts'
import { addLengths, chainsOf, reshapeText, noLengths, singleLengths, tableText, usualLengths } from './rules.ts'
import { loginSources } from './sessions.ts'
import { readShieldFile, writeShieldFile } from './store.ts'
import { coversEntry } from './table.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-shield-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

describe('an entry', () => {
  it.each([
    ['192.0.2.7', 'ban_4', '192.0.2.7'],
    ['192.0.2.0/23', 'ban23_4', '192.0.2.0'],
    ['2001:db8::7', 'ban_6', '2001:db8::7'],
    ['2001:db8:7::/48', 'ban48_6', '2001:db8:7::'],
  ])('%s is in the set %s', (text, set, address) => {
    const entry = toEntry(text)
    expect(setName('ban', entry.family, entry.length)).toBe(set)
    expect(fromKey(entry.key)).toBe(address)
  })

  it('has one key for each wider length, and none for a narrower one', () => {
    const entry = toEntry('198.51.100.129')
    expect(fromKey(widen(entry, 25) ?? Buffer.alloc(4))).toBe('198.51.100.128')
    expect(fromKey(widen(entry, 24) ?? Buffer.alloc(4))).toBe('198.51.100.0')
    expect(widen(toEntry('198.51.100.0/24'), 25)).toBeNull()
    const v6 = toEntry('2001:db8:1:2:3:4:5:6')
    expect(fromKey(widen(v6, 64) ?? Buffer.alloc(16))).toBe('2001:db8:1:2::')
  })

  it('covers what lies in it', () => {
    expect(coversEntry('192.0.2.0/24', '192.0.2.9')).toBe(true)
    expect(coversEntry('192.0.2.0/24', '192.0.2.128/25')).toBe(true)
    expect(coversEntry('192.0.2.9', '192.0.2.9')).toBe(true)
    expect(coversEntry('192.0.2.128/25', '192.0.2.0/24')).toBe(false)
    expect(coversEntry('192.0.2.0/24', '192.0.3.9')).toBe(false)
    expect(coversEntry('192.0.2.0/24', '2001:db8::1')).toBe(false)
  })
})

describe('the rules', () => {
  const shape = { mode: 'stateless', bans: usualLengths, kept: singleLengths, cut: noLengths } as const

  it('hold no interval set: these slow every other program down that uses nft', () => {
    const bans = addLengths(usualLengths, [toEntry('192.0.2.0/23'), toEntry('2001:db8::/33')])
    const text = tableText({ ...shape, bans }, 'stockade_shield', true) + reshapeText(shape, 'stockade_shield')
    expect(text).not.toContain('interval')
    expect(text).toContain('ip saddr and 255.255.254.0 @ban23_4 goto hit')
    expect(text).toContain('ip6 saddr and ffff:ffff:8000:: @ban33_6 goto hit')
  })

  it('use connection tracking in the stateful form only', () => {
    const rules = (mode: 'stateful' | 'stateless'): string => JSON.stringify(chainsOf({ ...shape, mode }))
    expect(rules('stateless')).not.toMatch(/ct (state|direction)/)
    expect(rules('stateful')).toContain('ct direction reply return')
  })

  it('judge every packet of a ban that cuts, where connections are not tracked', () => {
    const cut = addLengths(noLengths, [toEntry('192.0.2.7'), toEntry('2001:db8:7::/64')])
    const early = (mode: 'stateful' | 'stateless') =>
      chainsOf({ ...shape, cut, mode }).find(({ name }) => name === 'early')?.rules ?? []
    expect(early('stateless').at(-2)).toBe('ip saddr @cut_4 goto bans')
    expect(early('stateless').at(-1)).toBe('ip6 saddr and ffff:ffff:ffff:ffff:: @cut64_6 goto bans')
    expect(early('stateful').join()).not.toContain('cut')
  })

  it('look at what is kept before anything is dropped', () => {
    const hit = chainsOf(shape).find(({ name }) => name === 'hit')?.rules ?? []
    expect(hit.at(-1)).toBe('counter drop')
    expect(hit.slice(0, -1).every(rule => rule.endsWith(' return'))).toBe(true)
  })

  it('let errors of tracked connections pass, and no connection that a helper expects', () => {
    const rules = chainsOf({ ...shape, mode: 'stateful' }).flatMap(chain => chain.rules)
    const related = rules.filter(rule => rule.includes('ct state related'))
    expect(related.map(rule => /^meta l4proto (\S+)/.exec(rule)?.[1])).toEqual(['icmp', 'ipv6-icmp'])
  })

  it('hold no anonymous set: the netlink driver copies rules without their sets', () => {
    for (const mode of ['stateful', 'stateless'] as const)
      for (const { rules } of chainsOf({ ...shape, mode })) expect(rules.join('\n')).not.toContain('{')
  })

  it('are the same text for the same lengths in any order', () => {
    const one = addLengths(usualLengths, [toEntry('192.0.2.0/23'), toEntry('192.0.2.0/27')])
    const other = addLengths(usualLengths, [toEntry('192.0.2.0/27'), toEntry('198.51.100.0/23')])
    expect(one).toEqual(other)
  })
})

describe('refusals', () => {
  it.each([
    ['0.0.0.0/0', /loopback or link-local/],
    ['::/0', /loopback or link-local/],
    ['127.0.0.53', /loopback/],
    ['fe80::1', /link-local/],
    ['169.254.169.254', /link-local/],
    ['224.0.0.1', /multicast/],
    ['ff02::1', /multicast/],
    ['255.255.255.255', /multicast or reserved/],
    ['198.50.0.0/15', /too wide: \/16 at most/],
    ['2001:db8::/31', /too wide: \/32 at most/],
    ['64:ff9b::/96', /stands for a range of IPv4 addresses/],
    ['64:ff9b::c633:6400/120', /stands for a range of IPv4 addresses/],
    ['64:ff9b:1:8::/64', /stands for a range of IPv4 addresses/],
    ['::ffff:0:0:0/97', /stands for a range of IPv4 addresses/],
  ])('%s is refused, with force too', (entry, says) => {
    expect(whyNotShield(entry, [], false)).toMatch(says)
    expect(whyNotShield(entry, [], true)).toMatch(says)
  })

  it('a single address that stands for one of IPv4 may be banned', () => {
    expect(whyNotShield('64:ff9b::c633:6407', [], false)).toBeNull()
  })

  it('the source of a login session is refused without force', () => {
    expect(whyNotShield('198.51.100.0/24', ['198.51.100.9'], false)).toMatch(/logged in on this host from 198.51.100.9/)
    expect(whyNotShield('198.51.100.0/24', ['198.51.100.9'], true)).toBeNull()
    expect(whyNotShield('198.51.100.0/24', ['192.0.2.9'], false)).toBeNull()
  })

  it('a host takes no more bans than its agent can hold', () => {
    expect(() => refuseMore(50_000)).toThrow(/^this host holds 50000 bans by command, which is the most/)
    refuseMore(49_999)
  })

  it('wide ranges need a trial', () => {
    expect(['192.0.2.0/23', '2001:db8::/47'].map(needsTrial)).toEqual([true, true])
    expect(['192.0.2.0/24', '192.0.2.1', '2001:db8::/48', '2001:db8::1'].map(needsTrial)).not.toContain(true)
  })
})

describe('login sessions', () => {
  it('come from logind and from utmp', () => {
    const folder = join(directory, 'sessions')
    fs.mkdirSync(folder)
    fs.writeFileSync(join(folder, '3'), 'UID=0\nSTATE=active\nREMOTE=1\nREMOTE_HOST=198.51.100.9\n')
    fs.writeFileSync(join(folder, '4'), 'UID=0\nSTATE=closing\nREMOTE_HOST=198.51.100.10\n')
    fs.writeFileSync(join(folder, '5'), 'UID=0\nSTATE=active\nREMOTE=0\n')
    const record = (type: number, host: string): Buffer => {
      const bytes = Buffer.alloc(384)
      bytes.writeInt16LE(type, 0)
      bytes.write(host, 76, 'latin1')
      return bytes
    }
    const utmp = join(directory, 'utmp')
    fs.writeFileSync(utmp, Buffer.concat([record(7, '2001:db8::9'), record(8, '192.0.2.1'), record(7, 'desk.example')]))
    expect(loginSources(folder, utmp)).toEqual(['198.51.100.9', '2001:db8::9'])
    expect(loginSources(join(directory, 'none'), join(directory, 'none'))).toEqual([])
  })
})

describe('the file', () => {
  const ban = {
    entry: '192.0.2.7',
    until: 5000,
    bannedAt: 4,
    duration: 1,
    commandId: 'c',
    isOnTrial: false,
    isCut: true,
  }

  it('is read as it was written', () => {
    const path = join(directory, 'shield.json')
    for (const offUntil of [undefined, null, 77]) {
      const saved = { savedAt: 9, offset: -3, offUntil, hasMoved: true, bans: [ban, { ...ban, until: null }] }
      writeShieldFile(path, saved)
      expect(readShieldFile(path)).toEqual(saved)
    }
  })

  it('that is absent or damaged is an empty shield, and odd rows are left out', () => {
    const path = join(directory, 'shield.json')
    const empty = { savedAt: 0, offset: 0, offUntil: undefined, hasMoved: false, bans: [] }
    expect(readShieldFile(path)).toEqual(empty)
    fs.writeFileSync(path, '{"bans": [')
    expect(readShieldFile(path)).toEqual(empty)
    fs.writeFileSync(
      path,
      '{"bans": [["example", null], 7, ["192.0.2.1", "soon"], ["192.0.2.2", null, 1, 2, null, false]]}',
    )
    expect(readShieldFile(path).bans.map(({ entry }) => entry)).toEqual(['192.0.2.2'])
  })
})

describe('batches', () => {
  it('take what waits together, and find the one change that fails', async () => {
    const seen: number[] = []
    const submit = createBatches<number>(createSerial(), async changes => {
      await new Promise(resolve => setImmediate(resolve))
      seen.push(changes.length)
      if (changes.includes(6)) throw new Error('not six')
    })
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => submit(i)))
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      true,
    ])
    expect(seen[0]).toBe(8)
    await submit(9)
    expect(seen.at(-1)).toBe(1)
  })
})

describe('the drift of the clocks', () => {
  it('is told at the second look, and not for a moment or a small one', () => {
    let server = 1_000_000
    let steady = 0
    const drift = createDrift({ serverNow: () => server, steadyNow: () => steady })
    const pass = (serverMs: number, steadyMs: number): boolean => {
      server += serverMs
      steady += steadyMs
      return drift.hasJumped()
    }
    expect(pass(60_000, 60_000)).toBe(false)
    expect(pass(61_500, 60_000)).toBe(false)
    expect(pass(-3_600_000, 60_000)).toBe(false)
    expect(pass(60_000 + 3_660_000, 60_000)).toBe(false)
    // A host that slept for an hour.
    expect(pass(3_660_000, 60_000)).toBe(false)
    expect(pass(60_000, 60_000)).toBe(true)
    drift.settle()
    expect(pass(60_000, 60_000)).toBe(false)
  })
})
