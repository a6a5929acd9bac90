import type { AlertKind } from '@stockade/contract'
import { describe, expect, test } from 'vitest'
import { coverOf } from './covering.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Finding } from './kinds.ts'
import type { Rule } from './rules.ts'
import { advance, restarted } from './state.ts'
import type { AlertState, Terms } from './state.ts'
import { tellFiring, tellResolved } from './telling.ts'
import type { Outbound } from './telling.ts'

/* Days of alerts, played through in memory: what is told, and how often. */

const start = Date.UTC(2026, 10, 23, 12)
const terms: Terms = { rule: 'server-silent', kind: 'server-silent', severity: 'critical', for: 30_000, isEvent: false }
const rule: Rule = {
  id: 'server-silent',
  row: null,
  isBuiltin: true,
  name: 'Server silent',
  kind: 'server-silent',
  severity: 'critical',
  targets: 'all',
  for: 30_000,
  isOn: true,
  recovery: true,
  quiet: null,
  conditions: {},
}
const findingOf = (no: number): Finding => ({
  subject: `host-${no}`,
  serverNo: no,
  title: `host-${no} is silent`,
  detail: '',
})
const routes = [{ severities: [], rules: [], hours: null, channels: ['1'], target: 'all' }]

/** Looks every two seconds, and collects what is told. `isSilent` says which hosts are silent at a second. */
const play = (
  seconds: number,
  isSilent: (no: number, second: number) => boolean,
  more: { hosts?: number; rule?: Rule; silences?: { rule: string | null; targets: 'all' }[] } = {},
) => {
  const { hosts = 1, rule: own = rule, silences = [] } = more
  let states: AlertState[] = []
  const told: (Outbound & { at: number })[] = []
  for (let second = 0; second <= seconds; second += 2) {
    const now = start + second * 1000
    const bySubject = new Map(states.map(state => [state.subject, state]))
    states = Array.from({ length: hosts }, (_, index) => {
      const finding = isSilent(index + 1, second) ? findingOf(index + 1) : undefined
      return advance(bySubject.get(`host-${index + 1}`), finding, { ...terms, for: own.for }, now)
    }).filter(state => state !== null)
    const context = { now, hour: 12, routes, silences, targeting: { concerns: () => true } }
    for (const tell of [tellFiring(own, states, states, context), tellResolved(own, states, context)]) {
      told.push(...tell.messages.map(message => ({ ...message, at: second })))
      states = states.map(state => tell.changed.get(state) ?? state)
    }
  }
  return { states, told, titles: told.map(({ message }) => message.title) }
}

describe('what is told', () => {
  test('one server: once after its grace, and once when it is over', () => {
    const { titles, told } = play(600, (_, second) => second >= 10 && second < 200)
    expect(titles).toEqual(['host-1 is silent', 'Over: host-1 is silent'])
    expect(told[0]?.at).toBeLessThanOrEqual(10 + 30 + 16)
    expect(told[0]?.message.alert?.key).toBe(told[1]?.message.alert?.key)
    expect(told[1]?.message.alert?.status).toBe('resolved')
  })
  test('a gap that is shorter than the grace is not told', () => {
    expect(play(600, (_, second) => second % 240 < 20).titles).toEqual([])
  })
  test('a thousand servers that are lost within a second are one message, and so is their return', () => {
    const { titles, told } = play(400, (_, second) => second >= 10 && second < 200, { hosts: 1000 })
    expect(titles).toEqual(['Server silent: 1000', 'Over: Server silent: 1000'])
    expect(told[0]?.message.tables[0]).toMatchObject({ total: 1000 })
    expect(told[0]?.message.tables[0]?.rows).toHaveLength(25)
  })
  test('what comes and goes every ten seconds is told once, as that', () => {
    const day = 24 * 3600
    for (const grace of [0, 30_000]) {
      const { titles, states } = play(day, (_, second) => second % 20 < 10, { rule: { ...rule, for: grace } })
      expect(titles.filter(title => title.includes('comes and goes'))).toHaveLength(1)
      expect(titles.length).toBeLessThanOrEqual(grace === 0 ? 2 : 1)
      expect(states).toMatchObject([{ state: 'firing', flapping: 1 }])
    }
    const ended = play(3600, (_, second) => second < 600 && second % 20 < 10)
    expect(ended.titles.at(-1)).toMatch(/^Over: /)
    expect(ended.titles).toHaveLength(2)
  })
  test('a server after the other for an hour is a handful of messages', () => {
    const { titles } = play(3600, (no, second) => second >= no * 30, { hosts: 100 })
    expect(titles.length).toBeLessThanOrEqual(20)
    const counted = titles.reduce((sum, title) => sum + Number(/: (\d+)$/.exec(title)?.[1] ?? 1), 0)
    expect(counted).toBeGreaterThan(70)
  })
  test('silences and quiet hours hold it back; what still fires afterwards is told', () => {
    expect(play(300, () => true, { silences: [{ rule: null, targets: 'all' }] }).titles).toEqual([])
    expect(play(300, () => true, { silences: [{ rule: 'another-rule', targets: 'all' }] }).titles).toHaveLength(1)
    expect(play(300, () => true, { rule: { ...rule, quiet: { from: 22, to: 13 } } }).titles).toEqual([])
    expect(play(300, () => true, { rule: { ...rule, quiet: { from: 22, to: 12 } } }).titles).toHaveLength(1)
  })
})

test('after a jump of the clock the grace begins again, and nothing fires at once', () => {
  const pending = advance(undefined, findingOf(1), terms, start)
  if (!pending) throw new Error('nothing began')
  const later = start + 3_600_000
  const again = restarted(pending, later)
  expect(advance(again, findingOf(1), terms, later)).toMatchObject({ state: 'pending', since: later })
  expect(advance(again, findingOf(1), terms, later + 40_000, false)).toMatchObject({ state: 'pending' })
  expect(advance(again, findingOf(1), terms, later + 40_000, true)).toMatchObject({ state: 'firing' })
  // Back in time: no begin lies in the future.
  expect(restarted(pending, start - 86_400_000).since).toBeLessThan(start)
})

test('an event is shown for ten minutes, and seen once however many processes hear of it', () => {
  const event = { ...terms, isEvent: true, for: 0 }
  const finding = { ...findingOf(1), at: start }
  const fired = advance(undefined, finding, event, start)
  expect(fired).toMatchObject({ state: 'firing' })
  if (!fired) throw new Error('nothing fired')
  const shown = advance(fired, undefined, event, start + 2000)
  expect(shown).toMatchObject({ state: 'firing' })
  const over = advance(shown ?? undefined, undefined, event, start + 700_000)
  expect(over).toMatchObject({ state: 'resolved' })
  expect(advance(over ?? undefined, finding, event, start + 701_000)).toMatchObject({ state: 'resolved' })
  expect(advance(over ?? undefined, { ...finding, at: start + 700_500 }, event, start + 701_000)).toMatchObject({
    state: 'firing',
    told_at: null,
  })
})

test('an event fires also soon after the clock was set: nothing finds it a second time', () => {
  const finding = { ...findingOf(1), at: start }
  expect(advance(undefined, finding, { ...terms, isEvent: true, for: 0 }, start, false)).toMatchObject({
    state: 'firing',
  })
})

test('a channel that heard of an alert before it was told is not told again, and hears of its end', () => {
  const fired = advance(undefined, findingOf(1), { ...terms, for: 0 }, start)
  if (!fired) throw new Error('nothing fired')
  const context = { now: start + 20_000, hour: 12, routes, silences: [], targeting: { concerns: () => true } }
  const heard = { ...fired, told_channels: jsonText(['1']) }
  const first = tellFiring(rule, [heard], [heard], context)
  expect(first.messages).toEqual([])
  const sentState = first.changed.get(heard)
  if (!sentState) throw new Error('it was not told')
  const over = { ...sentState, state: 'resolved' as const, resolved_at: start + 90_000 }
  expect(tellResolved(rule, [over], context).messages).toMatchObject([
    { channels: ['1'], message: { title: 'Over: host-1 is silent', text: 'It lasted 2 min.' } },
  ])
  const both = { ...context, routes: [...routes, { ...routes[0], channels: ['chat'] }] as typeof routes }
  expect(tellFiring(rule, [heard], [heard], both).messages).toMatchObject([{ channels: ['chat'] }])
})

test('a graver alert of the same server covers what says the same, as long as both hold, and when both are over', () => {
  const of = (kind: AlertKind, no: number, more: object = {}) => ({
    ...{ rule: kind, kind, server_no: no, state: 'firing' as const },
    ...{ since: start, fired_at: start + 30_000, absent_since: null, resolved_at: null, ...more },
  })
  const grave = of('server-unprotected', 1)
  const engine = of('engine-down', 1)
  expect(coverOf(engine, [grave, engine])).toBe(grave)
  expect(coverOf(grave, [grave, engine])).toBeUndefined()
  expect(coverOf(of('engine-down', 2), [grave])).toBeUndefined()
  expect(coverOf(of('whitelist-drift', 1), [grave])).toBeUndefined()
  // What fires is not covered by what does not, nor by what is over.
  const pending = of('server-unprotected', 1, { state: 'pending', fired_at: null })
  expect(coverOf(engine, [pending])).toBeUndefined()
  expect(coverOf({ ...engine, state: 'pending', fired_at: null }, [pending])).toBe(pending)
  const over = { ...grave, state: 'resolved' as const, resolved_at: start + 60_000 }
  expect(coverOf(engine, [over])).toBeUndefined()
  // Both end, one a look after the other.
  expect(coverOf({ ...engine, absent_since: start + 59_000 }, [over])).toBe(over)
  expect(coverOf({ ...engine, state: 'resolved', resolved_at: start + 62_000 }, [over])).toBe(over)
  const later = { since: start + 90_000, fired_at: start + 120_000, resolved_at: start + 150_000 }
  expect(coverOf({ ...engine, state: 'resolved', ...later }, [over])).toBeUndefined()
})
