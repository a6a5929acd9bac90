import { day } from '../../core/clock.ts'
import { system } from '../../core/author.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Change, StockadeEvent, StoreAccess } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { SourcedBan } from '../fleet/by-rules.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import { targetsOf } from '../servers/targets.ts'
import { conditionsOf, limitsOf, logicOf, rangesOf } from './conditions.ts'
import type { RuleNeeds } from './conditions.ts'
import { createEvaluator, rememberedFor } from './evaluator.ts'
import type { Evaluator, JudgedMatch, PastMatch, SeenBan } from './evaluator.ts'
import { lookAtGuard } from './guard.ts'
import type { EntryRefusal } from './guard.ts'
import { armedRules, bansForRules, bansInOrder, insertMatch, matchesSince, updateRule } from './rules.store.ts'
import type { MatchRow, RuleRow } from './rules.store.ts'

/** Armed rules with the bans of their windows. */
interface Watch {
  readonly evaluator: Evaluator
  readonly rules: ReadonlyMap<number, RuleRow>
  /** Of the rules: another text means that one of them changed. */
  readonly version: string
}

/** Events of one transaction. */
const batch = 1000
const page = 5000
/** Bans of a host whose clock is ahead. */
const slack = day

/**
 * Takes the bans that hosts reported to the armed rules. One process does it, behind a cursor in the stream of events: matches, fleet
 * bans and the cursor are one transaction, so that no ban is missed or counted twice.
 */
export const createRuleRunner = (
  needs: RuleNeeds &
    StoreAccess & {
      readonly fleetBans: Pick<FleetBans, 'banWithin' | 'sets'>
    },
) => {
  const { db, clock, events, fleetBans } = needs
  const reader = createReader(db, 'rules')
  let watch: Watch | null = null
  let refusal: EntryRefusal = () => null

  const versionOf = (rules: readonly RuleRow[]) => rules.map(row => `${row.id} ${row.updated_at}`).join()

  /**
   * Reads the windows of the rules again, without the bans whose events wait behind the cursor. One that is committed meanwhile may be
   * among them; the rules are asked about it when its event comes.
   */
  const begin = async (rules: readonly RuleRow[]): Promise<Watch> => {
    const excluded = new Map(rules.map(row => [row.id, rangesOf(limitsOf(row).exclude)]))
    const logics = rules.map(row => logicOf(row.id, conditionsOf(row), limitsOf(row), needs))
    const evaluator = createEvaluator(logics, (ruleId, entry) => refusal(entry, excluded.get(ruleId) ?? []))
    const now = clock()
    const longest = Math.max(...logics.map(({ within }) => within))
    const belowId = (await reader.firstWaitingBan()) ?? Number.MAX_SAFE_INTEGER
    const bounds = { from: now - longest, to: now + slack, belowId }
    for await (const bans of bansInOrder(db.scan, bounds, page)) for (const ban of bans) evaluator.remember(ban)
    const past = await matchesSince(
      db.read,
      rules.map(({ id }) => id),
      now - rememberedFor,
    )
    for (const match of past) evaluator.recall(pastOf(match))
    return { evaluator, rules: new Map(rules.map(row => [row.id, row])), version: versionOf(rules) }
  }

  const store = async (change: Change, watched: Watch, matches: readonly JudgedMatch[]): Promise<void> => {
    const judged = matches.flatMap(match => {
      const rule = watched.rules.get(match.ruleId)
      return rule ? [{ match, rule }] : []
    })
    const isDue = ({ match: { outcome, until } }: (typeof judged)[number]) =>
      outcome === 'banned' && (until === null || until > clock())
    const due = judged.filter(isDue)
    const ids = await fleetBans.banWithin(
      change,
      due.map(({ match, rule }) => banOf(rule, match)),
    )
    const idByMatch = new Map(due.map(({ match }, place) => [match, ids[place] ?? null]))
    for (const { match, rule } of judged) {
      await insertMatch(change.sql, rowOf(match, idByMatch.get(match) ?? null))
      if (match.outcome === 'tripped') await trip(change, rule, match.cause)
    }
  }
  const trip = async (change: Change, rule: RuleRow, reason: string) => {
    await updateRule(change.sql, rule.id, { state: 'tripped', reason, updated_at: clock() })
    await change.record({ name: 'rule.trip', author: system, data: { id: rule.id, name: rule.name, reason } })
  }

  const takeIn = async (watched: Watch, told: readonly StockadeEvent[]): Promise<JudgedMatch[]> => {
    const arrivals = new Map(
      told.flatMap(({ name, banId, at }) => (name === 'ban.report' && banId !== null ? [[banId, at] as const] : [])),
    )
    if (arrivals.size === 0) return []
    const bans = await bansForRules(db.read, arrivals)
    const newBans = [...arrivals.keys()].flatMap((id): SeenBan[] => {
      const ban = bans.get(id)
      return ban ? [ban] : []
    })
    if (newBans.length === 0) return []
    await needs.names.refresh()
    refusal = await lookAtGuard(needs)
    watched.evaluator.refreshFilters()
    return newBans.flatMap(ban => watched.evaluator.take(ban))
  }

  return {
    /** Begins with the bans from now on. For the change that arms the first rule. */
    skip: (change: Pick<Change, 'sql'>) => reader.skip(change),
    async run(): Promise<void> {
      const rules = await armedRules(db.read)
      if (rules.length === 0) {
        watch = null
        return
      }
      for (let more = true; more;) {
        const next = await reader.read(batch)
        if (watch?.version !== versionOf(rules)) {
          await needs.names.refresh()
          watch = await begin(rules)
        }
        if (next.events.length === 0) return
        const watched = watch
        try {
          const matches = await takeIn(watched, next.events)
          const isStored = await events.change(async change => {
            // Somebody may have changed or disarmed a rule meanwhile.
            if (versionOf(await armedRules(change.sql)) !== watched.version) return false
            await store(change, watched, matches)
            await reader.keep(change, next.position)
            return true
          })
          if (!isStored) {
            watch = null
            return
          }
          if (matches.some(({ outcome }) => outcome === 'banned')) await fleetBans.sets.catchUp()
          // A rule that tripped no longer watches.
          if (matches.some(({ outcome }) => outcome === 'tripped')) return
        } catch (error) {
          // What the evaluator decided is not stored, so it begins again from what is.
          watch = null
          throw error
        }
        more = next.more
      }
    },
  }
}

export const sourceOf = (ruleId: number): string => `rule:${ruleId}`

const reasonOf = (rule: RuleRow, { bans, servers }: JudgedMatch): string =>
  `${rule.name}: ${counted(bans.length, 'ban')} on ${counted(servers.length, 'server')}`
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const banOf = (rule: RuleRow, match: JudgedMatch): SourcedBan => ({
  entry: match.entry,
  reason: reasonOf(rule, match),
  targets: targetsOf(conditionsOf(rule).target),
  expires_at: match.until,
  source: sourceOf(rule.id),
  created_by: 'system',
})

const pastOf = (row: MatchRow): PastMatch => ({
  ruleId: row.rule_id,
  entry: row.entry,
  at: row.at,
  banId: row.ban_id,
  times: row.times,
  until: row.until,
  outcome: row.outcome,
})
const rowOf = (match: JudgedMatch, fleetBanId: number | null) => ({
  rule_id: match.ruleId,
  at: match.at,
  entry: match.entry,
  ban_id: match.banId,
  times: match.times,
  until: match.until,
  outcome: match.outcome,
  cause: match.outcome === 'banned' ? null : match.cause,
  fleet_ban_id: fleetBanId,
  evidence: jsonText({ servers: match.servers, bans: match.bans.slice(0, 50) }),
})
