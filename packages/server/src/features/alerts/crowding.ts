import type { Registry } from '../servers/registry.ts'
import type { StateRow } from './alerts.store.ts'
import { kindDefaults } from './kinds.ts'
import type { Finding } from './kinds.ts'
import type { Rule } from './rules.ts'

/** Alerts of one rule of events that stand for one server at a time, and for what concerns no server. The rest is counted in one more. */
const most = { ofServer: 10, ofNone: 50 } as const

const subjectOf = (serverNo: Finding['serverNo']) => `more ${serverNo ?? ''}`

/** Keeps one server from making any number of alerts: a host names its jails as it likes. */
export const createCrowding = (registry: Pick<Registry, 'byNo'>) => {
  /** How many were counted in the alerts that stand, by rule and subject. */
  const counts = new Map<string, number>()
  const countedIn = (rule: Rule, crowd: readonly Finding[]): Finding[] => {
    const [first] = crowd
    if (!first) return []
    const { serverNo } = first
    const subject = subjectOf(serverNo)
    const key = `${rule.id} ${subject}`
    const count = (counts.get(key) ?? 0) + crowd.length
    counts.set(key, count)
    const host = serverNo === null ? undefined : registry.byNo(serverNo)
    return [
      {
        subject,
        serverNo,
        title: `${rule.name}${host ? ` on ${host.row.hostname}` : ''}: ${count} more`,
        detail: `The last one: ${crowd.at(-1)?.title}`,
        at: Math.max(...crowd.map(({ at = 0 }) => at)),
      },
    ]
  }
  /** @param before the states of the rule */
  return (rule: Rule, found: readonly Finding[], before: readonly StateRow[]): readonly Finding[] => {
    if (kindDefaults[rule.kind].isEvent !== true) return found
    const standing = before.filter(({ state }) => state !== 'resolved')
    const subjects = new Set(standing.map(({ subject }) => subject))
    for (const key of counts.keys()) {
      const [id, ...subject] = key.split(' ')
      if (id === rule.id && !subjects.has(subject.join(' '))) counts.delete(key)
    }
    const byServer = Map.groupBy(standing, ({ server_no }) => server_no)
    return [...Map.groupBy(found, ({ serverNo }) => serverNo)].flatMap(([serverNo, own]) => {
      const room = (serverNo === null ? most.ofNone : most.ofServer) - (byServer.get(serverNo)?.length ?? 0)
      const fresh = own.filter(({ subject }) => !subjects.has(subject))
      const crowd = fresh.slice(Math.max(0, room))
      const left = new Set(crowd)
      return [...own.filter(finding => !left.has(finding)), ...countedIn(rule, crowd)]
    })
  }
}
