import type { BodyOf, QueryOf, ReplyOf } from '@stockade/contract'
import { alerts as contract, bounds, pages } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { day, iso, isoOrNull } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import { admit, creatorOf } from '../../core/leaving.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import { wallOf } from '../../core/wall.ts'
import type { Outbox } from '../channels/outbox.ts'
import { allRoutes } from '../channels/routes.store.ts'
import type { Registry } from '../servers/registry.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import {
  ackState,
  allRules,
  deleteSilence,
  findState,
  insertSilence,
  recentStates,
  silencesAt,
} from './alerts.store.ts'
import type { SilenceRow, StateRow } from './alerts.store.ts'
import { coverOf } from './covering.ts'
import { channelsFor, isSilenced } from './routing.ts'
import type { Silence } from './routing.ts'
import { rulesOf } from './rules.ts'
import type { Rule } from './rules.ts'

/** How long what is over is listed. */
export const listedFor = 7 * day
/** A silence that ends within so long needs no proof of identity, unless it is one of all servers. */
const unprovedSilence = day
/** How far ahead a silence may end. */
const longestSilence = 366 * day

export interface AlertsService {
  list(actor: Principal, query: QueryOf<typeof contract.listAlerts>): Promise<ReplyOf<typeof contract.listAlerts>>
  /** @throws Problem 404, 409 where it is over */
  ack(actor: Principal, id: number, note: string): Promise<ReplyOf<typeof contract.ackAlert>>
  silences(actor: Principal): Promise<ReplyOf<typeof contract.listAlertSilences>>
  /** @throws Problem 400, 403 outside the caller's access, 409 where there are too many */
  silence(
    actor: Principal,
    body: BodyOf<typeof contract.createAlertSilence>,
  ): Promise<ReplyOf<typeof contract.createAlertSilence>>
  endSilence(actor: Principal, id: number): Promise<{ message: string }>
}

const stateOrder = { firing: 0, pending: 1, resolved: 2, calm: 3 } as const
const severityOrder = { critical: 0, warning: 1, info: 2 } as const
const isVisible = (actor: Principal, { server_no }: Pick<StateRow, 'server_no'>): boolean =>
  server_no === null ? actor.servers === 'all' : sees(actor, server_no)

export const createAlerts = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'byNo'>
    targeting: Targeting
    settings: Pick<SettingsService, 'get'>
    outbox: Pick<Outbox, 'switchRoutes' | 'states'>
  },
): AlertsService => {
  const { db, clock, events, registry, targeting, settings, outbox } = needs

  const silencesNow = async (): Promise<Silence[]> =>
    (await silencesAt(db.read, clock())).map(({ rule, target }) => ({ rule, targets: targetsOf(target) }))
  const viewOf = (
    row: StateRow,
    all: readonly StateRow[],
    rules: ReadonlyMap<string, Rule>,
    silences: readonly Silence[],
  ) => {
    const server = row.server_no === null ? undefined : registry.byNo(row.server_no)
    return {
      id: row.id,
      rule: row.rule,
      rule_name: rules.get(row.rule)?.name ?? row.rule,
      kind: row.kind,
      severity: row.severity,
      state: row.state === 'calm' ? ('pending' as const) : row.state,
      flapping: row.flapping === 1,
      server: server ? { id: server.row.id, hostname: server.row.hostname } : null,
      title: row.title,
      detail: row.detail,
      since: iso(row.since),
      fired_at: isoOrNull(row.fired_at),
      resolved_at: isoOrNull(row.resolved_at),
      told_at: isoOrNull(row.told_at),
      channels: row.told_channels === null ? [] : [...parseJson(row.told_channels)],
      covered_by: coverOf(row, all)?.id ?? null,
      silenced: isSilenced(silences, row, targeting),
      acknowledged:
        row.acked_at === null ? null : { by: row.acked_by ?? '', at: iso(row.acked_at), note: row.ack_note ?? '' },
    }
  }
  /** Whether a channel that is on gets an alert now. */
  const hearing = async (): Promise<(row: StateRow) => boolean> => {
    const routes = [...(await allRoutes(db.read)), ...outbox.switchRoutes()]
    const active = await outbox.states()
    const { hour } = wallOf(clock(), settings.get('service.timezone'))
    return row => channelsFor(routes, row, hour, targeting).some(id => active.get(id) === true)
  }
  const ruleById = async () => new Map(rulesOf(await allRules(db.read)).map(rule => [rule.id, rule]))
  const silenceView = (actor: Principal, row: SilenceRow) => ({
    id: Number(row.id),
    rule: row.rule,
    target: targeting.view(actor, targetsOf(row.target)),
    reason: row.reason,
    ends_at: iso(row.ends_at),
    created_by: row.created_by,
    created_at: iso(row.created_at),
  })

  return {
    async list(actor, { state, severity, page = 1, limit = pages.alerts.default }) {
      const visible = (await recentStates(db.read, clock() - listedFor)).filter(
        row => row.state !== 'calm' && isVisible(actor, row),
      )
      const silences = await silencesNow()
      const open = visible.filter(row => row.state === 'firing' && row.acked_at === null && !coverOf(row, visible))
      const firing = { critical: 0, warning: 0, info: 0 }
      for (const row of open) firing[row.severity]++
      const isHeard = await hearing()
      // What is for information is listed, and told only where somebody asks for it.
      const unheard = open.filter(
        row => row.severity !== 'info' && !isSilenced(silences, row, targeting) && !isHeard(row),
      ).length
      const rows = visible
        .filter(
          row => (state === undefined || row.state === state) && (severity === undefined || row.severity === severity),
        )
        .sort(
          (a, b) =>
            stateOrder[a.state] - stateOrder[b.state] ||
            (a.state === 'resolved' ? 0 : severityOrder[a.severity] - severityOrder[b.severity]) ||
            (b.resolved_at ?? b.since) - (a.resolved_at ?? a.since) ||
            b.id - a.id,
        )
      const rules = await ruleById()
      const alerts = rows.slice((page - 1) * limit, page * limit).map(row => viewOf(row, visible, rules, silences))
      return { alerts, total: rows.length, page, limit, firing, unheard }
    },
    async ack(actor, id, note) {
      const alertState = await findState(db.read, id)
      if (!alertState || !isVisible(actor, alertState)) throw notFound(`There is no alert ${id}.`)
      const row = await events.change(async change => {
        const ack_note = tame(note, bounds.reason * 4)
        const done = await ackState(change.sql, id, { acked_by: actor.name, acked_at: clock(), ack_note })
        if (!done) throw conflict('This alert is over.')
        const data = { id, name: done.title, rule: done.rule }
        await change.record({
          name: 'alert.ack',
          author: authorOf(actor),
          data,
          ...(done.server_no === null ? {} : { serverNo: done.server_no }),
        })
        return done
      })
      return viewOf(row, await recentStates(db.read, clock() - listedFor), await ruleById(), await silencesNow())
    },
    async silences(actor) {
      const rows = (await silencesAt(db.read, clock())).filter(({ target }) =>
        targeting.isVisible(actor, targetsOf(target)),
      )
      return { silences: rows.map(row => silenceView(actor, row)), total: rows.length }
    },
    async silence(actor, { rule, target, reason, ends_at }) {
      const targets = targeting.named(actor, target)
      const at = clock()
      const end = Date.parse(ends_at)
      if (end <= at || end > at + longestSilence)
        throw invalid('ends_at', 'ends_at must be in the future, at most a year ahead.')
      if (targets === 'all' || end > at + unprovedSilence) requireProof(actor)
      const silencedRule = rule === undefined ? undefined : (await ruleById()).get(rule)
      if (rule !== undefined && !silencedRule) throw notFound(`There is no rule ${rule}.`)
      const words = tame(reason, bounds.reason * 4)
      const creator = creatorOf(actor)
      const row = await events.change(async change => {
        const standing = await silencesAt(change.sql, at)
        const own = standing.filter(silence => silence.creator === creator).length
        admit(contract.createAlertSilence.leaves, { all: standing.length, own }, actor)
        const newSilence = await insertSilence(change.sql, {
          rule: rule ?? null,
          target: textOf(targets),
          reason: words,
          ends_at: end,
          created_by: actor.name,
          creator,
          created_at: at,
        })
        await change.record({
          name: 'alert_silence.create',
          author: authorOf(actor),
          data: { name: silencedRule?.name ?? 'all', ...targeting.describe(targets), reason: words, ends_at: iso(end) },
        })
        return newSilence
      })
      return silenceView(actor, row)
    },
    async endSilence(actor, id) {
      const row = (await silencesAt(db.read, clock())).find(silence => Number(silence.id) === id)
      if (!row || !targeting.isVisible(actor, targetsOf(row.target))) throw notFound(`There is no silence ${id}.`)
      if (!targeting.isWithin(actor, targetsOf(row.target)))
        throw forbidden('This silence also concerns servers that you have no access to.')
      await events.change(async change => {
        if (!(await deleteSilence(change.sql, id))) throw notFound(`There is no silence ${id}.`)
        const data = { name: row.rule ?? 'all', reason: row.reason }
        await change.record({ name: 'alert_silence.delete', author: authorOf(actor), data })
      })
      return { message: 'The silence is over.' }
    },
  }
}
