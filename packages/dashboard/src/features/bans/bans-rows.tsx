import { Suspense, lazy, memo, useState } from 'react'
import { IconArrowDown, IconArrowUp, IconFlag, IconShieldPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { useWords } from '../../kit/now.ts'
import check from '../../kit/check.module.css'
import { Flag } from '../../kit/flag.tsx'
import parts from '../../kit/parts.module.css'
import { usePreferences } from '../../kit/preferences.ts'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { actsOn } from '../../kit/search/narrowing.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { Value } from '../../kit/search/value-menu.tsx'
import type { ValueActs } from '../../kit/search/value-menu.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { duration, ending } from '../../lib/time.ts'
import { stateOf } from './ban-state.ts'
import { bansTexts } from './bans.texts.ts'
import { columnsOf, nextSort, sortedBy, usualColumns } from './columns.ts'
import type { Column } from './columns.ts'
import { countryName } from '../../lib/countries.ts'
import { BanValue, useBansSearch, useFilter, useNarrowing } from './narrowing.tsx'
import { ReasonText } from './reason.tsx'
import { useSelecting } from './selection.ts'
import { Unban } from './unban.tsx'
import styles from './bans.module.css'

const WhitelistDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

export const Ends = ({ ban }: { ban: Ban }) => <>{useWords(now => ending(ban, now))}</>

/** Tells the reputation database, and says what it answered. */
const useReport = (ban: Ban) => {
  const t = textsOf(bansTexts)
  return useMutation({
    mutationFn: () => api.call('POST /bans/{banId}/report', { params: { banId: ban.id } }),
    onSuccess: ({ message }) => {
      toasts.show({ text: `${ban.ip}: ${message}` })
      for (const key of [['bans'], ['ban', ban.id]]) void queries.invalidateQueries({ queryKey: key })
    },
    onError: error => toasts.show({ text: t.notReported(ban.ip, sentenceOf(error)), error: true }),
  })
}

/** The address leads to the details of its ban; what else can be done stands in its menu. */
const Address = ({ ban, whole = false }: { ban: Ban; whole?: boolean }) => {
  const t = textsOf(bansTexts)
  const search = useBansSearch()
  const navigate = useNavigate()
  const by = useNarrowing()
  const { may } = useMay('write')
  const report = useReport(ban)
  // On cards the values have no room for menus of their own.
  const others: readonly Term[] = whole
    ? [
        { field: 'jail', value: ban.jail, shown: clip(ban.jail, 64).shown },
        { field: 'server', value: ban.server.hostname, shown: nameOf(ban.server.hostname) },
        ...(ban.country ? [{ field: 'country', value: ban.country, shown: countryName(ban.country) }] : []),
      ]
    : []
  const acts: ValueActs = {
    value: ban.ip,
    filter: () => by.only('ip', ban.ip),
    exclude: () => by.without('ip', ban.ip),
    open: () => void navigate({ to: '/ip/$addr', params: { addr: ban.ip } }),
    more: [
      ...actsOn(by, others),
      ...(may && !ban.reported_to_reputation_db
        ? [{ text: t.report, icon: <IconFlag size={16} />, act: () => report.mutate() }]
        : []),
    ],
  }
  return (
    <Value
      acts={acts}
      quiet
      dotKey="."
      link={
        <Link
          to="/bans/$banId"
          params={{ banId: String(ban.id) }}
          search={search}
          className={styles.ip}
          data-ban={ban.id}
          data-open
          aria-label={t.details(ban.ip)}
        >
          <bdi>{ban.ip}</bdi>
        </Link>
      }
    >
      {ban.ip}
    </Value>
  )
}

const Choose = ({ ban }: { ban: Ban }) => {
  const selection = useSelecting()
  if (!selection) return null
  return (
    <label className={styles.choose}>
      <input
        type="checkbox"
        className={check.check}
        aria-label={textsOf(bansTexts).choose(ban.ip, ban.jail, nameOf(ban.server.hostname))}
        checked={selection.chosen.has(ban.id)}
        onChange={event => selection.toggle(ban, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)}
      />
    </label>
  )
}

const Whitelist = ({ ban }: { ban: Ban }) => {
  const t = textsOf(bansTexts)
  const [open, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        data-key="w"
        aria-label={t.whitelistOf(ban.ip)}
        className={styles.icon}
        onClick={() => setOpen(true)}
      >
        <IconShieldPlus size={16} />
      </button>
      {open && (
        <Suspense>
          <WhitelistDialog given={ban.ip} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

const Cell = ({ ban, column }: { ban: Ban; column: Column }) => {
  const t = textsOf(bansTexts)
  const { none, unknown } = textsOf(commonTexts)
  const navigate = useNavigate()
  switch (column) {
    case 'state': {
      const state = stateOf(ban)
      return (
        <BanValue
          field="state"
          value={state === 'banned' ? 'active' : state}
          shown={textsOf(commonTexts).states[state]}
        >
          <State is={state} />
        </BanValue>
      )
    }
    case 'country':
      return ban.country ? (
        <BanValue field="country" value={ban.country} shown={countryName(ban.country)}>
          {countryName(ban.country)}
        </BanValue>
      ) : (
        none
      )
    case 'why':
      return <ReasonText reason={ban.reason} />
    case 'jail':
      return (
        <BanValue field="jail" value={ban.jail}>
          <Stranger text={ban.jail} most={64} />
        </BanValue>
      )
    case 'server':
      return (
        <BanValue
          field="server"
          value={ban.server.hostname}
          open={() => void navigate({ to: '/servers/$serverId', params: { serverId: ban.server.id } })}
        >
          <Stranger text={ban.server.hostname} most={80} />
        </BanValue>
      )
    case 'network':
    case 'asn': {
      const shown = column === 'asn' ? ban.asn : (ban.asn_org ?? ban.asn)
      return ban.asn && shown ? (
        <BanValue field="asn" value={ban.asn.replace(/^AS/, '')} shown={shown}>
          <Stranger text={shown} most={80} />
        </BanValue>
      ) : (
        none
      )
    }
    case 'city':
      return ban.city ? (
        <BanValue field="city" value={ban.city}>
          <Stranger text={ban.city} most={80} />
        </BanValue>
      ) : (
        none
      )
    case 'banned':
      return <Time at={ban.banned_at} />
    case 'ends': {
      // The state says that it is over; here is since when.
      const over = ban.active ? null : (ban.unbanned_at ?? ban.expires_at)
      return over === null ? <Ends ban={ban} /> : <Time at={over} />
    }
    case 'times':
      return <>{ban.occurrences === undefined ? none : number(ban.occurrences)}</>
    case 'duration':
      return <>{ban.ban_duration === null ? unknown : duration(ban.ban_duration)}</>
    case 'reported':
      return <>{ban.reported_to_reputation_db ? t.yes : t.no}</>
    case 'score':
      return (
        <>{ban.reputation_score === undefined || ban.reputation_score === null ? none : number(ban.reputation_score)}</>
      )
    case 'log': {
      const [line = ''] = ban.log_lines.trim().split('\n')
      return line === '' ? none : <Stranger text={line} most={60} />
    }
    case 'id':
      return <>{ban.id}</>
  }
}
const cut: ReadonlySet<Column> = new Set(['why', 'country', 'jail', 'server', 'network', 'city', 'log'])
const ends: ReadonlySet<Column> = new Set(['times', 'score', 'id'])
const classOf = (column: Column | 'ip', usual: boolean) =>
  [
    usual ? styles[`c-${column}`] : '',
    column !== 'ip' && cut.has(column) ? parts.cut : '',
    column !== 'ip' && ends.has(column) ? parts.end : '',
  ]
    .filter(Boolean)
    .join(' ')

const Head = ({ column, usual }: { column: Column | 'ip'; usual: boolean }) => {
  const t = textsOf(bansTexts)
  const { sort } = useBansSearch()
  const filter = useFilter()
  const next = nextSort(column, sort)
  const sorted = sortedBy(column, sort)
  return (
    <th
      scope="col"
      className={`${classOf(column, usual)} ${column === 'ip' ? styles.first : ''}`}
      {...(sorted ? { 'aria-sort': sorted } : {})}
    >
      {next === null ? (
        t.columns[column]
      ) : (
        <button
          type="button"
          className={styles.sort}
          onClick={() => filter({ sort: next === '-banned_at' ? undefined : next })}
        >
          {t.columns[column]}
          {sorted === 'ascending' && <IconArrowUp size={14} />}
          {sorted === 'descending' && <IconArrowDown size={14} />}
        </button>
      )}
    </th>
  )
}

const Row = memo(function Row(props: { ban: Ban; open: boolean; columns: readonly Column[]; usual: boolean }) {
  const { ban, open, columns, usual } = props
  const selection = useSelecting()
  const { may } = useMay('write')
  return (
    <tr data-row aria-current={open || undefined} data-chosen={selection?.chosen.has(ban.id) || undefined}>
      {selection && (
        <td className={styles.select}>
          <Choose ban={ban} />
        </td>
      )}
      <td className={styles.first}>
        <span className={styles.who}>
          <Flag code={ban.country} />
          <Address ban={ban} />
        </span>
      </td>
      {columns.map(column => (
        <td key={column} className={classOf(column, usual)}>
          <Cell ban={ban} column={column} />
        </td>
      ))}
      {may && (
        <td className={styles.acting}>
          <span className={styles.acts}>
            <Unban ban={ban} />
            <Whitelist ban={ban} />
          </span>
        </td>
      )}
    </tr>
  )
})

/** Those that the address names, or that the user chose last; null: the usual ones. */
const useColumns = () => {
  const { cols } = useBansSearch()
  const { columns } = usePreferences()
  return columnsOf(cols ?? columns.bans)
}

export const BanTable = ({ rows, opened }: { rows: readonly Ban[]; opened: number | null }) => {
  const t = textsOf(bansTexts)
  const selection = useSelecting()
  const { may } = useMay('write')
  const named = useColumns()
  const columns = named ?? usualColumns
  const all = selection !== null && rows.every(({ id }) => selection.chosen.has(id))
  const some = selection !== null && rows.some(({ id }) => selection.chosen.has(id))
  return (
    <div className={styles.box}>
      <div className={styles.frame} data-selecting={(selection?.chosen.size ?? 0) > 0 || undefined}>
        <table className={parts.table}>
          <caption className={parts.hidden}>{t.caption}</caption>
          <thead>
            <tr>
              {selection && (
                <th scope="col" className={styles.select}>
                  <label className={styles.choose}>
                    <input
                      type="checkbox"
                      className={check.check}
                      aria-label={t.choosePage}
                      checked={all}
                      ref={box => {
                        if (box) box.indeterminate = some && !all
                      }}
                      onChange={() => selection.set(rows, !all)}
                    />
                  </label>
                </th>
              )}
              <Head column="ip" usual={named === null} />
              {columns.map(column => (
                <Head key={column} column={column} usual={named === null} />
              ))}
              {may && (
                <th scope="col" className={styles.acting}>
                  <span className={parts.hidden}>{t.columns.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map(ban => (
              <Row key={ban.id} ban={ban} open={ban.id === opened} columns={columns} usual={named === null} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** Where the table has no room: three lines a ban, and all that can be done on its own page. */
export const BanCards = ({ rows }: { rows: readonly Ban[] }) => (
  <ul className={styles.rows} aria-label={textsOf(bansTexts).caption}>
    {rows.map(ban => (
      <li key={ban.id} className={styles.line} data-row>
        <div>
          <Flag code={ban.country} />
          <Address ban={ban} whole />
          <State is={stateOf(ban)} />
        </div>
        <div className={styles.reason}>
          <ReasonText reason={ban.reason} />
        </div>
        <div className={styles.dim}>
          <span>
            <Stranger text={ban.server.hostname} most={40} /> · <Stranger text={ban.jail} most={32} /> ·{' '}
            <Time at={ban.banned_at} />
          </span>
          <span>{ban.active && <Ends ban={ban} />}</span>
        </div>
      </li>
    ))}
  </ul>
)
