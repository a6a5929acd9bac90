import { lazy, useMemo, useState } from 'react'
import { IconFlag, IconShieldPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Flag } from '../../kit/flag.tsx'
import type { ListColumn } from '../../kit/list-rows.ts'
import { ListTable } from '../../kit/list-table.tsx'
import parts from '../../kit/parts.module.css'
import { usePreferences } from '../../kit/preferences.ts'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Ends, Time } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { actsOn } from '../../kit/search/narrowing.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { Value } from '../../kit/search/value-menu.tsx'
import type { ValueActs } from '../../kit/search/value-menu.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { stateOf } from './ban-state.ts'
import { bansTexts } from './bans.texts.ts'
import { columnsOf, nextSort, sortedBy, usualColumns } from './columns.ts'
import type { Column } from './columns.ts'
import type { BansSearch } from './filter.ts'
import { countryName } from '../../lib/countries.ts'
import { Cell } from './ban-cells.tsx'
import { useBansSearch, useFilter, useNarrowing } from './narrowing.tsx'
import { ReasonText } from './reason.tsx'
import { useSelecting } from './selection.ts'
import { Unban } from './unban.tsx'
import styles from './bans.module.css'

const WhitelistDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

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

const Whitelist = ({ ban }: { ban: Ban }) => {
  const t = textsOf(bansTexts)
  const [open, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        data-key="w"
        aria-label={t.whitelistOf(ban.ip)}
        className={`${parts.icon ?? ''} ${parts.edged ?? ''} ${styles.icon ?? ''}`}
        onClick={() => setOpen(true)}
      >
        <IconShieldPlus size={16} />
      </button>
      {open && (
        <Dialogs>
          <WhitelistDialog given={ban.ip} onClose={() => setOpen(false)} />
        </Dialogs>
      )}
    </>
  )
}

const cut: ReadonlySet<Column> = new Set(['why', 'country', 'jail', 'server', 'network', 'city', 'log'])
const ends: ReadonlySet<Column> = new Set(['times', 'score', 'id'])
/** `usual`: these columns leave where the table has no room for them. */
const classOf = (column: Column | 'ip', usual: boolean) =>
  [
    usual ? styles[`c-${column}`] : '',
    column === 'ip' ? styles.first : '',
    column !== 'ip' && cut.has(column) ? parts.cut : '',
    column !== 'ip' && ends.has(column) ? parts.end : '',
  ]
    .filter(Boolean)
    .join(' ')

/** Those that the address names, or that the user chose last; null: the usual ones. */
const useColumns = () => {
  const { cols } = useBansSearch()
  const { columns } = usePreferences()
  return columnsOf(cols ?? columns.bans)
}

const idOf = ({ id }: Ban) => id
const namedIn = (ban: Ban) => textsOf(bansTexts).named(ban.ip, ban.jail, nameOf(ban.server.hostname))
const actsOf = (ban: Ban) => (
  <>
    <Unban ban={ban} />
    <Whitelist ban={ban} />
  </>
)
const sortOf = (
  column: Column | 'ip',
  sort: BansSearch['sort'],
  filter: ReturnType<typeof useFilter>,
): ListColumn<Ban>['sort'] => {
  const next = nextSort(column, sort)
  const is = sortedBy(column, sort)
  return next === null || is === undefined
    ? undefined
    : { is, onSort: () => filter({ sort: next === '-banned_at' ? undefined : next }) }
}

export const BanTable = ({ rows, opened }: { rows: readonly Ban[]; opened: number | null }) => {
  const t = textsOf(bansTexts)
  const selection = useSelecting()
  const { may } = useMay('write')
  const { sort } = useBansSearch()
  const filter = useFilter()
  const columnNames = useColumns()
  const columns = useMemo((): readonly ListColumn<Ban>[] => {
    const columnOf = (key: Column | 'ip', cell: ListColumn<Ban>['cell']): ListColumn<Ban> => ({
      key,
      name: t.columns[key],
      cell,
      className: classOf(key, columnNames === null),
      sort: sortOf(key, sort, filter),
    })
    return [
      columnOf('ip', ban => (
        <span className={styles.who}>
          <Flag code={ban.country} />
          <Address ban={ban} />
        </span>
      )),
      ...(columnNames ?? usualColumns).map(column => columnOf(column, ban => <Cell ban={ban} column={column} />)),
    ]
  }, [t, columnNames, sort, filter])
  const selecting = useMemo(() => selection && { ...selection, nameOf: namedIn }, [selection])
  return (
    <div className={styles.frame}>
      <ListTable
        caption={t.caption}
        rows={rows}
        keyOf={idOf}
        columns={columns}
        opened={opened}
        acts={may ? actsOf : undefined}
        selection={selecting ?? undefined}
      />
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
