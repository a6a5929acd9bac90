import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ActiveBan } from '../src/bans/remembered-bans.ts'
import { createWishes } from '../src/bans/wishes.ts'
import { EngineDown } from '../src/engine/engine.ts'

const day = 24 * 3_600_000
let directory = ''
let time = 0
let isUp = true
let banned: Record<string, string[]> = {}
let active: ActiveBan[] = []
let lifted: string[] = []
/** What fail2ban does while the agent waits. */
let meanwhile = (): void => undefined

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-wishes-'))
  time = 1_000_000_000
  isUp = true
  banned = {}
  active = []
  lifted = []
  meanwhile = () => undefined
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const build = () =>
  createWishes({
    file: join(directory, 'wishes.json'),
    engine: {
      version: () => (isUp ? '1.0.2' : null),
      banned: () =>
        isUp
          ? Promise.resolve(new Map(Object.entries(banned).map(([jail, ips]) => [jail, new Set(ips)])))
          : Promise.reject(new EngineDown('down')),
      unban: (jail, ip) => {
        lifted.push(`${jail} ${ip}`)
        banned[jail] = (banned[jail] ?? []).filter(other => other !== ip)
        return Promise.resolve(1)
      },
    },
    ledger: {
      active: (jail, ip) => active.find(ban => ban.jail === jail && ban.ip === ip) ?? null,
      activeOf: (ip, jail) => active.filter(ban => ban.ip === ip && (jail === null || ban.jail === jail)),
      ended: (jail, ip) => {
        active = active.filter(ban => ban.jail !== jail || ban.ip !== ip)
      },
    },
    overrides: { drop: () => undefined },
    drain: () => Promise.resolve(),
    pause: ms => {
      expect(ms).toBeGreaterThan(0)
      meanwhile()
      return Promise.resolve()
    },
    now: () => time,
    log: quiet,
  })
const ban = (jail: string, ip: string, at: number): ActiveBan => ({
  jail,
  ip,
  time: Math.round(at / 1000),
  bantime: 600,
  round: 0,
})

it('lifts a ban that fail2ban restores, also one that comes late, and after a restart of the agent', async () => {
  isUp = false
  active = [ban('sshd', '192.0.2.1', time - 5000)]
  expect(build().unbanLater('sshd', '192.0.2.1')).toContain('as soon as fail2ban runs again')
  expect(active).toEqual([])
  const wishes = build()
  await wishes.run()
  isUp = true
  await wishes.run()
  banned = { sshd: ['192.0.2.1', '192.0.2.2'], web: ['192.0.2.1'] }
  await wishes.run()
  expect(lifted).toEqual(['sshd 192.0.2.1'])
  await wishes.run()
  await wishes.run()
  banned = { sshd: ['192.0.2.1'] }
  await wishes.run()
  await build().run()
  expect(lifted).toHaveLength(1)
})

it('lifts no ban whose firewall actions may still run', async () => {
  const wishes = build()
  for (const ip of ['192.0.2.1', '192.0.2.2']) wishes.unbanLater('sshd', ip)
  let waits = 0
  meanwhile = () => {
    expect(lifted).toEqual([])
    waits += 1
  }
  await wishes.run()
  expect(waits).toBe(0)
  banned = { sshd: ['192.0.2.1', '192.0.2.2'] }
  await wishes.run()
  expect(waits).toBe(1)
  expect(lifted).toEqual(['sshd 192.0.2.1', 'sshd 192.0.2.2'])
})

it('means all jails without a jail, but no ban that was made later', async () => {
  const wishes = build()
  wishes.unbanLater(null, '2001:db8::1')
  banned = { sshd: ['2001:db8::1'], web: ['2001:db8::1'], new: ['2001:db8::1'] }
  active = [ban('web', '2001:db8::1', time - 60_000), ban('new', '2001:db8::1', time + 10_000)]
  await wishes.run()
  expect(lifted).toEqual(['sshd 2001:db8::1', 'web 2001:db8::1'])
  expect(banned['new']).toEqual(['2001:db8::1'])
})

it('gives up when fail2ban has forgotten the ban anyway', async () => {
  const wishes = build()
  isUp = false
  wishes.unbanLater('sshd', '192.0.2.1')
  time += 9 * day
  isUp = true
  await wishes.run()
  banned = { sshd: ['192.0.2.1'] }
  await wishes.run()
  expect(lifted).toEqual([])
})
