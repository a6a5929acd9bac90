import { expect, test } from 'vitest'
import { routesWith, ticksOf } from './route-table.ts'

const special = {
  severities: [],
  rules: ['server-silent'],
  hours: null,
  channels: ['2'],
  target: { all: true as const },
}

test('ticks become plain routes, and special routes stay', () => {
  const one = routesWith([special], '1', 'critical', true)
  expect(one).toEqual([
    { severities: ['critical'], rules: [], hours: null, channels: ['1'], target: { all: true } },
    special,
  ])
  const all = ['warning', 'info'] as const
  const full = all.reduce((routes, severity) => routesWith(routes as never, '1', severity, true), one)
  // All severities, and those that may come.
  expect(full[0]).toMatchObject({ severities: [], channels: ['1'] })
  expect([...(ticksOf(full as never).get('1') ?? [])].sort()).toEqual(['critical', 'info', 'warning'])
  expect(routesWith(one as never, '1', 'critical', false)).toEqual([special])
})
