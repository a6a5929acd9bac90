import { createContext, useContext, useId, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconFilter, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { jailsQuery, summaryQuery } from '../../api/queries.ts'
import parts from '../../parts/parts.module.css'
import { useTyped } from '../../parts/typed.ts'
import { usePhone } from '../../parts/width.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { readRange } from '../../words/address.ts'
import { shortDate } from '../../words/time.ts'
import { bansTexts } from './bans.texts.ts'
import { countries, countryName } from './countries.ts'
import { filterCount, ranges } from './filter.ts'
import type { BansSearch } from './filter.ts'
import styles from './bans.module.css'
import { nameOf } from '../../words/clip.ts'

const Fixed = createContext<BansSearch | null>(null)
/** Filters of a list of bans that stands on another page; a value that is clicked there leads to the page of bans. */
export const FixedSearch = Fixed.Provider
/** What the list is filtered by: as the URL says, or as the page that holds it. */
export const useBansSearch = (): BansSearch => {
  const fixed = useContext(Fixed)
  const search = useSearch({ from: '/inside/bans', shouldThrow: false })
  return fixed ?? search ?? {}
}

/** Another filter begins at the first page, of now. */
export const useFilter = () => {
  const search = useBansSearch()
  const navigate = useNavigate()
  return (change: Partial<BansSearch>, replace = false) =>
    void navigate({
      to: '/bans',
      search: {
        ...search,
        // A pin belongs to the pages of the list that it was made for.
        ...(search.page && !('to' in change) ? { to: undefined } : {}),
        ...change,
        page: undefined,
      },
      replace,
    })
}

export const Filters = ({ jails }: { jails: readonly string[] }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const phone = usePhone()
  const [open, setOpen] = useState(false)
  const id = useId()
  const count = filterCount(search)
  return (
    <div role="search" className={styles.search}>
      <div className={styles.searchRow}>
        <AddressFilter />
        {phone && (
          <Button
            variant="default"
            aria-expanded={open}
            aria-controls={id}
            leftSection={<IconFilter size={16} />}
            onClick={() => setOpen(!open)}
            className={styles.filterButton}
          >
            {t.filtersSet(count)}
          </Button>
        )}
        {(!phone || open) && (
          <div className={styles.selects} id={id}>
            <Selects seen={jails} />
          </div>
        )}
      </div>
      <Chips />
    </div>
  )
}

/** The address is sent on Enter, or a moment after the typing stops. */
const AddressFilter = () => {
  const t = textsOf(bansTexts)
  const { ip = '' } = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const id = useId()
  const { typed, trimmed, valid, setTyped, apply } = useTyped(ip, text => filter({ ip: text || undefined }, true), {
    wait: 400,
    valid: text => text === '' || readRange(text) !== null,
  })
  const wrong = !valid
  return (
    <form
      className={styles.address}
      onSubmit={event => {
        event.preventDefault()
        apply()
      }}
    >
      <input
        className={parts.input}
        type="search"
        aria-label={t.search}
        placeholder={t.searchHelp}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        dir="ltr"
        value={typed}
        aria-invalid={(wrong && ip === trimmed) || undefined}
        aria-describedby={wrong ? id : undefined}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      {wrong && ip === trimmed && (
        <p id={id} className={parts.error} role="status">
          {t.wrongAddress}
        </p>
      )}
    </form>
  )
}

const Selects = ({ seen }: { seen: readonly string[] }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const ofServer = useQuery({ ...jailsQuery(search.server ?? ''), enabled: search.server !== undefined }).data?.jails
  const jails = [
    ...new Set([...(search.jail ? [search.jail] : []), ...(ofServer ?? []).map(jail => jail.name), ...seen]),
  ].sort()
  const all = useMemo(() => countries(), [])
  const [custom, setCustom] = useState(false)
  const known = ranges.some(range => range === search.from)
  const absolute = search.from !== undefined && !search.from.startsWith('now-')
  return (
    <>
      <select
        className={parts.input}
        aria-label={t.server}
        value={search.server ?? ''}
        onChange={event => filter({ server: event.currentTarget.value || undefined })}
      >
        <option value="">{t.allServers}</option>
        {servers.map(server => (
          <option key={server.id} value={server.id}>
            {nameOf(server.hostname)}
          </option>
        ))}
      </select>
      <select
        className={parts.input}
        aria-label={t.jail}
        value={search.jail ?? ''}
        onChange={event => filter({ jail: event.currentTarget.value || undefined })}
      >
        <option value="">{t.allJails}</option>
        {jails.map(jail => (
          <option key={jail}>{jail}</option>
        ))}
      </select>
      <select
        className={parts.input}
        aria-label={t.country}
        value={search.country ?? ''}
        onChange={event => filter({ country: event.currentTarget.value || undefined })}
      >
        <option value="">{t.allCountries}</option>
        {all.map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
      <select
        className={parts.input}
        aria-label={t.state}
        value={search.active ?? ''}
        onChange={event => {
          const { value } = event.currentTarget
          filter({ active: value === 'true' || value === 'false' ? value : undefined })
        }}
      >
        <option value="">{t.allStates}</option>
        <option value="true">{t.active}</option>
        <option value="false">{t.over}</option>
      </select>
      <select
        className={parts.input}
        aria-label={t.range}
        value={custom || absolute ? 'custom' : (search.from ?? '')}
        onChange={event => {
          const { value } = event.currentTarget
          setCustom(value === 'custom')
          if (value !== 'custom') filter({ from: value || undefined, to: undefined })
        }}
      >
        {search.from && !known && !absolute && (
          <option value={search.from}>{t.otherRange(search.from.replace('now-', ''))}</option>
        )}
        {Object.entries(t.ranges).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {(custom || absolute) && (
        <>
          <Moment label={t.from} value={absolute ? search.from : undefined} onValue={from => filter({ from })} />
          <Moment label={t.to} value={search.to} onValue={to => filter({ to })} />
        </>
      )}
    </>
  )
}

const local = (iso: string) => {
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
const Moment = (props: { label: string; value: string | undefined; onValue: (value: string | undefined) => void }) => (
  <label className={styles.moment}>
    <span className={parts.help}>{props.label}</span>
    <input
      className={parts.input}
      type="datetime-local"
      value={props.value ? local(props.value) : ''}
      onChange={event => {
        const at = new Date(event.currentTarget.value)
        props.onValue(Number.isNaN(at.getTime()) ? undefined : at.toISOString())
      }}
    />
  </label>
)

/** What is set, each to be removed by itself. */
const Chips = () => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const servers = useQuery(summaryQuery).data?.servers
  const [now] = useState(() => Date.now())
  const at = (iso: string) => shortDate(Date.parse(iso), now)
  const chips: [string, string | undefined, Partial<BansSearch>][] = [
    [t.search, search.ip, { ip: undefined }],
    [
      t.server,
      search.server && nameOf(servers?.find(({ id }) => id === search.server)?.hostname ?? search.server),
      { server: undefined },
    ],
    [t.jail, search.jail, { jail: undefined }],
    [t.country, search.country && countryName(search.country), { country: undefined }],
    [t.state, search.active && (search.active === 'true' ? t.active : t.over), { active: undefined }],
    [
      t.range,
      search.from &&
        (search.from.startsWith('now-')
          ? (Object.entries(t.ranges).find(([range]) => range === search.from)?.[1] ??
            t.otherRange(search.from.replace('now-', '')))
          : `${t.from} ${at(search.from)}`),
      { from: undefined },
    ],
    [t.range, search.to && t.until(at(search.to)), { to: undefined }],
  ]
  const set = chips.filter(([, value]) => value)
  if (set.length === 0) return null
  return (
    <ul className={styles.chips}>
      {set.map(([name, value, change]) => (
        <li key={`${name} ${value ?? ''}`}>
          <button type="button" className={parts.chip} onClick={() => filter(change)}>
            <span className={parts.hidden}>{t.remove}</span>
            <span className={parts.muted}>{name}</span>
            <bdi>{value}</bdi>
            <IconX size={14} />
          </button>
        </li>
      ))}
    </ul>
  )
}
