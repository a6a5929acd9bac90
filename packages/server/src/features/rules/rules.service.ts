import { rules as contract } from '@stockade/contract'
import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, QueryOf, ReplyOf } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { day, hour } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, notFound } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import {
  conditionsOf,
  limitsOf,
  limitsWith,
  logicOf,
  rangesOf,
  usualConditions,
  usualLimits,
  withInput,
} from './conditions.ts'
import type { Limits, RuleNeeds } from './conditions.ts'
import { lookAtGuard } from './guard.ts'
import {
  allRules,
  armedRules,
  bansOfRules,
  countMatches,
  countRules,
  deleteMatches,
  deleteRule,
  findRule,
  forgetLate,
  findRuleNamed,
  insertRule,
  pageOfMatches,
  updateRule,
} from './rules.store.ts'
import type { RuleRow } from './rules.store.ts'
import { sourceOf } from './runner.ts'
import { rememberedFor } from './evaluator.ts'
import { simulate } from './simulation.ts'
import { viewMatch, viewRule, viewSimulation } from './views.ts'
import type { SharingConditions } from '../../db/tables/stored.ts'

type RuleChange = BodyOf<typeof contract.changeRule>

export interface RulesService {
  list(actor: Principal): Promise<ReplyOf<typeof contract.listRules>>
  read(actor: Principal, id: number): Promise<contract.Rule>
  /** @throws Problem 400, 409 where the name is taken or there are too many */
  create(actor: Principal, input: BodyOf<typeof contract.createRule>): Promise<contract.Rule>
  /** @throws Problem 409 for conditions of an armed rule */
  change(actor: Principal, id: number, input: RuleChange): Promise<contract.Rule>
  /** Answers the name. */
  remove(actor: Principal, id: number, isLifted: boolean): Promise<string>
  simulateInput(actor: Principal, input: BodyOf<typeof contract.simulateConditions>): Promise<contract.RuleSimulation>
  simulateRule(actor: Principal, id: number, days: number | undefined): Promise<contract.RuleSimulation>
  /** @throws Problem 409 unless it was simulated lately */
  arm(actor: Principal, id: number): Promise<contract.Rule>
  disarm(actor: Principal, id: number, isLifted: boolean): Promise<contract.Rule>
  matches(
    actor: Principal,
    id: number,
    query: QueryOf<typeof contract.listRuleMatches>,
  ): Promise<ReplyOf<typeof contract.listRuleMatches>>
  forgetOld(): Promise<void>
}

const usualDays = 30
/** A simulation looks back 30 days at most. */
const lateKept = 31 * day
/** A simulation describes the fleet at that time, so it expires. */
const simulationHolds = 24 * hour

export const createRules = (
  needs: RuleNeeds &
    StoreAccess & {
      readonly fleetBans: Pick<FleetBans, 'liftSource' | 'sets'>
      readonly runner: { skip(change: Pick<Change, 'sql'>): Promise<void> }
    },
): RulesService => {
  const { db, clock, events, fleetBans, targeting, names } = needs

  const ruleById = async (id: number): Promise<RuleRow> => {
    const row = await findRule(db.read, id)
    if (!row) throw notFound(`There is no sharing rule ${id}.`)
    return row
  }
  const view = async (actor: Principal, row: RuleRow): Promise<contract.Rule> =>
    viewRule(needs, actor, row, (await bansOfRules(db.read, clock() - 30 * day)).get(row.id) ?? 0)
  /** Whether a rule concerns servers that the caller sees. */
  const isVisible = (actor: Principal, row: RuleRow): boolean => {
    const { from, target } = conditionsOf(row)
    return [from, target].some(text => targeting.isVisible(actor, targetsOf(text)))
  }
  const visible = async (actor: Principal, id: number): Promise<RuleRow> => {
    const row = await ruleById(id)
    if (!isVisible(actor, row)) throw notFound(`There is no sharing rule ${id}.`)
    return row
  }
  const read = async (actor: Principal, id: number) => view(actor, await visible(actor, id))

  const conditionsFrom = (actor: Principal, before: SharingConditions, input: RuleChange): SharingConditions =>
    withInput(before, input, (path, target) => textOf(targeting.named(actor, target, path)))
  const record = (change: Change, name: RuleEvent, actor: Principal, row: RuleRow) => {
    const { target } = conditionsOf(row)
    const data = { id: row.id, name: row.name, ...targeting.describe(targetsOf(target)), ...summaryOf(row) }
    return change.record({ name, author: authorOf(actor), data })
  }
  const refuseTakenName = async (change: Pick<Change, 'sql'>, name: string, id: number | null) => {
    const other = await findRuleNamed(change.sql, name)
    if (other && other.id !== id) throw conflict(`There is a sharing rule with the name ${name}.`)
  }
  const liftIfAsked = async (change: Change, actor: Principal, id: number, isLifted: boolean) => {
    if (isLifted) await fleetBans.liftSource(change, sourceOf(id), authorOf(actor))
  }

  const run = async (actor: Principal, conditions: SharingConditions, limits: Limits, days = usualDays) => {
    await names.refresh()
    const guard = await lookAtGuard(needs)
    const excluded = rangesOf(limits.exclude)
    const targets = targetsOf(conditions.target)
    const to = clock()
    const simulated = await simulate(
      db,
      {
        logic: logicOf(0, conditions, limits, needs),
        isTargeted: no => targeting.concerns(targets, no),
        refusal: entry => guard(entry, excluded),
      },
      { from: to - days * day, to },
    )
    return viewSimulation(needs, actor, simulated)
  }

  return {
    async list(actor) {
      const banned = await bansOfRules(db.read, clock() - 30 * day)
      const rows = (await allRules(db.read)).filter(row => isVisible(actor, row))
      return { rules: rows.map(row => viewRule(needs, actor, row, banned.get(row.id) ?? 0)), total: rows.length }
    },
    read,
    async create(actor, { name: typed, ...input }) {
      const name = tame(typed, bounds.name * 4)
      const conditions = conditionsFrom(actor, usualConditions, input)
      const limits = limitsWith(usualLimits, input)
      const row = await events.change(async change => {
        admit(contract.createRule.leaves, { all: await countRules(change.sql) })
        await refuseTakenName(change, name, null)
        const now = clock()
        const added = await insertRule(change.sql, {
          name,
          conditions: jsonText(conditions),
          ...storedLimits(limits),
          state: 'draft',
          reason: null,
          simulation: null,
          simulated_at: null,
          armed_by: null,
          armed_at: null,
          created_by: actor.name,
          created_at: now,
          updated_at: now,
        })
        await record(change, 'rule.create', actor, added)
        return added
      })
      return view(actor, row)
    },
    async change(actor, id, { name: typed, ...input }) {
      await ruleById(id)
      const row = await events.change(async change => {
        const before = await findRule(change.sql, id)
        if (!before) throw notFound(`There is no sharing rule ${id}.`)
        if (before.state === 'armed') requireProof(actor)
        const name = typed === undefined ? before.name : tame(typed, bounds.name * 4)
        await refuseTakenName(change, name, id)
        const conditions = jsonText(conditionsFrom(actor, conditionsOf(before), input))
        const isOther = conditions !== before.conditions
        if (isOther && before.state === 'armed')
          throw conflict('This rule is armed. Disarm it before you change its conditions.')
        const after = await updateRule(change.sql, id, {
          name,
          conditions,
          ...storedLimits(limitsWith(limitsOf(before), input)),
          ...(isOther ? { state: 'draft', reason: null, simulation: null, simulated_at: null } : {}),
          updated_at: Math.max(clock(), before.updated_at + 1),
        })
        if (!after) throw notFound(`There is no sharing rule ${id}.`)
        await record(change, 'rule.update', actor, after)
        return after
      })
      return view(actor, row)
    },
    async remove(actor, id, isLifted) {
      const row = await ruleById(id)
      await events.change(async change => {
        if (!(await deleteRule(change.sql, id))) throw notFound(`There is no sharing rule ${id}.`)
        await liftIfAsked(change, actor, id, isLifted)
        await record(change, 'rule.delete', actor, row)
      })
      if (isLifted) await fleetBans.sets.catchUp()
      return row.name
    },
    simulateInput: (actor, { days, ...input }) =>
      run(actor, conditionsFrom(actor, usualConditions, input), limitsWith(usualLimits, input), days),
    async simulateRule(actor, id, days) {
      const before = await ruleById(id)
      const simulation = await run(actor, conditionsOf(before), limitsOf(before), days)
      await events.change(async change => {
        const row = await findRule(change.sql, id)
        // Somebody changed it while it was simulated: this says nothing of what it is now.
        if (!row || row.conditions !== before.conditions) return
        await updateRule(change.sql, id, {
          ...(row.state === 'draft' ? { state: 'simulated' } : {}),
          simulated_at: clock(),
          simulation: jsonText({
            days: days ?? usualDays,
            banned: simulation.banned,
            refused: simulation.refused,
            tripped: simulation.tripped_at !== null,
          }),
        })
      })
      return simulation
    },
    async arm(actor, id) {
      const row = await events.change(async change => {
        const before = await findRule(change.sql, id)
        if (!before) throw notFound(`There is no sharing rule ${id}.`)
        if (before.state === 'armed') return before
        if (before.simulated_at === null || before.simulated_at < clock() - simulationHolds)
          throw conflict('Simulate this rule first: a simulation of the last 24 hours must show what it does.')
        if ((await armedRules(change.sql)).length === 0) await needs.runner.skip(change)
        const after = await updateRule(change.sql, id, {
          state: 'armed',
          reason: null,
          armed_by: actor.name,
          armed_at: clock(),
          updated_at: Math.max(clock(), before.updated_at + 1),
        })
        await record(change, 'rule.arm', actor, after ?? before)
        return after ?? before
      })
      return view(actor, row)
    },
    async disarm(actor, id, isLifted) {
      await ruleById(id)
      const row = await events.change(async change => {
        const before = await findRule(change.sql, id)
        if (!before) throw notFound(`There is no sharing rule ${id}.`)
        await liftIfAsked(change, actor, id, isLifted)
        if (before.state !== 'armed' && before.state !== 'tripped') return before
        const after = await updateRule(change.sql, id, {
          state: before.simulated_at === null ? 'draft' : 'simulated',
          reason: null,
          armed_by: null,
          armed_at: null,
          updated_at: Math.max(clock(), before.updated_at + 1),
        })
        await record(change, 'rule.disarm', actor, after ?? before)
        return after ?? before
      })
      if (isLifted) await fleetBans.sets.catchUp()
      return view(actor, row)
    },
    async matches(actor, id, { outcome, page = 1, limit = 50 }) {
      await visible(actor, id)
      const rows = await pageOfMatches(db.read, id, outcome, (page - 1) * limit, limit)
      const total = await countMatches(db.read, id, outcome)
      return { matches: rows.map(row => viewMatch(needs, actor, row)), total, page, limit }
    },
    async forgetOld() {
      await deleteMatches(db.write, clock() - rememberedFor)
      await forgetLate(db.write, clock() - lateKept)
    },
  }
}

type RuleEvent = 'rule.create' | 'rule.update' | 'rule.delete' | 'rule.arm' | 'rule.disarm'

const storedLimits = ({ per_hour, standing, exclude }: Limits) => ({
  per_hour,
  standing,
  exclude: jsonText(exclude),
})
/** What the audit log tells of the conditions. */
const summaryOf = (row: RuleRow) => {
  const { min_servers, min_bans, within, duration } = conditionsOf(row)
  return { min_servers, min_bans, within, duration, per_hour: row.per_hour, standing: row.standing }
}
