import type { ConditionKind, EventName } from '@stockade/contract'
import { day, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Events, StockadeEvent } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { Position } from '../../events/reader.ts'
import { oneLine } from '../channels/message.ts'
import type { Registry } from '../servers/registry.ts'
import type { Finding } from './kinds.ts'

/* What happens and is over at once. Every process hears of it; the one that evaluates takes it. */

interface Happened {
  readonly event: StockadeEvent
  readonly hostname: string
  /** A value of the event's data as one line; empty where it has none. */
  readonly text: (field: string) => string
}
type Words = readonly [title: string, detail: string]
interface EventCondition {
  readonly kind: ConditionKind
  /** False for events of this name that are no problem; all are unless given. */
  readonly isProblem?: (data: StockadeEvent['data']) => boolean
  readonly words: (happened: Happened) => Words
}

/** Why it happened, in the words of the event, which may end with a full stop. */
const reasonOf = (text: Happened['text']): string => {
  const reason = text('reason').replace(/\.$/, '')
  return reason === '' ? '' : `Reason: ${reason}.`
}

const tokenWords = ({ text }: Happened): Words => {
  const token = `The enrolment token ${text('name')}`
  switch (text('reason')) {
    case 'used_up':
      return [
        `${token} is used up`,
        `It has enrolled ${text('servers')} servers, as many as it may. Look whether all of them are yours.`,
      ]
    case 'network':
      return [
        `${token} was used from outside of its networks`,
        'The request was refused. Somebody else may know the token: revoke it and make another one.',
      ]
    default:
      return [
        `${token} was refused ${text('refused')} times`,
        'Servers still try it, or somebody else does. The audit log says why each request was refused.',
      ]
  }
}

const conditions: Readonly<Partial<Record<EventName, EventCondition>>> = {
  'command.finish': {
    kind: 'command-failed',
    isProblem: ({ status }) => status === 'failed' || status === 'timeout',
    words: ({ event, hostname, text }) => [
      `Command ${text('type')} ${event.data.status === 'timeout' ? 'was not answered in time' : 'failed'} on ${hostname}`,
      'The command’s page shows what the server said.',
    ],
  },
  'server.quota': {
    kind: 'quota-used-up',
    words: ({ hostname }) => [
      `${hostname} has used up what it may report today`,
      'Its reports are refused until midnight UTC. A server under a heavy attack, or a stolen key: look at its bans, and put it in quarantine if they are made up.',
    ],
  },
  'auth.guessing': {
    kind: 'password-guessed',
    words: ({ text }) => [
      `Somebody guesses the password of ${text('username')}`,
      `Too many attempts failed today, the last from ${text('ip')}. Only networks from which this account signed in before may try. If it was you, sign in from there.`,
    ],
  },
  'server.enrolment_token_warn': { kind: 'enrolment-token', words: tokenWords },
  'ban.own_unban': {
    kind: 'own-unban',
    words: ({ event, text }) => [
      `${event.author?.name ?? 'A user'} lifted the ban of the own address ${text('ip')}`,
      `The address is on the whitelist until ${text('expires_at')}.`,
    ],
  },
  'rollout.stop': {
    kind: 'rollout-paused',
    words: ({ text }) => [
      `The upgrade of the agents to ${text('version')} paused`,
      `No further server is upgraded until somebody resumes it. Servers on which it failed run their release from before. ${reasonOf(text)}`,
    ],
  },
  'rule.trip': {
    kind: 'rule-stopped',
    words: ({ text }) => [
      `The sharing rule ${text('name')} stopped`,
      `It met its limit and bans nobody until somebody arms it again. Its bans stay until they end. ${reasonOf(text)}`,
    ],
  },
  'list.refuse': {
    kind: 'list-refused',
    words: ({ text }) => [
      `A new version of the blocklist ${text('name')} was not applied`,
      `The last good version stays in force. ${reasonOf(text)}`,
    ],
  },
  'list.stale': {
    kind: 'list-stale',
    words: ({ text }) => [
      `The blocklist ${text('name')} is out of date`,
      `Its source could not be read for three intervals. The last good version stays in force. ${reasonOf(text)}`,
    ],
  },
  'feed.limit': {
    kind: 'feed-cut',
    words: ({ text }) => [
      `The feed ${text('name')} leaves bans out`,
      `A server reported very wide ranges (${text('wide')}) or very many bans (${text('of_one_server')}), or very many came at once (${text('held_back')}). What is left out never reaches the firewalls that read the feed, or a step later.`,
    ],
  },
  'backup.fail': {
    kind: 'backup-failed',
    words: ({ text }) => [
      'The scheduled backup failed',
      `It is tried again every hour. The last good backup stays. ${reasonOf(text)}`,
    ],
  },
  'backup.verify_fail': {
    kind: 'backup-unusable',
    words: ({ text }) => [
      'A scheduled backup could not be restored',
      `The weekly trial restore of ${text('file')} failed. Make a new backup and verify it. ${reasonOf(text)}`,
    ],
  },
  'whitelist.name_warn': {
    kind: 'whitelist-name',
    words: ({ text }) => [`Look at the whitelisted name ${text('name')}`, text('reason')],
  },
  'whitelist.synced': {
    kind: 'whitelist-failed',
    isProblem: ({ sync_status: status }) => status === 'failed',
    words: ({ hostname }) => [
      `${hostname} could not take over the whitelist`,
      'The list of servers on the whitelist’s page says why.',
    ],
  },
}
const isProblem = ({ name, data }: StockadeEvent): boolean => {
  const condition = conditions[name]
  return condition !== undefined && (condition.isProblem?.(data) ?? true)
}

/** What an event says; null for one that is no problem. `server` is the one that it is of. */
const findingOf = (
  event: StockadeEvent,
  server: { readonly id: string; readonly no: number; readonly hostname: string } | undefined,
): (Finding & { readonly kind: ConditionKind }) | null => {
  const condition = conditions[event.name]
  if (condition === undefined || !isProblem(event)) return null
  const text = (field: string): string => {
    const value = event.data[field]
    return oneLine(typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  }
  const hostname = oneLine(server?.hostname ?? text('hostname')) || 'a removed server'
  const [title, detail] = condition.words({ event, hostname, text })
  return {
    kind: condition.kind,
    // Of what is no server, the one that its name says.
    subject: server?.id ?? String(event.data.name ?? event.data.username ?? 'stockade'),
    serverNo: server?.no ?? null,
    title: oneLine(title),
    detail,
    at: event.at,
  }
}

/** Kept for so long where this process does not evaluate, in case that it takes over. */
const keptFor = minute
/** How often the place in the stream is kept from which a process that starts to evaluate reads on. */
const keepEvery = minute
const mostKept = 5000

export const createEventConditions = (needs: {
  db: Database
  events: Pick<Events, 'subscribe'>
  clock: Clock
  registry: Pick<Registry, 'byNo'>
}) => {
  const { db, events, clock, registry } = needs
  const reader = createReader(db, 'alerts')
  let keptEvents: StockadeEvent[] = []
  let first = clock()
  /** Taken, and not stored as alerts yet. */
  let unsettled: readonly StockadeEvent[] = []
  /** By the clock of the process, whose time nobody sets. */
  let takenAt = -Infinity
  let placeAt = -Infinity
  let nextPlace: Position | null = null
  const stop = events.subscribe(incoming => {
    const problems = incoming.filter(isProblem)
    if (problems.length === 0) return
    // Looked at once a minute at most, also where nothing ever takes them.
    if (clock() - first > keptFor) {
      keptEvents = keptEvents.filter(({ at }) => at > clock() - keptFor)
      first = clock()
    }
    keptEvents = [...keptEvents, ...problems].slice(-mostKept)
  })
  /** What happened since the place that was kept: in the last minutes before a crash, or before this process took over. */
  const readMissed = async (now: number): Promise<StockadeEvent[]> => {
    const problems: StockadeEvent[] = []
    let from: Position | undefined
    for (;;) {
      const { events: read, position, more } = await reader.read(500, from)
      problems.push(...read.filter(event => event.at > now - day && isProblem(event)))
      if (!more) return problems
      from = position
    }
  }
  /**
   * Keeps the place of a minute ago: what lies before it was heard and taken since then. So what is read twice is at most two
   * minutes old, and its alert still stands.
   */
  const keepPlace = async (): Promise<void> => {
    const now = performance.now()
    if (now - placeAt < keepEvery) return
    placeAt = now
    const place = nextPlace
    nextPlace = await reader.end()
    if (place) await db.write.transaction().execute(sql => reader.keep({ sql }, place))
  }
  return {
    stop,
    /** What happened since what was settled last, by kind; of one server the last. */
    async take(): Promise<Map<ConditionKind, Finding[]>> {
      const now = performance.now()
      if (now - takenAt > keepEvery) {
        unsettled = await readMissed(clock())
        placeAt = -Infinity
        nextPlace = null
      }
      takenAt = now
      unsettled = [...unsettled, ...keptEvents].slice(-mostKept)
      keptEvents = []
      const findings = new Map<ConditionKind, Map<string, Finding>>()
      for (const event of unsettled) {
        const finding = findingOf(event, event.serverNo === null ? undefined : registry.byNo(event.serverNo)?.row)
        if (!finding) continue
        const { kind, ...rest } = finding
        const bySubject = findings.get(kind) ?? new Map<string, Finding>()
        bySubject.set(rest.subject, rest)
        findings.set(kind, bySubject)
      }
      return new Map([...findings].map(([kind, bySubject]) => [kind, [...bySubject.values()]]))
    },
    /** What was taken is stored. */
    async settle(): Promise<void> {
      unsettled = []
      await keepPlace()
    },
  }
}
