import { eventKinds } from '@stockade/contract'
import type { EventName } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { Notice } from '../../db/tables/message.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { BanRow } from '../bans/bans.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import { bursts, oneLine } from './message.ts'
import type { Burst } from './message.ts'

interface ServerName {
  readonly id: string
  readonly hostname: string
}

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

const protectionLevels: Readonly<Record<string, Notice['level']>> = { protected: 'info', unprotected: 'error' }
const protectionTitle = (hostname: string, { to, since, from_since }: StockadeEvent['data']): string => {
  const minutes =
    typeof since === 'number' && typeof from_since === 'number' ? Math.ceil((since - from_since) / 60_000) : 0
  const after = minutes > 90 ? `${Math.round(minutes / 60)} h` : `${minutes} min`
  switch (to) {
    case 'protected':
      return `${hostname} is protected again${minutes > 0 ? ` after ${after}` : ''}`
    case 'unknown':
      return `Whether ${hostname} is protected is unknown`
    default:
      return `${hostname} is ${to === 'unprotected' ? 'unprotected' : 'degraded'}`
  }
}

/** The toggle that an event belongs to; null for events without a notification. */
export const categoryOf = ({ name, data }: StockadeEvent): Burst | null => {
  if (name === 'command.finish' && data.status !== 'failed' && data.status !== 'timeout') return null
  if (name === 'whitelist.synced') return data.sync_status === 'failed' ? 'syncs' : null
  const kind: { notify?: `notify_${Burst}` } = eventKinds[name]
  return bursts.find(burst => kind.notify === `notify_${burst}`) ?? null
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

/** What the texts of an event are made from. */
interface Told {
  readonly event: StockadeEvent
  readonly hostname: string
  readonly server: ServerName | undefined
  /** A value of the event's data as one line; empty where it has none. */
  readonly text: (field: string) => string
  /** Who did it; null for Stockade itself. */
  readonly by: string | null
}
interface Page {
  readonly path: string
  readonly label: string
}
interface Words {
  readonly level: Notice['level']
  readonly title: string
  readonly text: string
  readonly facts: Readonly<Record<string, string | null>>
  readonly page: Page
  /** The cells of a digest. */
  readonly what: string
  readonly who: string
}

const auditPage: Page = { path: '/audit', label: 'Show the audit log' }
const listsPage: Page = { path: '/lists/blocklists', label: 'Show the blocklists' }
const whitelistPage: Page = { path: '/whitelist', label: 'Show the whitelist' }
const timeOf = (value: unknown): string | null => (typeof value === 'number' ? iso(value) : null)

const ofServer = (
  { hostname, server }: Told,
  words: Pick<Words, 'title' | 'text' | 'what'> & Partial<Pick<Words, 'level' | 'facts'>>,
): Words => ({
  level: 'error',
  page: { path: server ? `/servers/${server.id}` : '/servers', label: 'Show the server' },
  who: hostname,
  ...words,
  facts: { Server: hostname, ...words.facts },
})
const ofList = (
  { text }: Told,
  words: Pick<Words, 'level' | 'text' | 'what'> & { readonly title: (list: string) => string },
): Words => ({
  ...words,
  title: words.title(`the blocklist ${text('name')}`),
  facts: { Reason: text('reason') },
  page: listsPage,
  who: text('name'),
})
const ofEntry = ({ text, by }: Told, done: 'added to' | 'removed from'): Words => ({
  level: 'info',
  title: `${text('ip')} ${done} the whitelist`,
  text: text('description'),
  facts: { Entry: text('ip'), By: by },
  page: whitelistPage,
  what: `${text('ip')} ${done.split(' ')[0] ?? ''}`,
  who: by ?? 'system',
})

const tokenWords = (text: Told['text']): readonly [title: string, advice: string, what: string] => {
  const token = `The enrolment token ${text('name')}`
  switch (text('reason')) {
    case 'used_up':
      return [
        `${token} is used up`,
        `It has enrolled ${text('servers')} servers, as many as it may. Look whether all of them are yours.`,
        'token used up',
      ]
    case 'network':
      return [
        `${token} was used from outside of its networks`,
        'The request was refused. Somebody else may know the token: revoke it and make another one.',
        'token used from elsewhere',
      ]
    default:
      return [
        `${token} was refused ${text('refused')} times`,
        'Servers still try it, or somebody else does. The audit log says why each request was refused.',
        'token refused',
      ]
  }
}

const wordsOf: Partial<Readonly<Record<EventName, (told: Told) => Words>>> = {
  'server.offline': told =>
    ofServer(told, {
      title: `${told.hostname} is offline`,
      text: 'It sends no heartbeats. Bans on it go on; Stockade does not hear of them.',
      facts: { 'Last heartbeat': timeOf(told.event.data.last_heartbeat) },
      what: 'offline',
    }),
  'server.protection': told =>
    ofServer(told, {
      level: protectionLevels[told.text('to')] ?? 'warning',
      title: protectionTitle(told.hostname, told.event.data),
      text: told.text('summary'),
      facts: { Now: told.text('to'), Since: timeOf(told.event.data.since), Before: told.text('from') || null },
      what: told.text('to'),
    }),
  'server.clone': told =>
    ofServer(told, {
      title: `Another host uses the identity of ${told.hostname}`,
      text: 'A copied machine, or a stolen key. The second server was refused; enrol it on its own. If both report in turns, neither gets commands until an administrator settles it on the page of the server.',
      what: 'identity used twice',
    }),
  'server.quota': told =>
    ofServer(told, {
      title: `${told.hostname} has used up what it may report today`,
      text: 'Its reports are refused until midnight UTC. A server under a heavy attack, or a stolen key: look at its bans, and put it in quarantine if they are made up.',
      what: 'quota used up',
    }),
  'auth.guessing': ({ text }) => ({
    level: 'error',
    title: `Somebody guesses the password of ${text('username')}`,
    text: 'Too many attempts failed today. Only networks from which this account signed in before may try. If it was you, sign in from there.',
    facts: { Account: text('username'), 'Last address': text('ip') },
    page: auditPage,
    what: 'passwords guessed',
    who: text('username'),
  }),
  'server.enrolment_token_warn': ({ text }) => {
    const [title, advice, what] = tokenWords(text)
    return {
      level: 'warning',
      title,
      text: advice,
      facts: { Token: text('name'), 'Last address': text('ip') },
      page: { path: `/servers/tokens?token=${text('id')}`, label: 'Show the token' },
      what,
      who: text('name'),
    }
  },
  'ban.own_unban': ({ text, by }) => ({
    level: 'warning',
    title: `${by ?? 'A user'} lifted the ban of the own address ${text('ip')}`,
    text: `The address is on the whitelist until ${text('expires_at')}.`,
    facts: { Address: text('ip'), By: by, Until: text('expires_at') },
    page: { path: `/ip/${encodeURIComponent(text('ip'))}`, label: 'Show the address' },
    what: `${text('ip')} unbanned`,
    who: by ?? 'system',
  }),
  'rollout.stop': ({ text }) => ({
    level: 'error',
    title: `The upgrade of the agents to ${text('version')} paused`,
    text: 'No further server is upgraded until somebody resumes it. Servers on which it failed run their release from before.',
    facts: { Reason: text('reason') },
    page: { path: '/settings/agents', label: 'Show the upgrade' },
    what: 'upgrade paused',
    who: 'Stockade',
  }),
  'rule.trip': ({ text }) => ({
    level: 'error',
    title: `The sharing rule ${text('name')} stopped`,
    text: 'It met its limit and bans nobody until somebody arms it again. Its bans stay until they end.',
    facts: { Limit: text('reason') },
    page: { path: '/lists/rules', label: 'Show the rules' },
    what: 'sharing rule stopped',
    who: 'Stockade',
  }),
  'list.refuse': told =>
    ofList(told, {
      level: 'error',
      title: list => `A new version of ${list} was not applied`,
      text: 'The last good version stays in force.',
      what: 'not applied',
    }),
  'list.stale': told =>
    ofList(told, {
      level: 'warning',
      title: list => `${list.charAt(0).toUpperCase()}${list.slice(1)} is out of date`,
      text: 'Its source could not be read for three intervals. The last good version stays in force.',
      what: 'out of date',
    }),
  'feed.limit': ({ text }) => ({
    level: 'warning',
    title: `The feed ${text('name')} leaves bans out`,
    text: 'A server reported very wide ranges or very many bans, or very many came at once. What is left out never reaches the firewalls that read the feed, or a step later.',
    facts: {
      'Wide ranges': text('wide'),
      'Beyond the part of one server': text('of_one_server'),
      'Until the next step': text('held_back'),
    },
    page: auditPage,
    what: 'feed leaves bans out',
    who: 'Stockade',
  }),
  'backup.fail': ({ text }) => ({
    level: 'error',
    title: 'The scheduled backup failed',
    text: 'It is tried again every hour. The last good backup stays.',
    facts: { Reason: text('reason') },
    page: auditPage,
    what: 'backup failed',
    who: 'Stockade',
  }),
  'backup.verify_fail': ({ text }) => ({
    level: 'error',
    title: 'A scheduled backup could not be restored',
    text: 'The weekly trial restore failed. Make a new backup and verify it.',
    facts: { File: text('file'), Reason: text('reason') },
    page: auditPage,
    what: 'backup not restorable',
    who: 'Stockade',
  }),
  'command.finish': ({ event, hostname, text }) => {
    const ended = event.data.status === 'timeout' ? 'was not answered in time' : 'failed'
    return {
      level: 'error',
      title: `Command ${text('type')} ${ended} on ${hostname}`,
      text: 'The command’s page shows what the server said.',
      facts: { Server: hostname, Command: text('type') },
      page: { path: `/commands/${text('id')}`, label: 'Show the command' },
      what: `${text('type')} ${ended}`,
      who: hostname,
    }
  },
  'whitelist.add': told => ofEntry(told, 'added to'),
  'whitelist.remove': told => ofEntry(told, 'removed from'),
  'whitelist.name_warn': ({ text }) => ({
    level: 'warning',
    title: `Look at the whitelisted name ${text('name')}`,
    text: text('reason'),
    facts: { Name: text('name') },
    page: whitelistPage,
    what: 'whitelisted name',
    who: text('name'),
  }),
  'whitelist.sync': ({ event, text, by }) => ({
    level: 'info',
    title: `Whitelist sync asked of ${text('servers')} server${event.data.servers === 1 ? '' : 's'}`,
    text: '',
    facts: { By: by },
    page: whitelistPage,
    what: `sync of ${text('servers')} servers`,
    who: by ?? 'system',
  }),
  'whitelist.synced': told => ({
    ...ofServer(told, {
      title: `${told.hostname} could not take over the whitelist`,
      text: 'The list of servers on the whitelist’s page says why.',
      what: 'sync failed',
    }),
    page: whitelistPage,
  }),
}

/** What an event of another kind says; null where there is nothing to say. */
export const noticeOf = (event: StockadeEvent, category: Burst, server: ServerName | undefined): Notice | null => {
  const text = (field: string): string => {
    const value = event.data[field]
    return oneLine(typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  }
  const hostname = oneLine(server?.hostname ?? text('hostname')) || 'a removed server'
  const words = wordsOf[event.name]?.({ event, hostname, server, text, by: event.author?.name ?? null })
  if (words === undefined) return null
  return {
    category,
    level: words.level,
    title: oneLine(words.title),
    text: words.text,
    facts: factsOf(words.facts),
    tables: [],
    ...words.page,
    at: event.at,
    row: [oneLine(words.what), oneLine(words.who)],
  }
}
