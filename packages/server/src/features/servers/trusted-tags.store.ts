import { matchesValue, parseQuery, queryFields, termsOf } from '@stockade/contract'
import type { Kysely } from 'kysely'
import { parseJson } from '../../core/json-text.ts'
import type { Schema } from '../../db/schema.ts'
import { targetsOf } from './targets.ts'

/*
 * Tags that something trusts: who gives a server such a tag decides whose reports are believed, what it is given, and who hears of it. The objects belong to
 * features above this one; of them only their targets are read.
 */

type Sql = Kysely<Schema>

const isNamedBy =
  (tag: string) =>
  (target: string): boolean => {
    const targets = targetsOf(target)
    return targets !== 'all' && targets.tags.has(tag)
  }
const isSearchedBy =
  (tag: string) =>
  (q: string): boolean => {
    const parsed = parseQuery(q, queryFields.bans)
    if (!parsed.ok) return false
    const terms = termsOf(parsed.tree).filter(({ term }) => term.field === 'tag')
    return terms.some(({ term }) => term.values.some(value => matchesValue(value, tag, true)))
  }
const targetsIn = async (
  sql: Sql,
  table: 'blocklists' | 'alert_rules' | 'report_schedules',
): Promise<readonly string[]> =>
  (await sql.selectFrom(table).select('target').distinct().where('target', 'like', '{%').execute()).map(
    ({ target }) => target,
  )

/** Of these tags those that something names, each with the first kind of what does. */
export const trustedTags = async (
  sql: Sql,
  tags: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, string>> => {
  const rules = await sql.selectFrom('rules').select('conditions').execute()
  const bans = await sql
    .selectFrom('fleet_bans')
    .select('target')
    .distinct()
    .where('ended_at', 'is', null)
    .where('target', 'like', '{%')
    .execute()
  const routes = await sql.selectFrom('alert_routes').select('content').execute()
  const silences = await sql.selectFrom('alert_silences').select('target').where('ends_at', '>', now).execute()
  const feeds = await sql.selectFrom('feeds').select('contents').execute()
  const targetsByUse: readonly (readonly [what: string, targets: readonly string[]])[] = [
    [
      'a sharing rule',
      rules.map(({ conditions }) => parseJson(conditions)).flatMap(({ from, target }) => [from, target]),
    ],
    ['a blocklist', await targetsIn(sql, 'blocklists')],
    ['a fleet ban', bans.map(({ target }) => target)],
    ['an alert rule', await targetsIn(sql, 'alert_rules')],
    ['an alert route', routes.map(({ content }) => parseJson(content).target)],
    ['a silence', silences.map(({ target }) => target)],
    ['a report', await targetsIn(sql, 'report_schedules')],
  ]
  const searches = feeds.flatMap(({ contents }) => parseJson(contents).q ?? [])
  const useByTag = new Map<string, string>()
  for (const tag of tags) {
    const by = targetsByUse.find(([, targets]) => targets.some(isNamedBy(tag)))?.[0]
    const what = by ?? (searches.some(isSearchedBy(tag)) ? 'a feed' : null)
    if (what !== null) useByTag.set(tag, what)
  }
  return useByTag
}
