import type { BodyOf, ReplyOf } from '@stockade/contract'
import { alerts as contract, banKinds } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, second } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Outbox } from '../channels/outbox.ts'
import { allRoutes, replaceRoutes } from '../channels/routes.store.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import { listedFor } from './alerts.service.ts'
import { allRules, deleteRuleRow, deleteStatesOf, insertRule, recentStates, saveRule } from './alerts.store.ts'
import type { StateRow } from './alerts.store.ts'
import type { BanConditions } from './ban-conditions.ts'
import { kindDefaults } from './kinds.ts'
import { rulesOf } from './rules.ts'
import type { Rule } from './rules.ts'
import { lastBanId, lastJailId } from './sums.store.ts'
import type { StoredRoute } from '../../db/tables/stored.ts'

type RuleBody = BodyOf<typeof contract.createAlertRule>

export interface RulesService {
  list(actor: Principal): Promise<ReplyOf<typeof contract.listAlertRules>>
  /** @throws Problem 400, 409 where there are too many */
  create(actor: Principal, body: RuleBody): Promise<contract.AlertRule>
  /** @throws Problem 404, 409 for the name or the conditions of a built-in rule */
  change(actor: Principal, id: string, body: BodyOf<typeof contract.updateAlertRule>): Promise<contract.AlertRule>
  remove(actor: Principal, id: string): Promise<{ message: string }>
  preview(actor: Principal, body: RuleBody): Promise<ReplyOf<typeof contract.previewAlertRule>>
  routes(actor: Principal): Promise<ReplyOf<typeof contract.getAlertRoutes>>
  /** @throws Problem 400 where a channel or a rule is unknown */
  setRoutes(
    actor: Principal,
    body: BodyOf<typeof contract.putAlertRoutes>,
  ): Promise<ReplyOf<typeof contract.getAlertRoutes>>
}

const isOfBans = (kind: Rule['kind']) => banKinds.some(ofBans => ofBans === kind)
const checkConditions = (kind: Rule['kind'], conditions: RuleBody['conditions'] = {}) => {
  if (!isOfBans(kind) && Object.keys(conditions).length > 0)
    throw invalid('conditions', `conditions are for ${banKinds.join(', ')}.`)
  if (kind === 'bans-over' && conditions.threshold === undefined)
    throw invalid('conditions.threshold', 'conditions.threshold is needed for bans-over.')
  const one = (['jail', 'country', 'asn'] as const).filter(name => conditions[name] !== undefined)
  if (one.length > 1)
    throw invalid(
      `conditions.${one.at(-1)}`,
      'A rule compares one jail, one country or one network: there are no sums of two of them.',
    )
}
const nameOf = (name: string) => {
  const plain = name.replace(/\s+/g, ' ').trim()
  if (plain === '' || /\p{Cc}/u.test(plain)) throw invalid('name', 'name must be one line of text.')
  return plain
}

/** The columns of a rule after a change. */
const changedRow = (rule: Rule, body: BodyOf<typeof contract.updateAlertRule>) => {
  const { after_id } = rule.conditions
  const quiet = body.quiet_hours === undefined ? rule.quiet : body.quiet_hours
  const conditions = body.conditions ?? rule.conditions
  return {
    name: body.name === undefined ? rule.name : nameOf(body.name),
    severity: body.severity ?? rule.severity,
    for_seconds: body.for_seconds ?? Math.round(rule.for / second),
    enabled: (body.enabled ?? rule.isOn) ? 1 : 0,
    recovery: (body.recovery ?? rule.recovery) ? 1 : 0,
    quiet_hours: quiet === null ? null : jsonText(quiet),
    conditions: jsonText(after_id === undefined ? conditions : { ...conditions, after_id }),
  }
}

export const createRules = (
  needs: StoreAccess & {
    targeting: Targeting
    outbox: Pick<Outbox, 'states' | 'switchRoutes'>
    banConditions: BanConditions
  },
): RulesService => {
  const { db, clock, events, targeting, outbox, banConditions } = needs

  const allOf = async () => rulesOf(await allRules(db.read))
  const ruleOf = async (id: string): Promise<Rule> => {
    const rule = (await allOf()).find(known => known.id === id)
    if (!rule) throw notFound(`There is no rule ${id}.`)
    return rule
  }
  const stateOf = (rule: Rule, own: readonly StateRow[]): contract.AlertRule['state'] => {
    if (!rule.isOn) return 'off'
    if (own.some(({ state }) => state === 'firing')) return 'firing'
    if (banConditions.hasNoData(rule)) return 'no_data'
    return own.some(({ state }) => state === 'pending') ? 'pending' : 'calm'
  }
  const viewOf = (actor: Principal, rule: Rule, states: readonly StateRow[]): contract.AlertRule => {
    const own = states.filter(
      ({ rule: id, server_no }) =>
        id === rule.id && (server_no === null ? actor.servers === 'all' : sees(actor, server_no)),
    )
    const { after_id: _, ...conditions } = rule.conditions
    return {
      id: rule.id,
      builtin: rule.isBuiltin,
      name: rule.name,
      kind: rule.kind,
      severity: rule.severity,
      target: targeting.view(actor, rule.targets),
      for_seconds: rule.for / second,
      enabled: rule.isOn,
      recovery: rule.recovery,
      quiet_hours: rule.quiet,
      conditions,
      state: stateOf(rule, own),
      firing: own.filter(({ state }) => state === 'firing').length,
    }
  }
  const statesNow = () => recentStates(db.read, clock() - listedFor)
  const routeView = (actor: Principal, route: StoredRoute): contract.AlertRoute => ({
    severities: [...route.severities],
    rules: [...route.rules],
    hours: route.hours,
    channels: [...route.channels],
    target: targeting.view(actor, targetsOf(route.target)),
  })
  const routesView = async (actor: Principal) => ({
    routes: (await allRoutes(db.read)).map(route => routeView(actor, route)),
    switches: outbox.switchRoutes().map(route => routeView(actor, route)),
  })

  return {
    async list(actor) {
      const states = await statesNow()
      const visible = (await allOf()).filter(({ targets }) => targeting.isVisible(actor, targets))
      const rules = visible.map(rule => viewOf(actor, rule, states))
      return { rules, total: rules.length }
    },
    async create(actor, body) {
      const { kind, conditions = {} } = body
      checkConditions(kind, conditions)
      admit(contract.createAlertRule.leaves, { all: (await allOf()).filter(({ isBuiltin }) => !isBuiltin).length })
      const usual = kindDefaults[kind]
      const targets = targeting.named(actor, body.target ?? { all: true })
      const at = clock()
      const name = nameOf(body.name)
      // Only jails and bans of later on are new.
      const after_id =
        kind === 'new-jail'
          ? await lastJailId(db.read)
          : kind === 'near-whitelist'
            ? await lastBanId(db.read)
            : undefined
      const stored = after_id === undefined ? conditions : { ...conditions, after_id }
      const row = await events.change(async change => {
        const newRule = await insertRule(change.sql, {
          builtin: null,
          name,
          kind,
          severity: body.severity ?? usual.severity,
          target: textOf(targets),
          for_seconds: body.for_seconds ?? usual.for,
          enabled: body.enabled === false ? 0 : 1,
          recovery: (body.recovery ?? usual.isEvent !== true) ? 1 : 0,
          quiet_hours: body.quiet_hours ? jsonText(body.quiet_hours) : null,
          conditions: jsonText(stored),
          created_at: at,
          updated_at: at,
        })
        await change.record({ name: 'alert_rule.create', author: authorOf(actor), data: { name, kind, ...conditions } })
        return newRule
      })
      return viewOf(actor, await ruleOf(String(row.id)), [])
    },
    async change(actor, id, body) {
      const rule = await ruleOf(id)
      if (rule.isBuiltin && (body.name !== undefined || body.conditions !== undefined))
        throw conflict('Name and conditions of a built-in rule stay as they are. Add a rule instead.')
      if (body.conditions) checkConditions(rule.kind, body.conditions)
      const targets = body.target ? targeting.named(actor, body.target) : rule.targets
      const at = clock()
      const set = { ...changedRow(rule, body), target: textOf(targets), updated_at: at }
      const { name } = set
      await events.change(async change => {
        const done = rule.row
          ? await saveRule(change.sql, rule.row.id, set)
          : await insertRule(change.sql, { ...set, builtin: rule.id, kind: rule.kind, created_at: at })
        if (!done) throw notFound(`There is no rule ${id}.`)
        // What it found by its old conditions means nothing under the new ones.
        if (set.enabled === 0 || body.conditions || body.target) await deleteStatesOf(change.sql, rule.id)
        await change.record({
          name: 'alert_rule.update',
          author: authorOf(actor),
          data: { name, kind: rule.kind, fields: Object.keys(body) },
        })
      })
      return viewOf(actor, await ruleOf(id), await statesNow())
    },
    async remove(actor, id) {
      const rule = await ruleOf(id)
      if (rule.isBuiltin || !rule.row) throw conflict('A built-in rule can be switched off, not deleted.')
      const { row } = rule
      await events.change(async change => {
        if (!(await deleteRuleRow(change.sql, row.id))) throw notFound(`There is no rule ${id}.`)
        await deleteStatesOf(change.sql, rule.id)
        await change.record({ name: 'alert_rule.delete', author: authorOf(actor), data: { name: rule.name } })
      })
      return { message: 'The rule is deleted.' }
    },
    async preview(actor, { kind, conditions = {}, target }) {
      checkConditions(kind, conditions)
      const targets = targeting.named(actor, target ?? { all: true })
      const times = await banConditions.preview(kind, { targets, conditions }, clock())
      return {
        supported: times !== null,
        times: (times ?? []).map(({ from, to, highest }) => ({ from: iso(from), to: iso(to), highest })),
      }
    },
    routes: routesView,
    async setRoutes(actor, { routes }) {
      const queueStates = await outbox.states()
      const rules = new Set((await allOf()).map(({ id }) => id))
      const contents = routes.map(({ target, ...route }, index): StoredRoute => {
        const channel = route.channels.find(id => !queueStates.has(id))
        if (channel !== undefined) throw invalid(`routes.${index}.channels`, `There is no channel ${channel}.`)
        const rule = route.rules.find(id => !rules.has(id))
        if (rule !== undefined) throw invalid(`routes.${index}.rules`, `There is no rule ${rule}.`)
        const targets = targeting.named(actor, target ?? { all: true }, `routes.${index}.target`)
        return { ...route, target: textOf(targets) }
      })
      await events.change(async change => {
        await replaceRoutes(change.sql, contents)
        await change.record({
          name: 'alert_routes.update',
          author: authorOf(actor),
          data: { routes: contents.length, channels: [...new Set(routes.flatMap(({ channels: ids }) => ids))] },
        })
      })
      return routesView(actor)
    },
  }
}
