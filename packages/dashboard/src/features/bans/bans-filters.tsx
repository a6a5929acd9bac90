import { lazy, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { banStatsQuery } from '../fleet/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useKeys } from '../../kit/keys.ts'
import parts from '../../kit/parts.module.css'
import { Select } from '../../kit/select.tsx'
import { usePhone } from '../../kit/width.ts'
import { Chips } from '../../kit/search/chips.tsx'
import type { Chip } from '../../kit/search/chips.tsx'
import type { Suggested, ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { conditionsOf, valueOf, withValue } from '../../kit/search/terms.ts'
import { Segmented } from '../../kit/segmented.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { nameOf } from '../../lib/clip.ts'
import { shortDate } from '../../lib/time.ts'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import { countries, countryName } from '../../lib/countries.ts'
import { AddChip, SelectChip } from './filter-chips.tsx'
import { ranges } from '../../lib/ranges.ts'
import { filterCount } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { language } from './matches.ts'
import { useFilter } from './narrowing.tsx'
import { ViewsMenu } from './views-menu.tsx'
import styles from './bans.module.css'

const FilterSheet = lazy(() => import('./filter-sheet.tsx'))

/** What of a row fields can be completed with. */
export interface Seen {
  readonly ip: string
  readonly jails: readonly string[]
  readonly asn: string | null
  readonly org: string | null
  readonly city: string | null
  readonly by: string | null
}
export const seenBans = (bans: readonly Ban[]): readonly Seen[] =>
  bans.map(({ ip, jail, asn, asn_org, city, banned_by }) => ({
    ip,
    jails: [jail],
    asn,
    org: asn_org,
    city,
    by: banned_by,
  }))

/** What fields may be completed with: from the rows that are shown, and from what is known of the fleet. */
const useValues = (rows: readonly Seen[]): ValuesOf => {
  const servers = useQuery(summaryQuery).data?.servers
  // As far as something else on the page has read them.
  const jails = useQuery({ ...banStatsQuery('month'), enabled: false }).data?.bans_by_jail
  const places = useMemo(() => countries().map(({ code, name }) => ({ value: code, label: name })), [])
  return field => {
    const suggestionsOf = (
      of: (row: Seen) => string | null,
      label?: (row: Seen) => string | null,
    ): readonly Suggested[] => {
      const labelByValue = new Map<string, string>()
      for (const row of rows) {
        const value = of(row)
        if (value !== null && value !== '') labelByValue.set(value, label?.(row) ?? '')
      }
      return [...labelByValue].map(([value, label]) => ({ value, label }))
    }
    switch (field) {
      case 'jail':
        return [...new Set([...(jails ?? []).map(({ jail }) => jail), ...rows.flatMap(row => row.jails)])]
          .sort()
          .map(value => ({ value }))
      case 'server':
        return (servers ?? []).map(({ hostname }) => ({ value: hostname }))
      case 'country':
        return places
      case 'ip':
        return suggestionsOf(({ ip }) => ip)
      case 'city':
        return suggestionsOf(({ city }) => city)
      case 'asn':
        return suggestionsOf(
          ({ asn }) => asn?.replace(/^AS/, '') ?? null,
          ({ org }) => org,
        )
      case 'org':
        return suggestionsOf(({ org }) => org)
      case 'by':
        return suggestionsOf(({ by }) => by)
      default:
        return []
    }
  }
}

/** The search, the state, the time, the other filters, and what is set of them. */
export const Filters = ({ rows, children }: { rows: readonly Seen[]; children?: ReactNode }) => {
  const t = textsOf(bansTexts)
  const words = textsOf(attackersTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const phone = usePhone()
  const [sheet, setSheet] = useState(false)
  const valuesOf = useValues(rows)
  useKeys(useMemo(() => [{ key: 'f', text: t.filters, act: () => setSheet(true) }], [t]))
  const field = (
    <SearchField
      language={language}
      value={search.q ?? ''}
      onApply={(q, replace) => filter({ q: q || undefined }, replace)}
      valuesOf={valuesOf}
      label={t.search}
      placeholder={t.searchHelp}
    />
  )
  return (
    <div role="search" className={styles.search} aria-label={t.title}>
      {phone && field}
      <div className={styles.searchRow}>
        <Segmented
          label={words.show}
          value={search.by ?? 'attackers'}
          options={[
            { value: 'attackers', text: words.attackers },
            { value: 'bans', text: words.single },
          ]}
          onChange={by => filter({ by: by === 'bans' ? by : undefined, sort: undefined })}
        />
        {!phone && field}
        {!phone && <StateChip />}
        <TimeChip onCustom={() => setSheet(true)} />
        {phone && <StateChip />}
        <AddChip onClick={() => setSheet(true)}>{phone ? t.filtersSet(filterCount(search)) : t.filters}</AddChip>
        <ViewsMenu />
        {children}
      </div>
      <AddressProblem />
      <SetFilters />
      {sheet && (
        <Dialogs>
          <FilterSheet jails={rows.flatMap(row => row.jails)} range={<Range />} onClose={() => setSheet(false)} />
        </Dialogs>
      )}
    </div>
  )
}

const StateChip = () => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const { q = '', active } = search
  const value = valueOf(q, language, 'state') ?? (active === 'true' ? 'active' : active === 'false' ? 'over' : '')
  const names: Readonly<Record<string, string>> = { ...t.states, ...(active === 'false' ? { over: t.over } : {}) }
  return (
    <SelectChip
      name={t.state}
      value={value}
      shown={names[value] ?? (value || textsOf(attackersTexts).any)}
      options={[
        { value: '', text: t.allStates },
        ...Object.entries(names).map(([name, text]) => ({ value: name, text })),
        ...(value !== '' && names[value] === undefined ? [{ value, text: value }] : []),
      ]}
      onValue={next =>
        filter(latest => ({ active: undefined, q: withValue(latest.q ?? '', language, 'state', next) || undefined }))
      }
    />
  )
}

/** The named ranges, and another one where the address has it; `onCustom` asks for a beginning and an end. */
const useRanges = (onCustom?: () => void) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const words = useRangeWords()
  const { from = '' } = search
  const isNamed = Object.keys(t.ranges).includes(from)
  return {
    value: from,
    shown: from === '' ? t.ranges[''] : words.since(from),
    options: [
      ...(isNamed ? [] : [{ value: from, text: words.since(from) }]),
      ...(['', ...ranges, 'today'] as const).map(value => ({ value, text: t.ranges[value] })),
      ...(onCustom ? [{ value: 'custom', text: t.custom }] : []),
    ],
    onValue: (value: string) =>
      value === 'custom' ? onCustom?.() : filter({ from: value || undefined, to: undefined }),
  }
}
const TimeChip = ({ onCustom }: { onCustom: () => void }) => (
  <SelectChip name={textsOf(bansTexts).range} {...useRanges(onCustom)} />
)

/** A link may bring an address that is none. */
const AddressProblem = () => {
  const { ip } = useSearch({ from: '/inside/bans' })
  return ip && !readRange(ip) ? (
    <p className={parts.error} role="status">
      {textsOf(bansTexts).wrongAddress}
    </p>
  ) : null
}

/** The words for a range that `from` names. */
const useRangeWords = () => {
  const t = textsOf(bansTexts)
  const [now] = useState(() => Date.now())
  const at = (iso: string) => shortDate(Date.parse(iso), now)
  return {
    since: (from: string) =>
      from.startsWith('now-') || from === 'today'
        ? (Object.entries(t.ranges).find(([range]) => range === from)?.[1] ?? t.otherRange(from.replace('now-', '')))
        : t.since(at(from)),
    until: (to: string) => t.until(at(to)),
  }
}

/** The time by name, among the filters of the dialog. */
const Range = () => {
  return <Select className={`${parts.input} ${styles.range ?? ''}`} label={textsOf(bansTexts).range} {...useRanges()} />
}

/** A search without one of its conditions; undefined where nothing is left. */
const without = (query: string, text: string): string | undefined => {
  const condition = conditionsOf(query, language).find(one => one.text === text)
  return (condition ? condition.rest : query) || undefined
}
/** What is set, each to be removed by itself: filters of the address of the page, and the conditions of the search. */
export const useSetFilters = (): readonly Chip[] => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const words = useRangeWords()
  const servers = useQuery(summaryQuery).data?.servers
  const { server, jail, ip, country, active, asn, from, to, page, q = '' } = search
  const chips: readonly [string, string | undefined, Partial<BansSearch>][] = [
    [t.address, ip, { ip: undefined }],
    [t.server, server && nameOf(servers?.find(({ id }) => id === server)?.hostname ?? server), { server: undefined }],
    [t.jail, jail, { jail: undefined }],
    [t.country, country && countryName(country), { country: undefined }],
    [t.network, asn, { asn: undefined }],
    [t.state, active && (active === 'true' ? t.active : t.over), { active: undefined }],
    [t.range, from && words.since(from), { from: undefined }],
    // Further pages are pinned; that is no filter which somebody set.
    [t.range, to && !page ? words.until(to) : undefined, { to: undefined }],
  ]
  return [
    ...chips.flatMap(([name, value, change]) => (value ? [{ name, value, onRemove: () => filter(change) }] : [])),
    ...conditionsOf(q, language).map(({ text }) => ({
      value: text,
      onRemove: () => filter(({ q: latest = '' }) => ({ q: without(latest, text) })),
    })),
  ]
}
/** State and time have chips of their own. */
const SetFilters = () => {
  const { range, state } = textsOf(bansTexts)
  const { to, page } = useSearch({ from: '/inside/bans' })
  const isPinned = to !== undefined && page === undefined
  const chips = useSetFilters().filter(
    ({ name, value }) => name !== state && (name !== range || isPinned) && !/^state:\w+$/.test(value),
  )
  return <Chips chips={chips} />
}
