import { eventKinds } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { BanRow } from '../bans/bans.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import { oneLine } from './message.ts'
import type { Burst, Notice } from './message.ts'

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
  return kind.notify === undefined ? null : (kind.notify.slice('notify_'.length) as Burst)
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

/** What an event of another kind says; null where there is nothing to say. */
export const noticeOf = (event: StockadeEvent, category: Burst, server: ServerName | undefined): Notice | null => {
  const { name, data, author, at } = event
  const text = (value: unknown) => oneLine(typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  const hostname = oneLine(server?.hostname ?? text(data.hostname)) || 'a removed server'
  const by = author === null ? null : author.name
  const ofServer = { path: server ? `/servers/${server.id}` : '/servers', label: 'Show the server' }
  const ofAudit = { path: '/audit', label: 'Show the audit log' }
  const ofLists = { path: '/lists/blocklists', label: 'Show the blocklists' }
  const ofWhitelist = { path: '/whitelist', label: 'Show the whitelist' }
  const make = (
    level: Notice['level'],
    title: string,
    words: string,
    facts: Readonly<Record<string, string | null>>,
    page: { path: string; label: string },
    what: string,
    who: string,
  ): Notice => ({
    category,
    level,
    title: oneLine(title),
    text: words,
    facts: factsOf(facts),
    tables: [],
    ...page,
    at,
    row: [oneLine(what), oneLine(who)],
  })
  switch (name) {
    case 'server.offline': {
      const last = typeof data.last_heartbeat === 'number' ? iso(data.last_heartbeat) : null
      const words = 'No heartbeat comes any more. Bans on the host go on; this server does not hear of them.'
      return make(
        'error',
        `${hostname} is offline`,
        words,
        { Server: hostname, 'Last heartbeat': last },
        ofServer,
        'offline',
        hostname,
      )
    }
    case 'server.protection':
      return make(
        protectionLevels[text(data.to)] ?? 'warning',
        protectionTitle(hostname, data),
        text(data.summary),
        {
          Server: hostname,
          Now: text(data.to),
          Since: typeof data.since === 'number' ? iso(data.since) : null,
          Before: text(data.from) || null,
        },
        ofServer,
        text(data.to),
        hostname,
      )
    case 'server.clone':
      return make(
        'error',
        `Another host uses the identity of ${hostname}`,
        'A copied machine, or a stolen key. The second host was refused; enrol it on its own. If both report in turns, neither gets commands until an administrator settles it on the page of the server.',
        { Server: hostname },
        ofServer,
        'identity used twice',
        hostname,
      )
    case 'server.quota':
      return make(
        'error',
        `${hostname} has used up what it may report today`,
        'Its reports are refused until midnight UTC. A host under a heavy attack, or a stolen key: look at its bans, and put it in quarantine if they are made up.',
        { Server: hostname },
        ofServer,
        'quota used up',
        hostname,
      )
    case 'auth.guessing':
      return make(
        'error',
        `Somebody guesses the password of ${text(data.username)}`,
        'So many were wrong today that only networks from which this account was signed in before may try. Where it was you, sign in from there.',
        { Account: text(data.username), 'Last address': text(data.ip) },
        ofAudit,
        'passwords guessed',
        text(data.username) ?? '',
      )
    case 'rollout.stop':
      return make(
        'error',
        `The upgrade of the agents to ${text(data.version)} paused`,
        'No further server is upgraded until somebody resumes it. Servers on which it failed run their release from before.',
        { Reason: text(data.reason) },
        { path: '/settings/agents', label: 'Show the upgrade' },
        'upgrade paused',
        'Stockade',
      )
    case 'rule.trip':
      return make(
        'error',
        `The sharing rule ${text(data.name)} stopped`,
        'It met its limit and bans nobody until somebody arms it again. Bans that it made stand until they end.',
        { Limit: text(data.reason) },
        { path: '/lists/rules', label: 'Show the rules' },
        'sharing rule stopped',
        'Stockade',
      )
    case 'list.refuse':
      return make(
        'error',
        `A new version of the blocklist ${text(data.name)} was not applied`,
        'The last good version stays in force.',
        { Reason: text(data.reason) },
        ofLists,
        'not applied',
        text(data.name) ?? '',
      )
    case 'list.stale':
      return make(
        'warning',
        `The blocklist ${text(data.name)} is out of date`,
        'Its source could not be read for three intervals. The last good version stays in force.',
        { Reason: text(data.reason) },
        ofLists,
        'out of date',
        text(data.name) ?? '',
      )
    case 'backup.fail':
      return make(
        'error',
        'The scheduled backup failed',
        'It is tried again every hour. The last good backup stays.',
        { Reason: text(data.reason) },
        ofAudit,
        'backup failed',
        'Stockade',
      )
    case 'backup.verify_fail':
      return make(
        'error',
        'A scheduled backup could not be restored',
        'It was restored on trial, as once a week. Make a new backup and verify it.',
        { File: text(data.file), Reason: text(data.reason) },
        ofAudit,
        'backup not restorable',
        'Stockade',
      )
    case 'command.finish': {
      const ended = data.status === 'timeout' ? 'was not answered in time' : 'failed'
      const page = { path: `/commands/${text(data.id)}`, label: 'Show the command' }
      return make(
        'error',
        `Command ${text(data.type)} ${ended} on ${hostname}`,
        'The command’s page shows what the host said.',
        { Server: hostname, Command: text(data.type) },
        page,
        `${text(data.type)} ${ended}`,
        hostname,
      )
    }
    case 'whitelist.add':
    case 'whitelist.remove': {
      const done = name === 'whitelist.add' ? 'added to' : 'removed from'
      return make(
        'info',
        `${text(data.ip)} ${done} the whitelist`,
        text(data.description),
        { Entry: text(data.ip), By: by },
        ofWhitelist,
        `${text(data.ip)} ${done.split(' ')[0] ?? ''}`,
        by ?? 'system',
      )
    }
    case 'whitelist.sync':
      return make(
        'info',
        `Whitelist sync asked of ${text(data.servers)} server${data.servers === 1 ? '' : 's'}`,
        '',
        { By: by },
        ofWhitelist,
        `sync of ${text(data.servers)} servers`,
        by ?? 'system',
      )
    case 'whitelist.synced':
      return make(
        'error',
        `${hostname} could not take over the whitelist`,
        'The list of hosts on the whitelist’s page says why.',
        { Server: hostname },
        ofWhitelist,
        'sync failed',
        hostname,
      )
    default:
      return null
  }
}
