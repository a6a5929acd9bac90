import { expect, it } from 'vitest'
import { auditFilterOf, exportOf, linkOf, readAuditSearch, turnTo } from './filter.ts'

const now = Date.UTC(2026, 10, 21, 12)
it('reads what is a filter and drops what is none', () => {
  const raw = { q: 'user:anna', action: ' auth. ', from: 'now-24h', to: 'soon', page: '1', open: '17', colour: 'red' }
  expect(readAuditSearch(raw)).toEqual({ q: 'action:auth. user:anna', from: 'now-24h', open: 17 })
  expect(readAuditSearch({ action: "a' or 1=1", q: ' ', page: 'x' })).toEqual({})
})
it('asks the API for the same, relative times counted from now', () => {
  expect(auditFilterOf({ q: 'action:auth.', from: 'now-24h' }, now)).toEqual({
    q: 'action:auth.',
    from: '2026-11-20T12:00:00.000Z',
  })
  expect(auditFilterOf({ to: '2026-11-21T00:00:00Z', pin: '2026-11-20T00:00:00Z' }, now)).toEqual({
    to: '2026-11-20T00:00:00Z',
  })
})
it('pins further pages and lets go on the first', () => {
  const second = turnTo({ q: 'action:auth.' }, 2, '2026-11-21T11:00:00.000Z')
  expect(second).toMatchObject({ page: 2, pin: '2026-11-21T11:00:00.001Z' })
  expect(turnTo(second, 3, '2026-11-21T10:00:00.000Z').pin).toBe('2026-11-21T11:00:00.001Z')
  expect(turnTo(second, 1, undefined)).toMatchObject({ page: undefined, pin: undefined, q: 'action:auth.' })
})
it('makes an address for one entry', () =>
  expect(auditFilterOf(linkOf({ id: 7, timestamp: '2026-11-21T11:00:00.500Z' }), now)).toEqual({
    from: '2026-11-21T11:00:00.500Z',
    to: '2026-11-21T11:00:00.501Z',
  }))
it('exports what the list shows', () =>
  expect(exportOf({ q: 'action:settings.', page: 3 }, now, 'csv')).toBe(
    './api/v1/settings/audit/export?q=action%3Asettings.&format=csv',
  ))
it('exports no more than the chosen time', () =>
  expect(exportOf({ from: 'now-24h', to: '2026-11-21T00:00:00Z' }, now, 'json')).toBe(
    './api/v1/settings/audit/export?from=2026-11-20T00%3A00%3A00.000Z&to=2026-11-21T00%3A00%3A00Z&format=json',
  ))
