import { eventKinds } from '@stockade/contract'
import type { EventName } from '@stockade/contract'
import { ipText } from '../../core/ip.ts'
import type { Notice } from '../../db/tables/message.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { BanRow } from '../bans/bans.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import { oneLine } from './message.ts'

/** What chat and e-mail hear of as it happens, by their switches. */
export const newsCategories = ['bans', 'syncs'] as const
export type News = (typeof newsCategories)[number]

/** `10 minutes`, `2 hours`; whole units as far as they go. */
const lengthOf = (seconds: number | null): string => {
  if (seconds === null) return 'until it is lifted'
  if (seconds === -1) return 'for good'
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const
  const [size, name] = units.find(([length]) => seconds % length === 0 && seconds >= length) ?? [1, 'second']
  const n = seconds / size
  return `for ${n} ${name}${n === 1 ? '' : 's'}`
}
const factsOf = (facts: Readonly<Record<string, string | null>>) =>
  Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [{ name, value: oneLine(value) }]))

/** The toggle that an event belongs to; null for events without a notification. */
export const categoryOf = ({ name }: StockadeEvent): News | null => {
  const { notify }: { notify?: `notify_${News}` } = eventKinds[name]
  return newsCategories.find(category => notify === `notify_${category}`) ?? null
}

export const noticeOfBan = (ban: BanRow): Notice => {
  const ip = ipText(ban.ip, ban.prefix)
  const country = ban.country === null ? null : (countryName(ban.country) ?? ban.country)
  return {
    category: 'bans',
    level: 'warning',
    title: oneLine(`${ip} banned on ${ban.hostname}`),
    text: `Jail ${ban.jail}, ${lengthOf(ban.ban_duration)}.`,
    facts: factsOf({
      Address: ip,
      Server: ban.hostname,
      Jail: ban.jail,
      Country: country,
      Network: ban.asn_org ?? (ban.asn === null ? null : `AS${ban.asn}`),
      'Banned by': ban.banned_by,
    }),
    tables: [],
    // Where it is lifted everywhere with two clicks; a range has no such page.
    path: ban.prefix === null ? `/ip/${encodeURIComponent(ip)}` : `/bans/${ban.id}`,
    label: ban.prefix === null ? 'Show the address' : 'Show the ban',
    at: ban.banned_at,
    row: [ip, ban.jail, oneLine(ban.hostname), ban.country ?? '–'],
  }
}

/** Cells of a digest, and the words of a change of the whitelist. */
interface Words {
  readonly title: string
  readonly text: string
  readonly facts: Readonly<Record<string, string | null>>
  readonly what: string
}
interface Change {
  readonly event: StockadeEvent
  readonly text: (field: string) => string
  /** Who did it; null for Stockade itself. */
  readonly by: string | null
}
const ofEntry = ({ text, by }: Change, done: 'added to' | 'removed from'): Words => ({
  title: `${text('ip')} ${done} the whitelist`,
  text: text('description'),
  facts: { Entry: text('ip'), By: by },
  what: `${text('ip')} ${done.split(' ')[0] ?? ''}`,
})
const wordsOf: Partial<Readonly<Record<EventName, (change: Change) => Words>>> = {
  'whitelist.add': change => ofEntry(change, 'added to'),
  'whitelist.remove': change => ofEntry(change, 'removed from'),
  'whitelist.sync': ({ event, text, by }) => ({
    title: `Whitelist sync asked of ${text('servers')} server${event.data.servers === 1 ? '' : 's'}`,
    text: '',
    facts: { By: by },
    what: `sync of ${text('servers')} servers`,
  }),
}

/** What an event of another kind says; null where there is nothing to say. */
export const noticeOf = (event: StockadeEvent): Notice | null => {
  const text = (field: string): string => {
    const value = event.data[field]
    return oneLine(typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  }
  const by = event.author?.name ?? null
  const words = wordsOf[event.name]?.({ event, text, by })
  if (words === undefined) return null
  return {
    category: 'syncs',
    level: 'info',
    title: oneLine(words.title),
    text: words.text,
    facts: factsOf(words.facts),
    tables: [],
    path: '/whitelist',
    label: 'Show the whitelist',
    at: event.at,
    row: [oneLine(words.what), oneLine(by ?? 'system')],
  }
}
