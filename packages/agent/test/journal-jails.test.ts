import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createJournalJails, missingUnits } from '../src/protection/journal/journal-jails.ts'

let directory: string
let now: number
let reading: { newest: number | null; position: number | null; error: string | null }
let version: string

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-journal-'))
  now = 1_800_000_000_000
  reading = { newest: null, position: null, error: null }
  version = '1.0.2'
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const build = () =>
  createJournalJails({
    engine: {
      databaseFile: () => Promise.resolve(null),
      connectedFor: () => now - 1_799_999_999_000,
      version: () => version,
    },
    // The files of a journal elsewhere, so that this machine's journald does not matter.
    config: { jails: () => Promise.resolve([jail]) },
    python: { command: [], run: () => Promise.resolve(JSON.stringify({ door: reading })) },
    program: '',
    now: () => now,
  })

const jail = {
  name: 'door',
  enabled: true,
  filter: 'door',
  logpath: '',
  banaction: '',
  hasAction: true,
  backend: 'systemd[journalpath="/nowhere", journalflags=1]',
  maxretry: 3,
  bantime: 600,
  findtime: 600,
}
const matches = new Map([['door', [['_COMM=door']]]])
const seconds = (): number => now / 1000

it('names a jail whose position stands still behind an entry, and no longer when it reads on', async () => {
  const { look } = build()
  const states = async (): Promise<string[]> => (await look(matches)).map(({ state }) => state)
  reading = { newest: seconds() - 5, position: seconds() - 5, error: null }
  expect(await states()).toEqual(['ok'])
  now += 15_000
  reading = { ...reading, newest: seconds() - 3 }
  expect(await states()).toEqual(['ok'])
  now += 15_000
  expect(await states()).toEqual(['bad'])
  // More arrives, but it has read the one that was missing.
  reading = { newest: seconds(), position: seconds() - 18, error: null }
  expect(await states()).toEqual(['ok'])
})

it('does not count what was written before fail2ban or the jail began: it passes over old entries', async () => {
  const { look } = build()
  reading = { newest: seconds() - 3600, position: seconds() - 7200, error: null }
  for (let turn = 0; turn < 4; turn += 1) {
    expect(await look(matches)).toMatchObject([{ state: 'ok' }])
    now += 15_000
  }
})

it('counts an entry when nothing was ever read, but not with a fail2ban that notes no positions', async () => {
  for (const [of, expected] of [
    ['1.1.0', 'bad'],
    ['0.11.2', 'ok'],
  ] as const) {
    version = of
    const { look } = build()
    reading = { newest: null, position: null, error: null }
    await look(matches)
    now += 15_000
    reading = { newest: seconds() - 3, position: null, error: null }
    await look(matches)
    now += 15_000
    expect(await look(matches)).toMatchObject([{ state: expected }])
  }
})

it('says why the journal cannot be read', async () => {
  reading = { newest: null, position: null, error: 'no module systemd' }
  expect(await build().look(matches)).toMatchObject([
    { state: 'unknown', detail: expect.stringContaining('no module systemd') as string },
  ])
})

it('names units only when the jail wants nothing else and none of them is there', () => {
  const isThere = (unit: string): boolean => unit === 'ssh.service'
  const of = (...wanted: string[][]) => missingUnits(wanted, isThere)
  expect(of(['_SYSTEMD_UNIT=door.service'], ['_SYSTEMD_UNIT=gate.service'])).toBe('door.service, gate.service')
  expect(of(['_SYSTEMD_UNIT=door.service'], ['_SYSTEMD_UNIT=ssh.service'])).toBeNull()
  expect(of(['_SYSTEMD_UNIT=door.service'], ['_COMM=door'])).toBeNull()
  expect(of()).toBeNull()
})
