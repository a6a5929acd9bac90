import { describe, expect, it } from 'vitest'
import { aBan } from '../../api/testing/ban.ts'
import { columnsOf, nextSort, sortedBy } from './columns.ts'
import { attackersQueryOf, bansQueryOf, filterCount, listKey, readBansSearch, turnTo } from './filter.ts'
import { windowOf } from './histogram-window.ts'
import { isReadable, matches } from './matches.ts'

const now = Date.parse('2026-11-20T13:00:00.000Z')
const server = '01934f9e-0000-7000-8000-000000000001'
const ban = aBan({ server: { id: server, hostname: 'web-01' } })

describe('the URL of the list', () => {
  it('is read back as it was', () => {
    const search = {
      by: 'bans',
      server,
      jail: 'sshd',
      ip: '203.0.113.0/24',
      country: 'NL',
      active: 'true',
      from: 'now-24h',
      asn: 'AS64500',
      q: 'jail:sshd -country:NL',
      sort: '-occurrences',
      limit: 100,
      cols: 'jail,score',
      page: 2,
    }
    expect(readBansSearch({ ...search, page: '2', limit: '100', country: 'nl', asn: '64500' })).toEqual(search)
  })
  it.each([
    [{ sort: '-bans' }, { sort: '-bans' }],
    [{ sort: '-last' }, {}],
    [{ sort: '-banned_at', by: 'bans' }, { by: 'bans' }],
    [{ sort: 'ip' }, { by: 'bans', sort: 'ip' }],
    [
      { sort: '-bans', by: 'bans' },
      { by: 'bans', ignored: 'sort' },
    ],
    [{ by: 'attackers' }, {}],
  ])('%j is %j: each view has its own orders', (raw, search) => expect(readBansSearch(raw)).toEqual(search))
  it('asks for attackers in their own orders only', () => {
    expect(attackersQueryOf({ sort: '-servers', page: 2 }, 0)).toEqual({
      page: 2,
      limit: 50,
      sort: 'servers',
      order: 'desc',
    })
    expect(attackersQueryOf({ sort: 'ip', q: 'jail:sshd' }, 0)).toEqual({ page: 1, limit: 50, q: 'jail:sshd' })
    expect(bansQueryOf({ sort: '-servers' }, 0)).toEqual({ page: 1, limit: 50 })
  })
  it('takes the documented name of a server as well', () =>
    expect(readBansSearch({ server_id: server })).toEqual({ server }))
  it('leaves out what is as usual', () =>
    expect(readBansSearch({ to: 'now', sort: '-banned_at', limit: '50', page: '1' })).toEqual({}))
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
    [{ sort: 'log_lines' }],
    [{ limit: '1000' }],
    [{ unheard: 'of' }],
    [{ jail: ['a', 'b'] }],
  ])('leaves out %j, and names it', raw => expect(readBansSearch(raw)).toEqual({ ignored: Object.keys(raw)[0] }))
  it('goes on naming it, at most ten', () => {
    expect(readBansSearch({ ignored: 'a', b: '1', '<c>': '2' })).toEqual({ ignored: 'a,b,c' })
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, '1']))
    expect(readBansSearch(many).ignored?.split(',')).toHaveLength(10)
  })
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
  it('begins today at midnight', () =>
    expect(new Date(bansQueryOf({ from: 'today' }, now).from ?? '').getHours()).toBe(0))
  it('sends search and order', () =>
    expect(bansQueryOf({ q: 'times:>=3', sort: 'ip', limit: 100 }, now)).toEqual({
      page: 1,
      limit: 100,
      sort: 'ip',
      q: 'times:>=3',
    }))
  it.each([
    [{ q: 'jail:' }, false],
    [{ ip: '203.0.113.300' }, false],
    [{ q: 'jail:sshd', ip: '203.0.113.0/24' }, true],
  ])('%j can be asked: %j', (search, is) => expect(isReadable(search)).toBe(is))
  it('is of another list by its filters only', () => {
    expect(listKey({ q: 'a', page: 2, cols: 'jail' })).toBe(listKey({ q: 'a' }))
    expect(listKey({ q: 'a' })).not.toBe(listKey({ q: 'b' }))
  })
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

describe('whether a new ban matches a search', () => {
  const told = { ...ban, asn: 'AS64500', asn_org: 'Example Hosting', log_lines: 'Invalid user bob' }
  it.each([
    ['jail:ssh*', true],
    ['jail:ssh', false],
    ['-jail:sshd', false],
    ['server:web-* country:nl', true],
    ['country:ZZ', false],
    ['asn:64500', true],
    ['org:"example host"', true],
    ['log:"invalid user"', true],
    ['203.0.113.', true],
    ['198.51.100.', false],
    ['nether', true],
    ['state:active', true],
    ['state:expired,unbanned', false],
    ['by:engine', true],
    ['permanent:yes', false],
    ['reported:no', true],
    ['banned:>now-2h', true],
    ['banned:2026-11-19', false],
    ['(jail:x OR jail:sshd) NOT country:DE', true],
    ['times:>=3', null],
    ['times:>=3 jail:x', false],
    ['times:>=3 OR jail:sshd', true],
    ['-score:>80', null],
  ])('%s: %j', (q, is) => expect(matches(told, { q }, now)).toBe(is))
  it('also by what only lists tell', () => {
    expect(matches({ ...told, occurrences: 3, reputation_score: null }, { q: 'times:>=3 -score:>80' }, now)).toBe(true)
  })
})

describe('columns', () => {
  it('are those that are named, in their own order', () =>
    expect([columnsOf('score,jail,nothing'), columnsOf('nothing'), columnsOf(undefined)]).toEqual([
      ['jail', 'score'],
      null,
      null,
    ]))
  it.each([
    ['ip', undefined, 'ip', 'none'],
    ['ip', 'ip', '-ip', 'ascending'],
    ['ip', '-ip', 'ip', 'descending'],
    ['banned', undefined, 'banned_at', 'descending'],
    ['times', undefined, '-occurrences', 'none'],
    ['score', undefined, null, undefined],
  ] as const)('%s, sorted by %s: then by %s', (column, sort, next, is) =>
    expect([nextSort(column, sort), sortedBy(column, sort)]).toEqual([next, is]),
  )
})

describe('the bars above the list', () => {
  it.each([
    [{}, 'month'],
    [{ from: 'now-24h' }, 'day'],
    [{ from: 'now-7d' }, 'week'],
    [{ from: '2026-11-16T00:00:00.000Z' }, 'week'],
    [{ from: 'now-90d' }, null],
    [{ server }, 'month'],
    [{ q: 'jail:sshd' }, null],
    [{ active: 'true' }, null],
  ] as const)('%j: %j', (search, period) => expect(windowOf(search, now)).toBe(period))
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
