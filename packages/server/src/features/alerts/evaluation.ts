import type { Config } from '../../config.ts'
import { day, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { Outbox } from '../channels/outbox.ts'
import { allRoutes } from '../channels/routes.store.ts'
import { wallOf } from '../../core/wall.ts'
import type { Registry } from '../servers/registry.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { allRules, deleteStates, recentStates, saveStates, silencesAt } from './alerts.store.ts'
import type { StateRow } from './alerts.store.ts'
import type { BanConditions } from './ban-conditions.ts'
import type { createEventConditions } from './event-conditions.ts'
import { createCrowding } from './crowding.ts'
import { kindDefaults } from './kinds.ts'
import type { Finding } from './kinds.ts'
import { rulesOf } from './rules.ts'
import type { Rule } from './rules.ts'
import { createSilence, findOnServers } from './server-conditions.ts'
import type { createServiceConditions } from './service-conditions.ts'
import { advance, restarted } from './state.ts'
import type { AlertState, Terms } from './state.ts'
import { tellFiring, tellResolved } from './telling.ts'
import type { Outbound, TellingContext } from './telling.ts'

/** Between two looks. More than that means that the clock jumped, or that nobody looked. */
const longest = minute
/** After a jump of the clock nothing fires for so long. */
const settleFor = minute
/** Alerts that ended so lately still count, for their recovery and for what comes and goes. */
const remembered = day

const termsOf = (rule: Rule): Terms => ({
  rule: rule.id,
  kind: rule.kind,
  severity: rule.severity,
  for: rule.for,
  isEvent: kindDefaults[rule.kind].isEvent === true,
})

interface Outcome {
  readonly next: AlertState[]
  readonly gone: number[]
}

export const createEvaluation = (needs: {
  db: Database
  clock: Clock
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>
  events: Pick<Events, 'change'>
  registry: Pick<Registry, 'all' | 'byNo'>
  targeting: Pick<Targeting, 'concerns'>
  settings: Pick<SettingsService, 'get'>
  outbox: Pick<Outbox, 'queue' | 'switchRoutes'>
  eventConditions: Pick<ReturnType<typeof createEventConditions>, 'take' | 'settle'>
  serviceConditions: ReturnType<typeof createServiceConditions>
  banConditions: BanConditions
}): (() => Promise<void>) => {
  const { db, clock, events, registry, targeting, settings, outbox } = needs
  const { eventConditions, serviceConditions, banConditions } = needs
  const heardAfter = createSilence(needs.config, clock())
  const withoutCrowds = createCrowding(registry)
  let lastLook: number | null = null
  let settledAt = 0

  /** What each rule finds now; null for a rule that could not look. */
  const findings = async (rules: readonly Rule[], now: number) => {
    const servers: ReadonlyMap<Rule['kind'], readonly Finding[]> = findOnServers(registry.all(), heardAfter(now))
    const service: ReadonlyMap<Rule['kind'], readonly Finding[] | null> = await serviceConditions()
    const happened: ReadonlyMap<Rule['kind'], readonly Finding[]> = await eventConditions.take()
    const ofKind = (kind: Rule['kind']) =>
      servers.get(kind) ?? service.get(kind) ?? (service.has(kind) ? null : (happened.get(kind) ?? []))
    const findingsByKind = new Map<string, readonly Finding[] | null>()
    for (const rule of rules) {
      if (!rule.isOn) findingsByKind.set(rule.id, [])
      else if (banConditions.isOf(rule)) findingsByKind.set(rule.id, await banConditions.find(rule, now))
      else {
        const all = ofKind(rule.kind)
        const { targets } = rule
        const isConcerned = ({ serverNo }: Finding) =>
          targets === 'all' || (serverNo !== null && targeting.concerns(targets, serverNo))
        findingsByKind.set(rule.id, targets === 'all' ? all : (all?.filter(isConcerned) ?? null))
      }
    }
    return findingsByKind
  }
  const step = (rule: Rule, found: readonly Finding[] | null, before: readonly StateRow[], now: number): Outcome => {
    if (found === null) return { next: [...before], gone: [] }
    const terms = termsOf(rule)
    const bySubject = new Map(withoutCrowds(rule, found, before).map(finding => [finding.subject, finding]))
    const next: AlertState[] = []
    const gone: number[] = []
    for (const state of before) {
      const after = advance(state, bySubject.get(state.subject), terms, now, now >= settledAt)
      bySubject.delete(state.subject)
      if (after === null) gone.push(state.id)
      else next.push(after)
    }
    for (const finding of bySubject.values()) {
      const begun = advance(undefined, finding, terms, now, now >= settledAt)
      if (begun) next.push(begun)
    }
    return { next, gone }
  }
  const contextAt = async (now: number): Promise<TellingContext> => ({
    now,
    hour: wallOf(now, settings.get('service.timezone')).hour,
    routes: [...(await allRoutes(db.read)), ...outbox.switchRoutes()],
    silences: (await silencesAt(db.read, now)).map(({ rule, target }) => ({ rule, targets: targetsOf(target) })),
    targeting,
  })
  const tell = (rules: readonly Rule[], states: readonly AlertState[], context: TellingContext) => {
    const messages: Outbound[] = []
    const changes = new Map<AlertState, AlertState>()
    for (const rule of rules) {
      const own = states.filter(state => state.rule === rule.id)
      if (own.length === 0) continue
      for (const delivery of [tellFiring(rule, own, states, context), tellResolved(rule, own, context)]) {
        messages.push(...delivery.messages)
        for (const [was, is] of delivery.changed) changes.set(was, is)
      }
    }
    return { messages, states: states.map(state => changes.get(state) ?? state) }
  }
  /** Whether the clock jumped since the last look, or nobody looked for long. */
  const noteLook = (now: number): boolean => {
    const isJump = lastLook !== null && (now < lastLook || now - lastLook > longest)
    if (isJump) settledAt = now + settleFor
    const isFirst = lastLook === null
    lastLook = now
    return isJump || isFirst
  }

  const look = async (): Promise<void> => {
    const now = clock()
    const isRestart = noteLook(now)
    const rules = rulesOf(await allRules(db.read))
    const stored = await recentStates(db.read, now - remembered)
    const knownStates = isRestart ? stored.map(state => ({ ...restarted(state, now), id: state.id })) : stored
    const byRule = Map.groupBy(knownStates, ({ rule }) => rule)
    const findingsNow = await findings(rules, now)
    const outcomes = rules.map(rule => step(rule, findingsNow.get(rule.id) ?? null, byRule.get(rule.id) ?? [], now))
    const delivery = tell(
      rules,
      outcomes.flatMap(({ next }) => next),
      await contextAt(now),
    )
    const before = new Map(stored.map(state => [`${state.rule} ${state.subject}`, state]))
    const differs = (state: AlertState) => {
      const was = before.get(`${state.rule} ${state.subject}`)
      return was === undefined || JSON.stringify({ ...was, ...state }) !== JSON.stringify(was)
    }
    const changed = delivery.states.filter(differs).map(state => ({ ...state, id: undefined }))
    const gone = outcomes.flatMap(outcome => outcome.gone)
    if (changed.length === 0 && gone.length === 0) return
    const isNew = (state: AlertState) => {
      const was = before.get(`${state.rule} ${state.subject}`)
      return was === undefined || (was.state === 'resolved' && state.state !== 'resolved')
    }
    await events.change(async change => {
      await saveStates(change.sql, changed.filter(isNew), true)
      await saveStates(
        change.sql,
        changed.filter(state => !isNew(state)),
        false,
      )
      await deleteStates(change.sql, gone)
      for (const { channels: ids, message } of delivery.messages) await outbox.queue(change, ids, message)
    })
  }
  return async () => {
    await look()
    await eventConditions.settle()
  }
}

/** How often the conditions are looked at. */
export const lookEvery = 2 * second
