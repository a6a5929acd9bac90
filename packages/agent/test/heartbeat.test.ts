import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { EngineConfig } from '../src/engine/config.ts'
import type { Engine } from '../src/engine/engine.ts'
import { createHeartbeat } from '../src/loops/heartbeat.ts'
import { createLine } from '../src/loops/line.ts'
import { createLink } from '../src/loops/link.ts'
import type { Heartbeat, JailDetail, Wire } from '../src/wire.ts'

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The heartbeat of a host with one jail. Each heartbeat answers how often the details of its jails were sent till then. */
const build = () => {
  const directory = fs.mkdtempSync(join(tmpdir(), 'stockade-heartbeat-'))
  const stopping = new AbortController()
  const { signal } = stopping
  const host = {
    now: 1_795_250_000_000,
    version: '1.0.2' as string | null,
    bantime: 600,
    bans: 0,
    banned: [] as string[],
    tells: true,
  }
  const sent: (readonly JailDetail[])[] = []
  const beats: Heartbeat[] = []
  const engine = {
    version: () => host.version,
    jails: () => Promise.resolve(['sshd']),
    counts: () =>
      Promise.resolve({ current_bans: host.bans, total_banned: host.bans, current_failed: 0, total_failed: 0 }),
    banned: () => Promise.resolve(new Map([['sshd', new Set(host.banned)]])),
    thresholds: () => Promise.resolve({ maxretry: 5, bantime: host.bantime, findtime: 600 }),
    logpath: () => Promise.resolve(['/var/log/auth.log']),
  } as unknown as Engine
  const wire = {
    heartbeat: async (beat: Heartbeat) => {
      beats.push(beat)
      return Promise.resolve({ commands: [], stateVersion: null, interval: 30 })
    },
    jails: async (jails: readonly JailDetail[]) => void sent.push(jails),
  } as unknown as Wire
  const loop = createHeartbeat({
    ...{ wire, engine, signal, log: quiet, serverId: 'server' },
    link: createLink(quiet),
    line: createLine(() => host.now, signal),
    config: { directory, jails: () => Promise.resolve([]) } as unknown as EngineConfig,
    places: { learnAll: () => Promise.resolve(), tells: () => host.tells },
    about: { hostname: () => 'web-01', os: 'Linux', agentVersion: '1.0.0', agentId: 'agent', machine: null },
    nftables: () => Promise.resolve(true),
    shield: () => ({ supported: false, mode: null, owned: false, driver: null, reason: 'none' }),
    drops: { changed: () => [], told: () => undefined },
    lists: { changed: () => [], told: () => undefined },
    sealed: () => null,
    upgrades: () => ({ able: false, reason: 'none', release: null, previous: null }),
    metrics: () => ({ cpu_percent: 0, memory_percent: 0, disk_percent: 0, uptime: 0 }),
    policy: () => ({ state: 'default', error: null }),
    protection: () => null,
    onCommands: () => undefined,
    onState: () => undefined,
    onAnswer: () => undefined,
    now: () => host.now,
  })
  const running = loop.run()
  const turned = async (): Promise<number> => {
    await loop.turned()
    return sent.length
  }
  const beat = (): Promise<number> => {
    const count = turned()
    loop.wake()
    return count
  }
  ends.push(async () => {
    stopping.abort()
    loop.wake()
    await running
    fs.rmSync(directory, { recursive: true })
  })
  return { host, sent, beats, turned, beat }
}

it('sends the details of jails when a setting changed or an hour has passed, and not for new counts', async () => {
  const { host, sent, turned, beat } = build()
  expect(await turned()).toBe(1)
  host.now += 30_000
  host.bans = 7
  expect(await beat()).toBe(1)
  host.bantime = 3600
  expect(await beat()).toBe(2)
  expect(sent.at(-1)).toMatchObject([{ name: 'sshd', bantime: 3600, current_bans: 7 }])
  expect(await beat()).toBe(2)
  host.now += 3_600_000
  expect(await beat()).toBe(3)
})

it('sends them again once fail2ban is back', async () => {
  const { host, turned, beat } = build()
  expect(await turned()).toBe(1)
  host.version = null
  expect(await beat()).toBe(1)
  host.version = '1.0.2'
  expect(await beat()).toBe(2)
})

it('tells ids that are no address apart, and only their number where the policy keeps log lines', async () => {
  const { host, beats, turned, beat } = build()
  expect(await turned()).toBe(1)
  expect(beats.at(-1)?.jails?.[0]).not.toHaveProperty('other_ids')
  host.banned = ['joe', '198.51.100.7', 'host.example']
  host.bans = 3
  expect(await beat()).toBe(1)
  expect(beats.at(-1)?.jails).toMatchObject([
    { current_bans: 1, other_ids: { count: 2, ids: ['joe', 'host.example'] } },
  ])
  host.tells = false
  await beat()
  expect(beats.at(-1)?.jails).toMatchObject([{ current_bans: 1, other_ids: { count: 2, ids: [] } }])
})
