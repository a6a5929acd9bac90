import { describe, expect, it } from 'vitest'
import { changesOf, conflictOf, draftOf, emptyDraft, portsByChance, readDraft, slopeOf, typedTime } from './draft.ts'
import type { Draft } from './draft.ts'
import type { Sequence } from './queries.ts'

const web = '01934f9e-0000-7000-8000-000000000001'
const db = '01934f9e-0000-7000-8000-000000000002'
const on = (...ids: string[]): Sequence['servers'] =>
  ids.map(id => ({ id, hostname: `host-${id.at(-1) ?? ''}`, state: 'enforced', error: null }))
const ssh: Sequence = {
  id: 1,
  name: 'ssh',
  protected_port: 22,
  knock_ports: [7000, 9000, 8000],
  protocol: 'tcp',
  timeout: 30,
  knock_timeout: 10,
  max_attempts: 5,
  block_duration: 3600,
  servers: on(web),
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
}
const problemsOf = (change: Partial<Draft>) => readDraft({ ...draftOf(ssh), ...change }).problems

describe('a sequence in a form', () => {
  it('comes back as it went in', () => {
    const { body, problems } = readDraft(draftOf(ssh))
    expect(problems).toEqual({})
    expect(body && changesOf(ssh, body)).toBeNull()
    expect(draftOf(ssh)).toMatchObject({ knocks: '7000 9000 8000', timeout: '30s', knockTimeout: '10s', block: '1h' })
  })

  it('sends only what changed; servers in another order are no change', () => {
    const both = { ...ssh, servers: on(web, db) }
    const change = (more: Partial<Draft>) => {
      const { body } = readDraft({ ...draftOf(both), servers: [db, web], ...more })
      return body && changesOf(both, body)
    }
    expect(change({})).toBeNull()
    expect(change({ timeout: '5m', knocks: '7000, 9000' })).toEqual({ timeout: 300, knock_ports: [7000, 9000] })
    expect(change({ servers: [db] })).toEqual({ server_ids: [db] })
  })

  it('is refused as the server would refuse it', () => {
    expect(problemsOf({ name: ' ', port: '65536' })).toEqual({
      name: 'Enter a name.',
      port: 'Enter a whole number from 1 to 65535.',
    })
    expect(problemsOf({ name: '😀'.repeat(101) }).name).toContain('100')
    expect(problemsOf({ name: '😀'.repeat(100) })).toEqual({})
    expect(problemsOf({ timeout: '2d', knockTimeout: '301', maxAttempts: '101', block: 'perm' })).toEqual({
      timeout: 'Enter a time from 1s to 1d, such as 30s or 5m.',
      knockTimeout: 'Enter a time from 1s to 5m, such as 30s or 5m.',
      maxAttempts: 'Enter a whole number from 1 to 100.',
      block: 'Enter a time from 1s to 1y, such as 30s or 5m.',
    })
  })

  it.each([
    ['7000', 'Enter at least two ports.'],
    ['', 'Enter at least two ports.'],
    [Array.from({ length: 11 }, (_, index) => 7000 + index).join(' '), 'Enter at most ten ports.'],
    ['7000 7000 8000', '7000 follows itself.'],
    ['7000 22', '22 is the protected port'],
    ['7000 0', '0 is not a port.'],
    ['7000 70000', '70000 is not a port.'],
    ['7000-9000', '7000-9000 is not a port.'],
    ['7000 8e3', '8e3 is not a port.'],
  ])('knocks %j: %s', (knocks, problem) => {
    expect(problemsOf({ knocks }).knocks).toContain(problem)
  })

  it('takes the ports however they are separated', () => {
    for (const knocks of ['7000 9000 7000', '7000,9000, 7000', '7000 -> 9000→7000', ' 7000\t9000 ;7000 '])
      expect(readDraft({ ...draftOf(ssh), knocks }).body?.knock_ports).toEqual([7000, 9000, 7000])
  })
})

it('knows what a port scan walks through', () => {
  expect(slopeOf([1, 2, 3])).toBe('rising')
  expect(slopeOf([3, 2])).toBe('falling')
  expect(slopeOf([1, 3, 2])).toBeNull()
  expect(slopeOf([1])).toBeNull()
})

it('ports by chance are good ones, and others each time', () => {
  const made = Array.from({ length: 50 }, () => portsByChance([22]))
  for (const ports of made) {
    expect(readDraft({ ...emptyDraft(), name: 'x', port: '22', knocks: ports.join(' ') }).problems).toEqual({})
    expect(slopeOf(ports)).toBeNull()
  }
  expect(new Set(made.map(String)).size).toBeGreaterThan(45)
})

it('times are typed by their largest whole unit', () => {
  expect([30, 90, 300, 7200, 172_800].map(typedTime)).toEqual(['30s', '90s', '5m', '2h', '2d'])
})

describe('a refusal for another sequence stands beside the field that it is about', () => {
  const body = (change: Partial<Draft>) => {
    const read = readDraft({ ...draftOf(ssh), name: 'new', port: '443', knocks: '7101 7103 7102', ...change })
    if (!read.body) throw new Error(JSON.stringify(read.problems))
    return read.body
  }
  const said = 'The sequence "ssh" is in the way (on web-01). Choose other ports or other servers.'
  it.each<[string, Partial<Draft>, string | null]>([
    ['the same name', { name: 'SSH', servers: [db] }, 'name'],
    ['the same port', { port: '22' }, 'port'],
    ['its knock protected', { port: '9000' }, 'port'],
    ['its port knocked at', { knocks: '7101 22 7102' }, 'knocks'],
    ['a shared knock', { knocks: '7101 9000 7102' }, 'knocks'],
    ['a shared knock of the other protocol', { knocks: '7101 9000 7102', protocol: 'udp' }, null],
    ['a shared knock on another host', { knocks: '7101 9000 7102', servers: [db] }, null],
  ])('%s', (_, change, field) => {
    expect(conflictOf(body(change), [ssh], said)).toBe(field)
  })
  it('of one that it does not name nothing is known', () => {
    expect(conflictOf(body({ port: '22' }), [{ ...ssh, name: 'other' }], said)).toBeNull()
  })
})
