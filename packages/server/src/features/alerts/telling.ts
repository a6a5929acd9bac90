import type { AlertSeverity } from '@stockade/contract'
import { minute, second } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { Message } from '../../db/tables/message.ts'
import { oneLine } from '../channels/message.ts'
import { coverOf } from './covering.ts'
import type { Rule } from './rules.ts'
import { isWithin } from './rules.ts'
import { channelsFor, isSilenced } from './routing.ts'
import type { Silence } from './routing.ts'
import type { AlertState } from './state.ts'
import type { Targeting } from '../servers/targets.ts'
import type { StoredRoute } from '../../db/tables/stored.ts'

/* What of the alerts is told now, and how much of it is one message. */

/** The first alert of a rule waits for others of the same rule for so long: a fleet that is lost at once is one message. */
const waitFor = 15 * second
/** A rule sends at most this many messages in the period; later ones wait for the next period. */
const burst = { messages: 3, within: 10 * minute } as const
/** Of these, so many say of one server only: the rest stays for other servers. */
const burstOfServer = 2
/** Lines that one message lists. */
const mostListed = 25

export interface Outbound {
  readonly channels: readonly string[]
  readonly message: Message
}
export interface TellingContext {
  readonly now: number
  /** Of the wall clock, in the time zone of the settings. */
  readonly hour: number
  readonly routes: readonly StoredRoute[]
  readonly silences: readonly Silence[]
  readonly targeting: Pick<Targeting, 'concerns'>
}

const levels: Readonly<Record<AlertSeverity, Message['level']>> = {
  info: 'info',
  warning: 'warning',
  critical: 'error',
}

/** One alert of each server, then the second of each: alerts of one server push none of another out of a message. */
const inTurn = (states: readonly AlertState[]): readonly AlertState[] => {
  const groups = [...Map.groupBy(states, ({ server_no }) => server_no).values()]
  return groups
    .flatMap(group => group.map((state, place) => ({ state, place })))
    .sort((a, b) => a.place - b.place)
    .map(({ state }) => state)
}

/** How long an alert lasted that is over. */
const lengthOf = ({ since, resolved_at }: AlertState): string => {
  const minutes = Math.max(1, Math.ceil(((resolved_at ?? since) - since) / minute))
  return `It lasted ${minutes > 90 ? `${Math.round(minutes / 60)} h` : `${minutes} min`}.`
}

/** The title, and what is said of one alert or of many. */
const wordsOf = (
  rule: Rule,
  states: readonly AlertState[],
  isOver: boolean,
): Pick<Message, 'title' | 'text' | 'tables'> => {
  const [first] = states
  const over = isOver ? 'Over: ' : ''
  if (first && states.length === 1) {
    const flaps = first.flapping === 1 && !isOver ? ' (comes and goes)' : ''
    const text = isOver ? lengthOf(first) : first.detail
    return { title: oneLine(`${over}${first.title}${flaps}`), text, tables: [] }
  }
  const rows = inTurn(states)
    .slice(0, mostListed)
    .map(({ title, detail }) => [title, oneLine(detail, 120)])
  return {
    title: oneLine(`${over}${rule.name}: ${states.length}`),
    text: '',
    tables: [{ title: '', columns: ['Alert', 'Details'], rows, total: states.length }],
  }
}

/** The subject of an alert of a server's own is its id. A jail, which is the subject of some others, may have any name. */
const serverId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Of one alert of a server, its page. */
const pageOf = ([first, ...more]: readonly AlertState[]): Pick<Message, 'path' | 'label'> =>
  first && more.length === 0 && first.server_no !== null && serverId.test(first.subject)
    ? { path: `/servers/${first.subject}`, label: 'Show the server' }
    : { path: '/alerts', label: 'Show the alerts' }

const messageOf = (
  rule: Rule,
  states: readonly AlertState[],
  status: 'firing' | 'resolved',
  key: string,
  now: number,
): Message => {
  const isCritical = states.some(state => state.severity === 'critical')
  const severity = isCritical ? 'critical' : (states[0]?.severity ?? rule.severity)
  return {
    category: 'alert',
    level: status === 'resolved' ? 'info' : levels[severity],
    ...wordsOf(rule, states, status === 'resolved'),
    facts: [],
    ...pageOf(states),
    at: now,
    alert: { status, severity, rule: rule.id, key },
  }
}

const isHeld = (rule: Rule, waiting: readonly AlertState[], own: readonly AlertState[], now: number): boolean => {
  const oldest = Math.min(...waiting.map(({ fired_at }) => fired_at ?? now))
  const recentStates = own.filter(
    ({ told_key, told_at }) => told_key && told_at !== null && told_at > now - burst.within,
  )
  const serversByKey = [...Map.groupBy(recentStates, ({ told_key }) => told_key).values()].map(
    states => new Set(states.map(({ server_no }) => server_no)),
  )
  const hasCrowded = ({ server_no }: AlertState) =>
    server_no !== null &&
    serversByKey.filter(servers => servers.size === 1 && servers.has(server_no)).length >= burstOfServer
  return now - oldest < waitFor || serversByKey.length >= burst.messages || waiting.every(hasCrowded)
}

/** One message for each channel, of what goes there. */
const perChannel = (
  rule: Rule,
  states: readonly AlertState[],
  channelsOf: (state: AlertState) => readonly string[],
  [status, key, now]: readonly ['firing' | 'resolved', string, number],
): Outbound[] => {
  const byChannel = new Map<string, AlertState[]>()
  for (const state of states)
    for (const channel of channelsOf(state)) byChannel.set(channel, [...(byChannel.get(channel) ?? []), state])
  // Channels that get the same share one message.
  const messages = new Map<string, Outbound>()
  for (const [channel, of] of byChannel) {
    const id = of.map(({ subject }) => subject).join(' ')
    const message = messages.get(id)?.message ?? messageOf(rule, of, status, key, now)
    messages.set(id, { channels: [...(messages.get(id)?.channels ?? []), channel], message })
  }
  return [...messages.values()]
}

const listOf = (text: AlertState['told_channels']): readonly string[] => (text === null ? [] : parseJson(text))
/** Channels that heard of an alert before it was told: an upgrade finds them. One that comes and goes is told again everywhere. */
const earlierChannels = ({ flapping, told_channels }: AlertState): readonly string[] =>
  flapping === 1 ? [] : listOf(told_channels)

/** Tells of what fires and was not told. Answers the states as they are afterwards, where they change. */
export const tellFiring = (
  rule: Rule,
  own: readonly AlertState[],
  all: readonly AlertState[],
  context: TellingContext,
) => {
  const { now, hour, routes, silences, targeting } = context
  const isQuiet = rule.quiet !== null && isWithin(rule.quiet, hour)
  const untold = own.filter(
    state =>
      state.state === 'firing' &&
      state.told_at === null &&
      state.acked_at === null &&
      !isSilenced(silences, state, targeting),
  )
  const changed = new Map<AlertState, AlertState>()
  if (untold.length === 0 || isQuiet || isHeld(rule, untold, own, now)) return { changed, messages: [] }
  const [first] = untold
  // What is told once more, as coming and going, is the same incident for a service that joins them.
  const key = (untold.length === 1 && first?.told_key) || `stockade-${rule.id}-${now}`
  const channelsOf = new Map(
    untold.map(state => {
      const earlier = earlierChannels(state)
      const channels = coverOf(state, all) ? [] : channelsFor(routes, state, hour, targeting)
      return [state, channels.filter(channel => !earlier.includes(channel))]
    }),
  )
  for (const [state, channels] of channelsOf) {
    const earlier = earlierChannels(state)
    changed.set(state, {
      ...state,
      told_at: now,
      told_key: earlier.length > 0 ? (state.told_key ?? key) : channels.length > 0 ? key : null,
      told_channels: jsonText([...earlier, ...channels].sort()),
      recovered_on: jsonText([]),
    })
  }
  return {
    changed,
    messages: perChannel(rule, untold, state => channelsOf.get(state) ?? [], ['firing', key, now]),
  }
}

/** Tells a channel of what is over, once all alerts of the message that told it of them are. */
export const tellResolved = (rule: Rule, own: readonly AlertState[], { now }: Pick<TellingContext, 'now'>) => {
  const changed = new Map<AlertState, AlertState>()
  const messages: Outbound[] = []
  const byKey = Map.groupBy(
    own.filter(({ told_key }) => told_key !== null),
    ({ told_key }) => told_key ?? '',
  )
  for (const [key, states] of byKey) {
    const open = new Set(
      states.filter(({ state }) => state !== 'resolved').flatMap(state => listOf(state.told_channels)),
    )
    const channelsOf = new Map<AlertState, string[]>()
    for (const state of states) {
      const recoveredChannels = new Set(listOf(state.recovered_on))
      const due = listOf(state.told_channels).filter(channel => !open.has(channel) && !recoveredChannels.has(channel))
      if (state.state !== 'resolved' || due.length === 0) continue
      channelsOf.set(state, due)
      changed.set(state, { ...state, recovered_on: jsonText([...recoveredChannels, ...due]) })
    }
    if (rule.recovery)
      messages.push(
        ...perChannel(rule, [...channelsOf.keys()], state => channelsOf.get(state) ?? [], ['resolved', key, now]),
      )
  }
  return { changed, messages }
}
