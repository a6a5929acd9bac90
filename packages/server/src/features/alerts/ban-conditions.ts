import { day, hour, minute } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { saveRule } from './alerts.store.ts'
import { judgeBans, previewOf, usualFor } from './ban-sums.ts'
import type { Finding } from './kinds.ts'
import { createNearWhitelist } from './near-whitelist.ts'
import type { Rule } from './rules.ts'
import { banSeries, countryIdOf, jailIdOf, jailsAfter, networkSeries } from './sums.store.ts'
import type { BanSeries } from './sums.store.ts'

/** Rules of bans are judged once in so long. */
const lookEvery = minute
/** How far back the sums are read. */
const longest = usualFor + 2 * day

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

const isEventKind = (kind: Rule['kind']) => kind === 'new-jail' || kind === 'near-whitelist'
const isSumKind = (kind: Rule['kind']): kind is Kind => kind === 'bans-over' || kind === 'bans-unusual'

/** Rules of one's own over sums of bans. */
export const createBanConditions = (needs: {
  db: Database
  registry: Pick<Registry, 'all' | 'byNo'>
  targeting: Pick<Targeting, 'serversOf' | 'concerns'>
  mirror: Pick<Mirror, 'covers' | 'touches' | 'count'>
}): BanConditions => {
  const { db, registry, targeting } = needs
  const nearWhitelist = createNearWhitelist({
    ...needs,
    concerns: ({ targets }, serverNo) => targeting.concerns(targets, serverNo),
  })
  const networks = createNetworkSums(db)
  const judged = new Map<
    string,
    { readonly at: number; readonly mark: string; readonly found: readonly Finding[] | null }
  >()

  const hasJail = (name: string) => registry.all().some(({ jails }) => jails.some(jail => jail.name === name))
  /** Null where the jail or the country was never seen. */
  const seriesOf = async ({ targets, conditions }: Selection, now: number): Promise<BanSeries | null> => {
    const { jail, country, asn } = conditions
    const jailId = jail === undefined ? null : await jailIdOf(db.read, jail)
    const countryId = country === undefined ? null : await countryIdOf(db.read, country)
    if ((jail !== undefined && jailId === null) || (country !== undefined && countryId === null)) return null
    const servers = targets === 'all' ? null : targeting.serversOf(targets).map(({ row }) => row.no)
    if (asn !== undefined) return networks.seriesOf(asn, servers, now)
    return banSeries(db.scan, { jailId, countryId, servers }, now - longest)
  }
  const findBans = async (rule: Rule & { kind: Kind }, now: number): Promise<readonly Finding[]> => {
    const series = await seriesOf(rule, now)
    if (series === null) return []
    const { isOver, bans, limit } = judgeBans(rule.kind, rule.conditions, series, now)
    if (!isOver) return []
    const { jail, country, asn, window_hours: hours = 1 } = rule.conditions
    const what = [jail && `in ${jail}`, country && `from ${country}`, asn && `from AS${asn}`].filter(Boolean).join(' ')
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
    const added = await jailsAfter(db.read, db.engine, conditions.after_id ?? 0)
    const last = added.at(-1)
    if (!row || !last) return []
    await saveRule(db.write, row.id, { conditions: jsonText({ ...conditions, after_id: Number(last.id) }) })
    return added.map(({ name, server_no }) => ({
      subject: name,
      serverNo: server_no,
      title: `Bans of a new jail: ${name}`,
      detail: 'No server reported a ban of it before.',
      at: now,
    }))
  }

  return {
    isOf: ({ kind }) => isSumKind(kind) || isEventKind(kind),
    async find(rule, now) {
      const mark = JSON.stringify([rule.row?.updated_at, rule.kind])
      const last = judged.get(rule.id)
      if (last && last.mark === mark && now >= last.at && now - last.at < lookEvery)
        return isEventKind(rule.kind) ? [] : last.found
      const { kind } = rule
      // A search that was ended for its length keeps the state that there is.
      const looking = isSumKind(kind)
        ? findBans({ ...rule, kind }, now)
        : kind === 'near-whitelist'
          ? nearWhitelist.find(rule, now)
          : findJails(rule, now)
      const series = await looking.catch(() => null)
      judged.set(rule.id, { at: now, mark, found: series })
      return series
    },
    hasNoData: ({ kind, conditions }) => isSumKind(kind) && conditions.jail !== undefined && !hasJail(conditions.jail),
    async preview(kind, selection, now) {
      if (!isSumKind(kind)) return null
      const series = await seriesOf(selection, now)
      return series === null ? [] : previewOf(kind, selection.conditions, series, now)
    },
  }
}

/** Networks at a time whose sums are remembered. */
const mostNetworks = 200

/** The bans of networks by hours. After the first look only the last two hours are counted again, and every day all of them. */
const createNetworkSums = (db: Pick<Database, 'scan'>) => {
  const seriesByKey = new Map<string, { readonly at: number; series: BanSeries }>()
  return {
    async seriesOf(asn: number, servers: readonly number[] | null, now: number): Promise<BanSeries> {
      const key = `${asn} ${servers === null ? '' : servers.join()}`
      const before = seriesByKey.get(key)
      if (before === undefined || now < before.at || now - before.at > day) {
        const series = await networkSeries(db.scan, { asn, servers }, now - longest)
        if (seriesByKey.size >= mostNetworks) seriesByKey.delete([...seriesByKey.keys()][0] ?? '')
        seriesByKey.set(key, { at: now, series })
        return series
      }
      const fresh = await networkSeries(db.scan, { asn, servers }, now - hour)
      before.series = { ...before.series, counts: new Map([...before.series.counts, ...fresh.counts]) }
      return before.series
    },
  }
}
