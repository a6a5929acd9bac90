import { Suspense, lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { banStatsQuery } from '../fleet/queries.ts'
import { useKeys } from '../../kit/keys.ts'
import parts from '../../kit/parts.module.css'
import { usePhone } from '../../kit/width.ts'
import { Chips } from '../../kit/search/chips.tsx'
import type { Chip } from '../../kit/search/chips.tsx'
import type { Suggested, ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { conditionsOf } from '../../kit/search/terms.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { nameOf } from '../../lib/clip.ts'
import { shortDate } from '../../lib/time.ts'
import { bansTexts } from './bans.texts.ts'
import { countries, countryName } from '../../lib/countries.ts'
import { filterCount, ranges } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { language } from './matches.ts'
import { useFilter } from './narrowing.tsx'
import styles from './bans.module.css'

const FilterSheet = lazy(() => import('./filter-sheet.tsx'))

/** What fields may be completed with: from the rows that are shown, and from what is known of the fleet. */
const useValues = (rows: readonly Ban[]): ValuesOf => {
  const servers = useQuery(summaryQuery).data?.servers
  // As far as something else on the page has read them.
  const jails = useQuery({ ...banStatsQuery('month'), enabled: false }).data?.bans_by_jail
  const places = useMemo(() => countries().map(({ code, name }) => ({ value: code, label: name })), [])
  return field => {
    const seen = (of: (ban: Ban) => string | null, label?: (ban: Ban) => string | null): readonly Suggested[] => {
      const found = new Map<string, string>()
      for (const ban of rows) {
        const value = of(ban)
        if (value !== null && value !== '') found.set(value, label?.(ban) ?? '')
      }
      return [...found].map(([value, label]) => ({ value, label }))
    }
    switch (field) {
      case 'jail':
        return [...new Set([...(jails ?? []).map(({ jail }) => jail), ...rows.map(({ jail }) => jail)])]
          .sort()
          .map(value => ({ value }))
      case 'server':
        return (servers ?? []).map(({ hostname }) => ({ value: hostname }))
      case 'country':
        return places
      case 'ip':
        return seen(({ ip }) => ip)
      case 'city':
        return seen(({ city }) => city)
      case 'asn':
        return seen(
          ({ asn }) => asn?.replace(/^AS/, '') ?? null,
          ({ asn_org }) => asn_org,
        )
      case 'org':
        return seen(({ asn_org }) => asn_org)
      case 'by':
        return seen(({ banned_by }) => banned_by)
      default:
        return []
    }
  }
}

/** The search, the time, the other filters, and what is set of them. */
export const Filters = ({ rows }: { rows: readonly Ban[] }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const phone = usePhone()
  const [sheet, setSheet] = useState(false)
  const valuesOf = useValues(rows)
  useKeys(useMemo(() => [{ key: 'f', text: t.filters, act: () => setSheet(true) }], [t]))
  return (
    <div role="search" className={styles.search} aria-label={t.title}>
      <div className={styles.searchRow}>
        <SearchField
          language={language}
          value={search.q ?? ''}
          onApply={(q, replace) => filter({ q: q || undefined }, replace)}
          valuesOf={valuesOf}
          label={t.search}
          placeholder={phone ? t.searchShort : t.searchHelp}
        />
        {!phone && <Range onCustom={() => setSheet(true)} />}
        <Button
          variant="default"
          aria-haspopup="dialog"
          leftSection={<IconFilter size={16} />}
          onClick={() => setSheet(true)}
          className={styles.filterButton}
        >
          {phone ? t.filtersSet(filterCount(search)) : t.filters}
        </Button>
      </div>
      <AddressProblem />
      <SetFilters />
      {sheet && (
        <Suspense>
          <FilterSheet rows={rows} range={<Range />} onClose={() => setSheet(false)} />
        </Suspense>
      )}
    </div>
  )
}

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

/** The time, by name; another one than these is set among the filters. */
const Range = ({ onCustom }: { onCustom?: () => void }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const words = useRangeWords()
  const { from = '' } = search
  const named = from === '' || Object.keys(t.ranges).includes(from)
  return (
    <select
      className={`${parts.input} ${styles.range ?? ''}`}
      aria-label={t.range}
      value={from}
      onChange={event => {
        const { value } = event.currentTarget
        if (value === 'custom') onCustom?.()
        else filter({ from: value || undefined, to: undefined })
      }}
    >
      {!named && <option value={from}>{words.since(from)}</option>}
      {['', ...ranges, 'today'].map(value => (
        <option key={value} value={value}>
          {t.ranges[value as keyof typeof t.ranges]}
        </option>
      ))}
      {onCustom && <option value="custom">{t.custom}</option>}
    </select>
  )
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
    ...conditionsOf(q, language).map(({ text, rest }) => ({
      value: text,
      onRemove: () => filter({ q: rest || undefined }),
    })),
  ]
}
const SetFilters = () => <Chips chips={useSetFilters()} />
