import { day, minute } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import { saveRule } from './alerts.store.ts'
import { judgeBans, previewOf, usualFor } from './ban-sums.ts'
import type { Finding } from './kinds.ts'
import type { Rule } from './rules.ts'
import { banSeries, countryIdOf, jailIdOf, jailsAfter } from './sums.store.ts'
import type { BanSeries } from './sums.store.ts'

/** Rules of bans are judged once in so long. */
const lookEvery = minute

type Kind = 'bans-over' | 'bans-unusual'
type Selection = Pick<Rule, 'targets' | 'conditions'>

export interface BanConditions {
  isOf(rule: Pick<Rule, 'kind'>): boolean
  find(rule: Rule, now: number): Promise<readonly Finding[] | null>
  /** Whether what the rule names is gone, so that there is nothing to compare. */
  hasNoData(rule: Pick<Rule, 'kind' | 'conditions'>): boolean
  /** When a rule would have held in the last 7 days; null where no sums are kept. */
  preview(kind: Rule['kind'], selection: Selection, now: number): Promise<ReturnType<typeof previewOf> | null>
}

const isSumKind = (kind: Rule['kind']): kind is Kind => kind === 'bans-over' || kind === 'bans-unusual'

/** Rules of one's own over sums of bans. */
export const createBanConditions = (needs: {
  db: Database
  registry: Pick<Registry, 'all'>
  targeting: Pick<Targeting, 'serversOf'>
}): BanConditions => {
  const { db, registry, targeting } = needs
  const judged = new Map<
    string,
    { readonly at: number; readonly mark: string; readonly found: readonly Finding[] | null }
  >()

  const hasJail = (name: string) => registry.all().some(({ jails }) => jails.some(jail => jail.name === name))
  /** Null where the jail or the country was never seen. */
  const seriesOf = async ({ targets, conditions }: Selection, now: number): Promise<BanSeries | null> => {
    const { jail, country } = conditions
    const jailId = jail === undefined ? null : await jailIdOf(db.read, jail)
    const countryId = country === undefined ? null : await countryIdOf(db.read, country)
    if ((jail !== undefined && jailId === null) || (country !== undefined && countryId === null)) return null
    const servers = targets === 'all' ? null : targeting.serversOf(targets).map(({ row }) => row.no)
    return banSeries(db.scan, { jailId, countryId, servers }, now - usualFor - 2 * day)
  }
  const findBans = async (rule: Rule & { kind: Kind }, now: number): Promise<readonly Finding[]> => {
    const series = await seriesOf(rule, now)
    if (series === null) return []
    const { isOver, bans, limit } = judgeBans(rule.kind, rule.conditions, series, now)
    if (!isOver) return []
    const { jail, country, window_hours: hours = 1 } = rule.conditions
    const what = [jail && `in ${jail}`, country && `from ${country}`].filter(Boolean).join(' ')
    const span =
      series.step === day ? 'the last day' : rule.kind === 'bans-over' && hours > 1 ? `${hours} hours` : 'the last hour'
    return [
      {
        subject: 'bans',
        serverNo: null,
        title: `${rule.name}: ${bans} bans${what ? ` ${what}` : ''} in ${span}`,
        detail: `The limit is ${limit ?? 0}.`,
      },
    ]
  }
  const findJails = async (rule: Rule, now: number): Promise<readonly Finding[]> => {
    const { row, conditions } = rule
    const added = await jailsAfter(db.read, conditions.after_id ?? 0)
    const last = added.at(-1)
    if (!row || !last) return []
    await saveRule(db.write, row.id, { conditions: JSON.stringify({ ...conditions, after_id: Number(last.id) }) })
    return added.map(({ name }) => ({
      subject: name,
      serverNo: null,
      title: `Bans of a new jail: ${name}`,
      detail: 'No server reported a ban of it before.',
      at: now,
    }))
  }

  return {
    isOf: ({ kind }) => isSumKind(kind) || kind === 'new-jail',
    async find(rule, now) {
      const mark = JSON.stringify([rule.row?.updated_at, rule.kind])
      const last = judged.get(rule.id)
      if (last && last.mark === mark && now >= last.at && now - last.at < lookEvery)
        return rule.kind === 'new-jail' ? [] : last.found
      const { kind } = rule
      // A search that was ended for its length keeps the state that there is.
      const found = await (isSumKind(kind) ? findBans({ ...rule, kind }, now) : findJails(rule, now)).catch(() => null)
      judged.set(rule.id, { at: now, mark, found })
      return found
    },
    hasNoData: ({ kind, conditions }) => isSumKind(kind) && conditions.jail !== undefined && !hasJail(conditions.jail),
    async preview(kind, selection, now) {
      if (!isSumKind(kind)) return null
      const series = await seriesOf(selection, now)
      return series === null ? [] : previewOf(kind, selection.conditions, series, now)
    },
  }
}
