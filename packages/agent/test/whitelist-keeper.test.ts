import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { EngineConfig } from '../src/engine/config.ts'
import { EngineDown, EngineRefused } from '../src/engine/engine.ts'
import type { Engine } from '../src/engine/engine.ts'
import { defaultRules } from '../src/policy/format.ts'
import { createStore } from '../src/whitelist/store.ts'
import { createWhitelist } from '../src/whitelist/whitelist.ts'
import { eventually } from '../../server/src/testing/waiting.ts'

const directories: string[] = []
afterEach(() => directories.splice(0).forEach(place => fs.rmSync(place, { recursive: true, force: true })))

/** A fail2ban with ignore lists and bans; `hold` makes the next reading of a list wait. */
const build = (own: string[] = []) => {
  const place = fs.mkdtempSync(join(tmpdir(), 'stockade-whitelist-'))
  directories.push(place)
  for (const name of ['etc', 'etc/jail.d', 'run', 'state']) fs.mkdirSync(join(place, name))
  const lists = new Map([['sshd', new Set(own)]])
  const banned = new Map<string, Set<string>>()
  /** Bans of fail2ban that the agent has not noticed, by address. */
  const unnoticed = new Set<string>()
  const calls: string[] = []
  const warnings: string[] = []
  let waiting: Promise<void> | null = null
  let down = false
  let connectedFor = 3_600_000
  /** What is wrong with the configuration, as its reader says it of the copy that it reads. */
  let fault: string | null = null
  const listOf = (jail: string): Set<string> => {
    const list = lists.get(jail)
    if (!list) throw new EngineRefused(`UnknownJailException: ${jail}`)
    return list
  }
  const engine = {
    jails: () => (down ? Promise.reject(new EngineDown('gone')) : Promise.resolve([...lists.keys()])),
    ignored: async (jail: string) => {
      const list = [...listOf(jail)]
      await waiting
      return list
    },
    ignore: (jail: string, values: string[]) => Promise.resolve(values.forEach(value => listOf(jail).add(value))),
    unignore: (jail: string, values: string[]) => {
      for (const value of values) if (!listOf(jail).delete(value)) throw new EngineRefused('not in list')
      return Promise.resolve()
    },
    banned: () => Promise.resolve(banned),
    connectedFor: () => connectedFor,
    unbanAll: (jail: string, ips: string[]) => {
      calls.push(`unban ${jail} ${ips.join(' ')}`)
      return Promise.resolve()
    },
  }
  const config = {
    directory: join(place, 'etc'),
    mark: () => '',
    ignores: () =>
      fault === null ? Promise.resolve(new Map([['sshd', own]])) : Promise.reject(new Error(`${place}/etc/${fault}`)),
    jails: () => Promise.resolve([]),
  }
  const open = () =>
    createWhitelist({
      store: createStore(join(place, 'state')),
      engine: engine as unknown as Engine,
      config: config as unknown as EngineConfig,
      ledger: {
        active: (jail: string, ip: string) =>
          unnoticed.has(ip) ? null : { jail, ip, time: 1, bantime: 600, eventId: '', round: 0 },
        ended: (jail: string, ip: string) => void calls.push(`ended ${jail} ${ip}`),
      },
      overrides: {
        drop: (jail: string | null, ip: string) => void calls.push(`drop ${jail} ${ip}`),
        dropCovered: () => undefined,
      },
      drain: () => (calls.push('drain'), Promise.reject(new Error('the table is not readable'))),
      limits: () => defaultRules.whitelist,
      approvals: () => null,
      onHeld: () => void calls.push('held'),
      now: Date.now,
      log: { info: () => undefined, warn: text => void warnings.push(text), debug: () => undefined },
    })
  const list = (jail = 'sshd'): string[] => [...(lists.get(jail) ?? [])].sort()
  const hold = (): (() => void) => {
    let go = (): void => undefined
    waiting = new Promise(resolve => (go = resolve))
    return () => {
      waiting = null
      go()
    }
  }
  return {
    ...{ whitelist: open(), open, place, lists, banned, unnoticed, calls, warnings, list, hold },
    fall: (is: boolean) => (down = is),
    restart: () => (connectedFor = 1000),
    spoil: (text: string | null) => (fault = text),
  }
}

it('a list that comes while another is being applied still takes back what that one gave', async () => {
  const { whitelist, list, hold } = build()
  whitelist.take('192.0.2.1\n192.0.2.2\n', 'v1', 2)
  await whitelist.apply()
  const go = hold()
  const look = whitelist.look(true)
  await new Promise(resolve => setTimeout(resolve, 50))
  whitelist.take('192.0.2.2\n192.0.2.3\n', 'v2', 2)
  go()
  await look
  expect(await whitelist.apply()).toEqual({ entries: 2, error: null })
  expect(list()).toEqual(['192.0.2.2', '192.0.2.3'])
})

it('leaves alone what is the administrator’s own, also when the list named it too', async () => {
  const { whitelist, list } = build(['192.0.2.1', '198.51.100.0/24', 'office.example'])
  whitelist.take('192.0.2.1\n198.51.100.0/24\n2001:db8::1\n', 'v1', 3)
  await whitelist.apply()
  whitelist.take('', 'v2', 0)
  expect(await whitelist.apply()).toEqual({ entries: 0, error: null })
  expect(list()).toEqual(['192.0.2.1', '198.51.100.0/24', 'office.example'])
})

it('lifts what it covers after the table was read, and nothing else', async () => {
  const { whitelist, banned, calls } = build()
  banned.set('sshd', new Set(['192.0.2.1', '192.0.2.9', '198.51.100.0/24', '2001:db8::5']))
  whitelist.take('192.0.2.1\n198.51.100.77\n2001:db8::/64\n', 'v1', 3)
  await whitelist.apply()
  expect(calls.slice(0, 2)).toEqual(['drain', 'unban sshd 192.0.2.1 198.51.100.0/24 2001:db8::5'])
  expect(calls).toContain('drop sshd 192.0.2.1')
  expect(calls).toContain('ended sshd 2001:db8::5')
  expect(calls.join()).not.toContain('192.0.2.9')
})

it('lifts a ban soon that the agent has not noticed', async () => {
  const { whitelist, banned, unnoticed, calls } = build()
  banned.set('sshd', new Set(['192.0.2.1', '192.0.2.2']))
  unnoticed.add('192.0.2.2')
  whitelist.take('192.0.2.0/24\n', 'v1', 1)
  await whitelist.apply()
  expect(calls).toContain('unban sshd 192.0.2.1')
  await eventually(() => expect(calls).toContain('unban sshd 192.0.2.2'))
})

it('lifts a ban soon that fail2ban may just be restoring', async () => {
  const { whitelist, banned, calls, restart } = build()
  banned.set('sshd', new Set(['192.0.2.1']))
  restart()
  whitelist.take('192.0.2.1\n', 'v1', 1)
  await whitelist.apply()
  expect(calls).not.toContain('unban sshd 192.0.2.1')
  await eventually(() => expect(calls).toContain('unban sshd 192.0.2.1'))
})

it('undoes a later ban when its actions have run, or soon', async () => {
  const { whitelist, calls } = build()
  whitelist.take('192.0.2.1\n', 'v1', 1)
  whitelist.met('sshd', '192.0.2.9', true)
  whitelist.met('sshd', '192.0.2.1', false)
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(calls).toEqual([])
  whitelist.met('sshd', '192.0.2.1', true)
  await new Promise(resolve => setTimeout(resolve, 1000))
  expect(calls).toEqual(['drain', 'unban sshd 192.0.2.1', 'drop sshd 192.0.2.1', 'ended sshd 192.0.2.1'])
})

it('says how much holds: without fail2ban nothing, and then everything', async () => {
  const { whitelist, calls, fall, list } = build()
  fall(true)
  whitelist.take('192.0.2.1\n', 'v1', 1)
  expect(await whitelist.apply()).toMatchObject({
    entries: 0,
    error: expect.stringContaining('does not run') as string,
  })
  fall(false)
  await whitelist.look(true)
  expect(calls).toContain('held')
  expect(whitelist.held()).toEqual({ entries: 1, error: null })
  expect(list()).toEqual(['192.0.2.1'])
})

it('knows the list of the last run, and a refused one changes nothing', () => {
  const { whitelist, open } = build()
  whitelist.take('192.0.2.0/24\n', 'v1', 1)
  expect(() => whitelist.take('192.0.2.0/24\n', 'v2', 2)).toThrow(/1 of 2/)
  expect(() => whitelist.take('0.0.0.0/0\n', 'v2', 1)).toThrow(/wider/)
  const next = open()
  expect(next.version()).toBe('v1')
  expect(next.covers('192.0.2.200')).toBe(true)
  expect(next.covers('198.51.100.1')).toBe(false)
})

it('tells a configuration that cannot be read once, by the name of the file itself', async () => {
  const { whitelist, place, warnings, spoil } = build()
  whitelist.take('192.0.2.1\n', 'v1', 1)
  spoil("jail.local: option 'failregex' already exists")
  for (let look = 0; look < 5; look++) await whitelist.look(true)
  const sentence = `fail2ban's configuration cannot be read: ${place}/etc/jail.local: option 'failregex' already exists`
  expect(whitelist.held().error).toBe(sentence)
  expect(warnings).toEqual([`whitelist: ${sentence}`])
})
