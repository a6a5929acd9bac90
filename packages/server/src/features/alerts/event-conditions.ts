import type { ConditionKind, EventName } from '@stockade/contract'
import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Events, StockadeEvent } from '../../events/events.ts'
import { categoryOf, noticeOf } from '../channels/notices.ts'
import type { Registry } from '../servers/registry.ts'
import type { Finding } from './kinds.ts'

/* What happens and is over at once. Every process hears of it; the one that evaluates takes it. */

const kinds: Readonly<Partial<Record<EventName, ConditionKind>>> = {
  'command.finish': 'command-failed',
  'server.quota': 'quota-used-up',
  'rollout.stop': 'rollout-paused',
  'auth.guessing': 'password-guessed',
  'server.enrolment_token_warn': 'enrolment-token',
  'rule.trip': 'rule-stopped',
  'list.refuse': 'list-refused',
  'list.stale': 'list-stale',
}
/** Kept for so long where this process does not evaluate, in case that it takes over. */
const keptFor = minute
const mostKept = 5000

export const createEventConditions = (needs: {
  events: Pick<Events, 'subscribe'>
  clock: Clock
  registry: Pick<Registry, 'byNo'>
}) => {
  const { events, clock, registry } = needs
  let kept: StockadeEvent[] = []
  let first = clock()
  const stop = events.subscribe(told => {
    const wanted = told.filter(event => kinds[event.name] !== undefined && categoryOf(event) !== null)
    if (wanted.length === 0) return
    // Looked at once a minute at most, also where nothing ever takes them.
    if (clock() - first > keptFor) {
      kept = kept.filter(({ at }) => at > clock() - keptFor)
      first = clock()
    }
    kept = [...kept, ...wanted].slice(-mostKept)
  })
  return {
    stop,
    /** What happened since the last time, by kind; of one server the last. */
    take(): Map<ConditionKind, Finding[]> {
      const taken = kept
      kept = []
      const found = new Map<ConditionKind, Map<string, Finding>>()
      for (const event of taken) {
        const kind = kinds[event.name]
        const server = event.serverNo === null ? undefined : registry.byNo(event.serverNo)
        const notice = noticeOf(event, 'errors', server?.row)
        if (!kind || !notice) continue
        const bySubject = found.get(kind) ?? new Map<string, Finding>()
        // Of what is no server, the one that its name says.
        const subject = server?.row.id ?? String(event.data.name ?? event.data.username ?? 'stockade')
        bySubject.set(subject, {
          subject,
          serverNo: server ? server.row.no : null,
          title: notice.title,
          detail: notice.text,
          at: event.at,
        })
        found.set(kind, bySubject)
      }
      return new Map([...found].map(([kind, bySubject]) => [kind, [...bySubject.values()]]))
    },
  }
}
