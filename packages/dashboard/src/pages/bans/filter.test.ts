import { describe, expect, it } from 'vitest'
import type { Ban } from '../../api/queries.ts'
import { bansQueryOf, filterCount, matches, readBansSearch, turnTo } from './filter.ts'

const now = Date.parse('2026-11-20T13:00:00.000Z')
const server = '01934f9e-0000-7000-8000-000000000001'
const ban: Ban = {
  id: 1,
  ip: '203.0.113.7',
  jail: 'sshd',
  server: { id: server, hostname: 'web-01' },
  country: 'NL',
  country_name: 'Netherlands',
  city: null,
  latitude: null,
  longitude: null,
  asn: null,
  asn_org: null,
  log_lines: '',
  banned_at: '2026-11-20T12:00:00.000Z',
  ban_duration: 600,
  expires_at: null,
  reported_to_reputation_db: false,
  unbanned_at: null,
  active: true,
  banned_by: 'engine',
  event_id: null,
  whitelisted: false,
}

describe('the URL of the list', () => {
  it('is read back as it was', () => {
    const search = {
      server,
      jail: 'sshd',
      ip: '203.0.113.0/24',
      country: 'NL',
      active: 'true',
      from: 'now-24h',
      page: 2,
    }
    expect(readBansSearch({ ...search, page: '2', country: 'nl' })).toEqual(search)
  })
  it.each([
    [{ server: 'x' }],
    [{ jail: '../x' }],
    [{ country: 'NLD' }],
    [{ active: 'yes' }],
    [{ from: 'yesterday' }],
    [{ to: '2026-99-99T00:00:00Z' }],
    [{ page: '0' }],
    [{ page: '1.5' }],
    [{ page: '-3' }],
    [{ unheard: 'of' }],
    [{ jail: ['a', 'b'] }],
  ])('leaves out %j', raw => expect(readBansSearch(raw)).toEqual({}))
  it('keeps a wrong address, so that the page can say what is wrong', () =>
    expect(readBansSearch({ ip: '203.0.113.300' })).toEqual({ ip: '203.0.113.300' }))
})

describe('the query', () => {
  it('without filters is the newest page', () => expect(bansQueryOf({}, now)).toEqual({ page: 1, limit: 50 }))
  it('counts a relative range back from now', () =>
    expect(bansQueryOf({ from: 'now-24h' }, now).from).toBe('2026-11-19T13:00:00.000Z'))
  it('counts a pinned one back from its end, so that pages fit together', () =>
    expect(bansQueryOf({ from: 'now-7d', to: '2026-11-20T12:00:00.000Z', page: 2 }, now)).toMatchObject({
      from: '2026-11-13T12:00:00.000Z',
      to: '2026-11-20T12:00:00.000Z',
      page: 2,
    }))
  it('sends a boolean', () => expect(bansQueryOf({ active: 'false' }, now).active).toBe(false))
})

describe('whether a new ban belongs into the list', () => {
  it.each([
    [{}, true],
    [{ server }, true],
    [{ server: '01934f9e-0000-7000-8000-000000000002' }, false],
    [{ jail: 'sshd' }, true],
    [{ jail: 'nginx' }, false],
    [{ ip: '203.0.113.0/24' }, true],
    [{ ip: '198.51.100.0/24' }, false],
    [{ country: 'NL' }, true],
    [{ country: 'DE' }, false],
    [{ active: 'true' }, true],
    [{ active: 'false' }, false],
    [{ from: 'now-24h' }, true],
    [{ from: 'now-1h' }, true],
    [{ from: '2026-11-20T12:30:00.000Z' }, false],
    [{ to: '2026-11-20T12:00:00.000Z' }, false],
  ] as const)('%j: %j', (search, is) => expect(matches(ban, search, now)).toBe(is))
})

describe('turning the page', () => {
  it('pins further pages to what was newest', () =>
    expect(turnTo({ jail: 'sshd' }, 2, '2026-11-20T12:00:00.000Z')).toEqual({
      jail: 'sshd',
      page: 2,
      to: '2026-11-20T12:00:00.001Z',
    }))
  it('keeps the pin', () =>
    expect(turnTo({ to: '2026-11-01T00:00:00.000Z', page: 2 }, 3, '2026-11-20T12:00:00.000Z')).toEqual({
      to: '2026-11-01T00:00:00.000Z',
      page: 3,
    }))
  it('needs no pin for the first page', () =>
    expect(turnTo({}, 1, '2026-11-20T12:00:00.000Z')).toEqual({ page: undefined, to: undefined }))
})

it('counts filters without page and pin', () =>
  expect(filterCount({ jail: 'sshd', from: 'now-24h', page: 2, to: '2026-11-20T12:00:00.000Z' })).toBe(2))
