import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOverrides } from '../src/bans/overrides.ts'
import { createBanHandlers } from '../src/commands/ban-handlers.ts'
import { createGuard } from '../src/commands/guard.ts'
import { createFloor } from '../src/policy/floor.ts'
import { createPolicy } from '../src/policy/policy.ts'
import { createSealGate } from '../src/seal/gate.ts'
import { openSpent } from '../src/seal/spent.ts'
import { overlaps } from '../src/ip.ts'
import { openJournal } from '../src/commands/journal.ts'
import type { Handlers } from '../src/commands/params.ts'
import { createLanes } from '../src/commands/lanes.ts'
import { createRunner } from '../src/commands/runner.ts'
import type { Engine } from '../src/engine/engine.ts'
import { startedLedger } from './started-ledger.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-commands-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const open = () => openJournal(join(directory, 'cmd-journal.json'), Date.now)
const done = { success: true, output: 'done', exit_code: 0 }

describe('the journal', () => {
  it('keeps a result until it is told, also over a restart', async () => {
    const journal = open()
    await journal.started('a')
    await journal.finished('a', done)
    expect(open().untold(10)).toEqual([{ id: 'a', ...done }])
    journal.told(['a'])
    expect(open().untold(10)).toEqual([])
    expect(open().has('a')).toBe(true)
    const again = open()
    again.tellAgain('a')
    expect(again.untold(10)).toEqual([{ id: 'a', ...done }])
  })

  it('a command without a result after a restart is unknown, and is not run again', async () => {
    await open().started('b')
    const journal = open()
    expect(journal.has('b')).toBe(true)
    expect(journal.untold(10)).toMatchObject([
      { id: 'b', success: false, output: expect.stringContaining('outcome unknown') as string },
    ])
  })

  it('stays small, and never forgets what was not told', async () => {
    const journal = openJournal(join(directory, 'cmd-journal.json'), Date.now, { kept: 100 })
    await journal.finished('first', { ...done, output: 'x'.repeat(60_000) })
    await Promise.all(
      Array.from({ length: 130 }, (_, i) => journal.finished(`c${i}`, { ...done, output: 'y'.repeat(5000) })),
    )
    journal.told(Array.from({ length: 130 }, (_, i) => `c${i}`))
    await journal.finished('last', done)
    expect(fs.statSync(join(directory, 'cmd-journal.json')).size).toBeLessThan(350_000)
    expect(open().has('first')).toBe(true)
    expect(open().has('c0')).toBe(false)
    expect(
      open()
        .untold(10)
        .map(({ id }) => id),
    ).toEqual(['first', 'last'])
  })

  it('a damaged file is an empty one', () => {
    fs.writeFileSync(join(directory, 'cmd-journal.json'), '{"commands": [{"id"')
    expect(open().untold(10)).toEqual([])
  })
})

describe('lanes', () => {
  it('one jail in order, jails side by side, the whole engine alone', async () => {
    const lanes = createLanes()
    const events: string[] = []
    const work = (name: string, ms: number) => async (): Promise<void> => {
      events.push(`${name}+`)
      await new Promise(resolve => setTimeout(resolve, ms))
      events.push(`${name}-`)
    }
    lanes.run('a', work('a1', 30))
    lanes.run('b', work('b1', 10))
    lanes.run('a', work('a2', 10))
    lanes.run(null, work('all', 10))
    lanes.run('b', work('b2', 5))
    await lanes.idle()
    expect(events).toEqual(['a1+', 'b1+', 'b1-', 'a1-', 'a2+', 'a2-', 'all+', 'all-', 'b2+', 'b2-'])
  })
})

const noSeals = () =>
  createSealGate({
    configDirectory: directory,
    serverId: 's',
    spent: openSpent(join(directory, 'seals.json'), Date.now),
    now: Date.now,
  })

const unused = () => Promise.reject(new Error('this test runs no such command'))
const unusedHandlers: Handlers = {
  'ban-ip': unused,
  'unban-ip': unused,
  'jail-status': unused,
  'jail-preview': unused,
  'jail-enable': unused,
  'jail-disable': unused,
  'jail-reload': unused,
  'reload-all': unused,
  'service-restart': unused,
  'deploy-template': unused,
  'remove-template': unused,
  'template-preview': unused,
  'approve-whitelist': unused,
  'approve-port': unused,
  'approve-ban': unused,
  'self-test': unused,
  'upgrade-agent': unused,
}
const handlersWith = (own: Partial<Handlers>): Handlers => ({ ...unusedHandlers, ...own })

const aRunner = (handlers: Handlers, journal: ReturnType<typeof open>) =>
  createRunner({
    handlers,
    journal,
    seals: noSeals(),
    policy: createPolicy({ directory, now: Date.now }),
    isShieldUsed: () => false,
    onResult: () => undefined,
    log: quiet,
  })

describe('the runner', () => {
  it('carries each command out once, however often it comes', async () => {
    let runs = 0
    const journal = open()
    const handlers = handlersWith({
      'reload-all': async () => {
        runs += 1
        await new Promise(resolve => setTimeout(resolve, 10))
        return `run ${runs}`
      },
    })
    const runner = aRunner(handlers, journal)
    const command = { id: 'x', type: 'reload-all', params: {} }
    runner.take([command, command])
    runner.take([command])
    await runner.idle()
    runner.take([command])
    await runner.idle()
    expect(runs).toBe(1)
    expect(journal.untold(10)).toEqual([{ id: 'x', success: true, output: 'run 1', exit_code: 0 }])
  })

  it('refuses what it does not know, and what the host does not want', async () => {
    const journal = open()
    const handlers = handlersWith({ 'service-restart': () => Promise.resolve('restarted') })
    fs.writeFileSync(join(directory, 'policy.json'), '{"refuse": ["service-restart"]}')
    const runner = aRunner(handlers, journal)
    runner.take(
      ['service-restart', 'toString', '__proto__', 'constructor'].map((type, i) => ({ id: `n${i}`, type, params: {} })),
    )
    await runner.idle()
    expect(journal.untold(10).map(({ success, output }) => `${success} ${output}`)).toEqual([
      'false policy.json on this host refuses service-restart',
      'false this agent does not know commands of type toString',
      'false this agent does not know commands of type __proto__',
      'false this agent does not know commands of type constructor',
    ])
  })

  it('keeps the hourly limit of bans also where they arrive together', async () => {
    const banned: string[] = []
    const journal = open()
    const handlers = handlersWith({ 'ban-ip': ({ ip }) => Promise.resolve(String(banned.push(ip))) })
    fs.writeFileSync(join(directory, 'policy.json'), '{"version": 1, "bans_per_hour": 2}')
    const runner = aRunner(handlers, journal)
    const bans = ['sshd', 'mail', 'web'].map(jail => ({ id: jail, type: 'ban-ip', params: { jail, ip: '192.0.2.1' } }))
    runner.take(bans)
    await runner.idle()
    expect(banned).toHaveLength(2)
    expect(journal.untold(10).flatMap(({ success, output }) => (success ? [] : [output]))).toEqual([
      'policy.json on this host allows 2 bans by commands an hour, and so many were done',
    ])
  })

  it('does not begin what it cannot note down', async () => {
    let runs = 0
    const journal = open()
    const handlers = handlersWith({ 'reload-all': () => Promise.resolve(String((runs += 1))) })
    const runner = aRunner(handlers, journal)
    fs.rmSync(directory, { recursive: true })
    runner.take([{ id: 'x', type: 'reload-all', params: {} }])
    await runner.idle()
    expect(runs).toBe(0)
  })
})

it('a ban by command keeps its own end, where the jail would keep it for another time', async () => {
  const clocks = { now: () => 1_000_000_000, steadyNow: () => 0 }
  const { memory, ledger } = startedLedger(clocks.now, () => undefined)
  const banned = new Set<string>()
  const engine = {
    version: () => '1.0.2',
    connectedFor: () => 60_000,
    jails: () => Promise.resolve(['sshd']),
    thresholds: () => Promise.resolve({ maxretry: 5, bantime: 600, findtime: 600 }),
    actions: () => Promise.resolve([]),
    isBanned: (_: string, ip: string) => Promise.resolve(banned.has(ip)),
    ban: (_: string, ip: string) => Promise.resolve(banned.add(ip).size),
  } as unknown as Engine
  const common = { engine, ledger, memory, drain: () => Promise.resolve(), save: () => undefined, ...clocks }
  const { 'ban-ip': banIp } = createBanHandlers({
    ...common,
    overrides: createOverrides({ ...common, log: quiet }),
    guard: { whyNotBan: () => Promise.resolve(null) },
    shield: { isUsed: () => false, ban: unused, lift: unused, stillCovered: () => '' },
    unbanLater: () => '',
    ensureOwnJail: () => Promise.resolve(false),
    nft: ['nft'],
  })
  await banIp({ jail: 'sshd', ip: '192.0.2.1', duration: 60 }, 'one')
  await banIp({ jail: 'sshd', ip: '192.0.2.2', duration: 600 }, 'two')
  expect(await banIp({ jail: 'sshd', ip: '192.0.2.3', duration: -1 }, 'three')).toMatch(/for good$/)
  expect([...memory.overrides.values()]).toEqual([
    { jail: 'sshd', ip: '192.0.2.1', until: 1_000_060_000 },
    { jail: 'sshd', ip: '192.0.2.3', until: null },
  ])
})

it('the guard knows what would cut the host off', async () => {
  const files: Record<string, string> = {
    '/proc/net/route':
      'Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\neth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\neth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n',
    '/proc/net/ipv6_route':
      '00000000000000000000000000000000 00 00000000000000000000000000000000 00 20010db8000000000000000000000001 00000400 00000001 00000000 00000003 eth0\n',
    '/etc/resolv.conf': '# none\nnameserver 198.51.100.53\nnameserver 2001:db8:53::1\n',
  }
  let answers = true
  const floor = createFloor({
    baseUrls: () => ['https://stockade.example/here'],
    peer: () => '::ffff:198.51.100.5',
    read: path => files[path] ?? null,
    resolve: host =>
      answers ? Promise.resolve([host === 'stockade.example' ? '198.51.100.77' : '']) : Promise.reject(new Error()),
    own: () => ['192.0.2.10', '2001:db8::10'],
    now: Date.now,
  })
  const guard = createGuard({ whitelisted: ip => overlaps('203.0.113.0/28', ip), floor })
  for (const [ip, says] of [
    ['127.0.0.1', /loopback/],
    ['192.0.2.10', /this host/],
    ['2001:db8::/32', /this host/],
    ['192.0.2.1', /gateway/],
    ['2001:db8::1', /gateway/],
    ['198.51.100.53', /resolver/],
    ['2001:db8:53::/48', /resolver/],
    ['198.51.100.5', /Stockade server/],
    ['198.51.100.77', /Stockade server/],
    ['198.51.100.64/28', /Stockade server/],
    ['203.0.113.1', /is whitelisted$/],
    ['203.0.113.0/24', /holds a whitelisted address/],
  ] as const)
    expect(await guard.whyNotBan(ip), ip).toMatch(says)
  answers = false
  expect(await guard.whyNotBan('198.51.100.77')).toMatch(/Stockade server/)
  for (const ip of ['203.0.113.16', '192.0.2.2', '2001:db8:54::1']) expect(await guard.whyNotBan(ip), ip).toBeNull()
})
