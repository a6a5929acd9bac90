import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ConfiguredJail } from '../src/engine/config.ts'
import { samePlaces } from '../src/engine/places.ts'
import { filesOf } from '../src/glob.ts'
import { agentCheck } from '../src/protection/checks/agent.ts'
import { logCheck } from '../src/protection/checks/log.ts'
import { createRejected } from '../src/rejected.ts'

let directory: string
const path = (name: string) => join(directory, name)
const grow = (name: string) => fs.appendFileSync(path(name), 'a line\n')

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-logs-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** The check of a jail that reads these files; a look answers what it warns of. */
const checkOf = (logpath: string, files: readonly string[]) => {
  const jail: ConfiguredJail = {
    name: 'app',
    enabled: true,
    filter: 'app',
    logpath,
    backend: 'polling',
    maxretry: 3,
    bantime: 600,
    findtime: 600,
    banaction: '',
    hasAction: true,
  }
  const check = logCheck({
    engine: {
      jails: () => Promise.resolve(['app']),
      sources: () => Promise.resolve({ files: [...files], journalMatches: null }),
      databaseFile: () => Promise.resolve(null),
    },
    config: { jails: () => Promise.resolve([jail]) },
    places: samePlaces,
    isElsewhere: () => false,
    positions: () => Promise.resolve(new Map()),
    journalJails: { look: () => Promise.resolve([]) },
  })
  return async () =>
    (await check.look())?.flatMap(({ state, detail }) => (state === 'ok' ? [] : [`${state}: ${detail}`]))
}

it('a new log that matches the logpath of a jail and grows is named', async () => {
  grow('a-1.log')
  const look = checkOf(`${path('a-*.log')} tail`, [path('a-1.log')])
  grow('a-20261129.log')
  expect(await look()).toEqual([])
  grow('a-20261129.log')
  expect(await look()).toEqual([])
  grow('a-20261129.log')
  const said = [
    `warning: jail app does not read ${path('a-20261129.log')}, which matches its logpath and grows: fail2ban looks for new logs at a start and at a reload only. Reload the jail.`,
  ]
  expect(await look()).toEqual(said)
  expect(await look()).toEqual(said)
  fs.rmSync(path('a-20261129.log'))
  expect(await look()).toEqual([])
})

it('a log that was renamed, one that is empty, and a folder are no new logs', async () => {
  grow('app.log')
  const look = checkOf(path('app.log*'), [path('app.log')])
  expect(await look()).toEqual([])
  fs.renameSync(path('app.log'), path('app.log.1'))
  fs.writeFileSync(path('app.log'), '')
  fs.writeFileSync(path('app.log.lock'), '')
  fs.mkdirSync(path('app.logs'))
  expect(await look()).toEqual([])
  // The program still holds the old file for a line.
  grow('app.log.1')
  for (let looks = 0; looks < 4; looks++) {
    grow('app.log')
    expect(await look()).toEqual([])
  }
})

it('globs take what a shell takes', () => {
  fs.mkdirSync(path('site-1'))
  fs.mkdirSync(path('site-2'))
  for (const name of ['site-1/access.log', 'site-2/access.log', 'site-2/.access.log', 'access.log']) grow(name)
  const found = (glob: string, most = 10) => filesOf(path(glob), most).map(file => file.slice(directory.length + 1))
  expect(found('site-*/access.log').sort()).toEqual(['site-1/access.log', 'site-2/access.log'])
  expect(found('site-[2-9]/*.log')).toEqual(['site-2/access.log'])
  expect(found('*/nothing.log')).toEqual([])
  expect(found('nowhere/*.log')).toEqual([])
  expect(found('access.lo?')).toEqual(['access.log'])
  expect(found('site-*/access.log', 1)).toHaveLength(1)
})

it('what the server refused for good is a warning for a day, also after a restart', async () => {
  let now = Date.parse('2026-11-28T09:00:00Z')
  const open = () => createRejected(path('rejected.jsonl'), () => now)
  const reports = async (rejected: ReturnType<typeof open>) => {
    const check = agentCheck({ waitingBytes: () => 0, refused: rejected.lately, stateDirectory: directory })
    return (await check.look())?.find(({ subject }) => subject === 'reports')
  }
  const first = open()
  expect(await reports(first)).toMatchObject({ state: 'ok' })
  first.add({}, 'ip is not an address')
  expect(await reports(first)).toMatchObject({
    state: 'warning',
    detail: 'the Stockade server refused a report of this server for good within a day: ip is not an address',
  })
  first.add({}, 'jail is missing')
  fs.appendFileSync(path('rejected.jsonl'), 'half a li')
  const next = open()
  expect(await reports(next)).toMatchObject({ detail: expect.stringContaining('2 reports') })
  now += 25 * 3_600_000
  expect(await reports(next)).toMatchObject({ state: 'ok' })
  next.prune()
  expect(fs.existsSync(path('rejected.jsonl'))).toBe(true)
  now += 7 * 24 * 3_600_000
  next.prune()
  expect(fs.existsSync(path('rejected.jsonl'))).toBe(false)
})
