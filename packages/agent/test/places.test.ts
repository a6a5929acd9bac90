import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { saveIdentity } from '../src/config.ts'
import { createPlaces, hasShare, readEngineSettings, readPlaces } from '../src/engine/places.ts'
import type { Places } from '../src/engine/places.ts'
import { databaseCheck } from '../src/protection/checks/database.ts'
import { logCheck } from '../src/protection/checks/log.ts'

let directory: string
let places: Places
const path = (name: string) => join(directory, name)

beforeEach(() => {
  directory = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'stockade-places-')))
  for (const name of ['data', 'data/db', 'logs', 'share', 'secret']) fs.mkdirSync(path(name))
  for (const name of ['data/db/f2b.sqlite3', 'logs/app.log', 'secret/key']) fs.writeFileSync(path(name), 'a line\n')
  places = createPlaces({
    map: [
      { inside: '/data', outside: path('data') },
      { inside: '/data/logs', outside: path('logs') },
    ],
    share: { inside: '/run/share', outside: path('share') },
  })
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

it('a path is followed through the deepest folder that holds it, in both directions', () => {
  expect(places.outside('/data/db/f2b.sqlite3')).toBe(path('data/db/f2b.sqlite3'))
  expect(places.outside('/data/logs/app.log')).toBe(path('logs/app.log'))
  expect(places.outside('/var/run/share/events.jsonl')).toBe(path('share/events.jsonl'))
  expect(places.outside('/data')).toBe(path('data'))
  expect(places.inside(path('share/action.py'))).toBe('/run/share/action.py')
  expect(places.inside(path('data/jail.d/x.local'))).toBe('/data/jail.d/x.local')
})

it('what is not mapped lies in the container, and /dev/null is the same everywhere', () => {
  for (const name of [
    '/var/log/auth.log',
    '/database/x',
    '/',
    'data/x',
    '',
    'SYSOUT',
    `/data/${'x'.repeat(5000)}`,
    '/data/\0',
  ])
    expect(places.outside(name), name).toBeNull()
  expect(places.inside('/etc/shadow')).toBeNull()
  expect(places.outside('/dev/null')).toBe('/dev/null')
})

it('a path that climbs or a link that leads out of the folder reaches nothing', () => {
  fs.symlinkSync(path('secret'), path('data/out'))
  fs.symlinkSync(path('secret/none'), path('data/dangling'))
  fs.symlinkSync('db/f2b.sqlite3', path('data/within'))
  const climbing = ['/data/../secret/key', '/data/../../etc/shadow', '/data/db/../../secret/key']
  for (const name of [...climbing, '/data/out/key', '/data/out/new', '/data/dangling'])
    expect(places.outside(name), name).toBeNull()
  expect(places.outside('/data/within')).toBe(path('data/within'))
})

it('a shared folder within another one is left when the container puts a link in its place', () => {
  fs.mkdirSync(path('data/stockade'))
  const nested = createPlaces({
    map: [{ inside: '/data', outside: path('data') }],
    share: { inside: '/data/stockade', outside: path('data/stockade') },
  })
  expect(hasShare(nested)).toBe(true)
  expect(nested.outside('/data/stockade/events.jsonl')).toBe(path('data/stockade/events.jsonl'))
  fs.rmSync(path('data/stockade'), { recursive: true })
  fs.symlinkSync(path('secret'), path('data/stockade'))
  expect(hasShare(nested)).toBe(false)
  expect(nested.outside('/data/stockade/key')).toBeNull()
})

const settle = (engine: unknown) => fs.writeFileSync(path('agent.json'), JSON.stringify({ engine }))

it('agent.json without engine changes nothing, and a damaged one is refused in words', () => {
  expect(readPlaces(directory).isMapped).toBe(false)
  settle(undefined)
  expect(readPlaces(directory).outside('/any/path')).toBe('/any/path')
  const folder = { inside: '/data', outside: '/srv/data' }
  settle({ socket: '/srv/run/fail2ban.sock', map: [folder] })
  expect(readEngineSettings(directory)).toEqual({
    ...{ socket: '/srv/run/fail2ban.sock', config: null, map: [folder], share: null },
  })
  for (const engine of ['x', [], { maps: [] }, { map: {} }, { map: [{ inside: '/data' }] }, { socket: 'run/x' }]) {
    settle(engine)
    expect(() => readPlaces(directory), JSON.stringify(engine)).toThrow(/agent\.json: engine/)
  }
  settle({ map: Array(51).fill(folder) })
  expect(() => readPlaces(directory)).toThrow('more than 50 folders')
  settle({ map: [{ inside: '/', outside: '/' }] })
  expect(() => readPlaces(directory)).toThrow('engine.map[0].inside is not the absolute path')
})

it('enrolling again keeps what the administrator wrote of fail2ban', () => {
  settle({ share: { inside: '/data', outside: '/srv/data' } })
  saveIdentity(directory, {
    ...{ base_url: 'https://stockade.example', server_id: 'a', api_key: 'b', agent_id: 'c', ca: null, pins: [] },
    ...{ proxy: null, insecure_http: false, backfill: false, unsigned: false },
  })
  expect(readPlaces(directory).share).toEqual({ inside: '/data', outside: '/srv/data' })
})

it('a log and a database in the container are unknown, and never called absent', async () => {
  const files = ['/var/log/auth.log', '/data/logs/app.log', '/data/logs/gone.log']
  const check = logCheck({
    engine: {
      jails: () => Promise.resolve(['app']),
      sources: () => Promise.resolve({ files, journalMatches: null }),
      databaseFile: () => Promise.resolve(null),
    },
    config: { jails: () => Promise.resolve([]) },
    places,
    isElsewhere: () => false,
    positions: () => Promise.resolve(new Map()),
    journalJails: { look: () => Promise.resolve([]) },
  })
  const [hidden, there, gone] = (await check.look()) ?? []
  expect(hidden).toEqual({
    subject: 'app: /var/log/auth.log',
    state: 'unknown',
    detail: "the log /var/log/auth.log of jail app lies in the container of fail2ban, out of the agent's reach",
  })
  expect(there?.state).toBe('ok')
  expect(gone?.detail).toContain('/data/logs/gone.log')
  expect(gone?.detail).toContain('does not exist')

  const database = databaseCheck({
    engine: { databaseFile: () => Promise.resolve(null), databaseName: () => Promise.resolve('/lib/f2b.sqlite3') },
    positions: () => Promise.resolve(new Map()),
    isElsewhere: () => false,
  })
  expect(await database.look()).toEqual([
    {
      ...{ subject: null, state: 'unknown' },
      detail: "fail2ban's database /lib/f2b.sqlite3 lies in the container of fail2ban, out of the agent's reach",
    },
  ])
})
