import { lazy, useMemo, useRef, useState } from 'react'
import type { ReactNode, RefObject } from 'react'
import { Button } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconBan, IconDownload, IconX } from '@tabler/icons-react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { UseQueryResult } from '@tanstack/react-query'
import { entriesOf } from '@stockade/contract/records.ts'
import { useMay } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useKeys } from '../../kit/keys.ts'
import type { Key } from '../../kit/keys.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Select } from '../../kit/select.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow, usePhone, useWide } from '../../kit/width.ts'
import { NotFound } from '../navigation/lone-pages.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number, readId } from '../../lib/numbers.ts'
import { AttackerBulk } from './attackers-bulk.tsx'
import { useAttackersList } from './attackers-list.ts'
import type { Attacker } from './attackers-list.ts'
import { AttackerRows, AttackerTable } from './attackers-table.tsx'
import { attackersTexts } from './attackers.texts.ts'
import { BanDetail } from './ban-detail.tsx'
import { Filters, seenBans, useSetFilters } from './bans-filters.tsx'
import type { Seen } from './bans-filters.tsx'
import { useBansList } from './bans-list.ts'
import { BanCards, BanTable } from './bans-rows.tsx'
import { bansTexts } from './bans.texts.ts'
import { BansHead } from './bans-head.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { limitOf, listKey, turnTo, usualSort } from './filter.ts'
import { Histogram } from './histogram.tsx'
import { useFilter } from './narrowing.tsx'
import { SelectionProvider, useAttackerSelection, useBanSelection } from './selection.ts'
import styles from './bans.module.css'

const BanDialog = lazy(() => import('./ban-dialog.tsx'))
const ExportDialog = lazy(() => import('./list-dialogs.tsx').then(({ ExportDialog }) => ({ default: ExportDialog })))
const ViewDialog = lazy(() => import('./list-dialogs.tsx').then(({ ViewDialog }) => ({ default: ViewDialog })))

export const Bans = () => {
  const { banId } = useParams({ strict: false })
  const { by } = useSearch({ from: '/inside/bans' })
  const wide = useWide()
  const opened = readId(banId)
  if (banId !== undefined && opened === null) return <NotFound />
  if (opened !== null && !wide) return <BanDetail banId={opened} whole />
  return by === 'bans' ? <Singles opened={opened} /> : <Attackers opened={opened} />
}

const noBans: readonly never[] = []

/** One row an attacker. */
const Attackers = ({ opened }: { opened: number | null }) => {
  const t = textsOf(attackersTexts)
  const search = useSearch({ from: '/inside/bans' })
  const phone = usePhone()
  const list = useAttackersList(search)
  const { rows = noBans, totals } = list
  const selection = useAttackerSelection(listKey(search), rows)
  const rowsOnPage = useMemo(() => rows.map(seenAttacker), [rows])
  return (
    <List
      opened={opened}
      what={t.what}
      query={list.query}
      shown={list.rows?.length}
      total={totals?.attackers ?? 0}
      seen={rowsOnPage}
      newest={search.sort ? undefined : rows[0]?.last_banned_at}
      waiting={list.waiting}
      more={list.more}
      onShow={list.showWaiting}
      exported={totals?.bans ?? 0}
      head={
        totals && (
          <BansHead count={t.count(number(totals.attackers), totals.attackers)}>
            <span className={parts.muted}>
              {phone
                ? t.bans(number(totals.bans), totals.bans)
                : t.sums(
                    t.bans(number(totals.bans), totals.bans),
                    t.bannedNow(number(totals.active_addresses), totals.active_addresses),
                  )}
            </span>
          </BansHead>
        )
      }
      bulk={<AttackerBulk search={search} rows={rows} total={totals?.attackers ?? 0} selection={selection} />}
    >
      {phone ? <AttackerRows rows={rows} /> : <AttackerTable rows={rows} selection={selection} />}
    </List>
  )
}
const seenAttacker = ({ ip, jails, asn, network }: Attacker): Seen => ({
  ip,
  jails,
  asn,
  org: network,
  city: null,
  by: null,
})

/** One row a ban. */
const Singles = ({ opened }: { opened: number | null }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const narrow = useNarrow()
  const list = useBansList(search)
  const { rows = noBans, total } = list
  const selection = useBanSelection(listKey(search), rows)
  const rowsOnPage = useMemo(() => seenBans(rows), [rows])
  return (
    <SelectionProvider value={selection}>
      <List
        opened={opened}
        what={t.what}
        query={list.query}
        shown={list.rows?.length}
        total={total}
        seen={rowsOnPage}
        newest={search.sort ? undefined : rows[0]?.banned_at}
        waiting={list.waiting}
        more={list.more}
        onShow={list.showWaiting}
        exported={total}
        head={list.rows && <BansHead count={textsOf(attackersTexts).bans(number(total), total)} />}
        bulk={<BulkBar search={search} rows={rows} total={total} />}
      >
        {narrow ? <BanCards rows={rows} /> : <BanTable rows={rows} opened={opened} />}
      </List>
    </SelectionProvider>
  )
}

interface Given {
  readonly opened: number | null
  readonly what: string
  readonly query: UseQueryResult<unknown>
  /** Undefined until the rows are there. */
  readonly shown: number | undefined
  readonly total: number
  readonly seen: readonly Seen[]
  /** Further pages are pinned to it. */
  readonly newest: string | undefined
  readonly waiting: number
  readonly more: boolean
  readonly onShow: () => Promise<void>
  /** How many bans an export holds. */
  readonly exported: number
  readonly head: ReactNode
  readonly bulk: ReactNode
  readonly children: ReactNode
}

/** What both lists have around their rows. */
// oxlint-disable-next-line complexity -- one condition for each part that may be absent
const List = (given: Given) => {
  const { opened, shown, total, query } = given
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const phone = usePhone()
  const { may } = useMay('write')
  const [dialog, setDialog] = useState<'ban' | 'export' | 'view' | null>(null)
  const fresh = useRef<HTMLButtonElement>(null)
  useRowKeys(fresh)
  const acts = (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => setDialog('export')}>
        {t.export}
      </Button>
      {may && (
        <Button onClick={() => setDialog('ban')} leftSection={<IconBan size={16} />}>
          {t.ban}
        </Button>
      )}
    </>
  )
  return (
    <Page
      title={t.title}
      tools={<Filters rows={given.seen}>{phone && acts}</Filters>}
      actions={phone ? undefined : acts}
    >
      <Ignored />
      <div className={opened === null ? undefined : styles.beside}>
        <div className={styles.listPart}>
          <Trouble what={given.what} query={query} />
          {query.isPending && query.isFetching && <Waiting lines={12} />}
          {shown !== undefined && shown > 0 && (
            <section
              className={`${parts.raised ?? ''} ${styles.panel ?? ''}`}
              aria-label={t.caption}
              data-old={query.isPlaceholderData || undefined}
            >
              <header className={styles.panelHead}>
                {given.head}
                <Waits {...given} button={fresh} />
                {phone && search.by !== 'bans' ? <Order /> : !phone && <Histogram />}
              </header>
              {given.children}
              <Foot {...given} shown={shown} total={total} onView={() => setDialog('view')} />
            </section>
          )}
          {shown === 0 && <Nothing page={search.page ?? 1} />}
        </div>
        {opened !== null && <BanDetail banId={opened} />}
      </div>
      {given.bulk}
      {dialog && (
        <Dialogs>
          <Opened dialog={dialog} exported={given.exported} onClose={() => setDialog(null)} />
        </Dialogs>
      )}
    </Page>
  )
}

const Opened = (props: { dialog: 'ban' | 'export' | 'view'; exported: number; onClose: () => void }) => {
  const { dialog, exported, onClose } = props
  const { server, ip } = useSearch({ from: '/inside/bans' })
  const narrow = useNarrow()
  if (dialog === 'ban') return <BanDialog onClose={onClose} server={server} ip={ip} />
  if (dialog === 'export') return <ExportDialog total={exported} onClose={onClose} />
  return <ViewDialog narrow={narrow} onClose={onClose} />
}

const useRowKeys = (fresh: RefObject<HTMLButtonElement | null>) => {
  const t = textsOf(bansTexts)
  useListKeys()
  useKeys(
    useMemo(
      (): readonly Key[] => [
        { key: 'r', text: t.showNew, act: () => fresh.current?.click(), there: () => fresh.current !== null },
        {
          key: 'X',
          text: t.chooseTo,
          act: chooseTo,
          there: () => document.querySelector('main [data-row] input[type=checkbox]') !== null,
        },
      ],
      [t, fresh],
    ),
  )
}

const Ignored = () => {
  const t = textsOf(bansTexts)
  const { ignored } = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  return ignored === undefined ? null : (
    <p className={`${parts.note} ${parts.row}`} role="status">
      {t.ignored(ignored.split(',').join(', '))}
      <button type="button" className={parts.chip} onClick={() => filter({ ignored: undefined }, true)}>
        <IconX size={14} /> {t.dismiss}
      </button>
    </p>
  )
}

/** What came since the list was read: never inserted, only counted. */
const Waits = ({ waiting, more, onShow, button }: Given & { button: RefObject<HTMLButtonElement | null> }) => {
  const t = textsOf(bansTexts)
  const { to } = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const show = async () => {
    await onShow()
    announce(t.new(waiting, more))
  }
  return (
    <>
      {to && (
        <button type="button" className={styles.news} onClick={() => filter({ to: undefined })}>
          {t.backToNow}
        </button>
      )}
      <span role="status">
        {waiting > 0 && (
          <button type="button" className={styles.news} onClick={show} ref={button}>
            <b>{t.new(waiting, more)}</b> {t.showNew}
          </button>
        )}
      </span>
    </>
  )
}

/** On phones, where no head of a column can be pressed. */
const Order = () => {
  const t = textsOf(attackersTexts)
  const { sort = usualSort.attackers } = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  return (
    <Select
      className={styles.order}
      label={t.order}
      value={sort}
      options={entriesOf(t.orders).map(([value, text]) => ({ value, text }))}
      onValue={next => filter({ sort: next === usualSort.attackers ? undefined : next })}
    />
  )
}

const Foot = ({ shown, total, newest, onView }: Given & { shown: number; onView: () => void }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const navigate = useNavigate()
  const filter = useFilter()
  const limit = limitOf(search)
  const turn = (to: number) => {
    void navigate({ to: '/bans', search: turnTo(search, to, newest ?? new Date().toISOString()) })
    scrollTo({ top: 0 })
  }
  return (
    <footer className={styles.foot}>
      <Pages page={search.page ?? 1} limit={limit} shown={shown} total={total} onPage={turn} />
      {total > limit && (
        <label className={styles.jump}>
          <span>{t.jump}</span>
          <input
            type="date"
            onChange={event => {
              const day = event.currentTarget.valueAsDate
              if (!day) return
              // The whole of that day in this place, and what was before.
              const end = new Date(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + 1)
              filter({ to: end.toISOString(), sort: undefined })
            }}
          />
        </label>
      )}
      <SmallButton leftSection={<IconAdjustmentsHorizontal size={14} />} onClick={onView}>
        {t.view}
      </SmallButton>
    </footer>
  )
}

/** Presses the box of the row that has the focus, as a click with Shift would. */
const chooseTo = () =>
  document.activeElement
    ?.closest('[data-row]')
    ?.querySelector('input[type=checkbox]')
    ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))

const Nothing = ({ page }: { page: number }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const navigate = useNavigate()
  const set = useSetFilters()
  if (page > 1) return <PastEnd onFirst={() => filter({ to: undefined })} />
  return set.length > 0 ? (
    <div className={parts.empty}>
      <p>{t.noMatch}</p>
      {search.q && (
        <p className={parts.mono} dir="ltr">
          <bdi>{search.q}</bdi>
        </p>
      )}
      <div className={parts.row}>
        {(search.from ?? search.to) && (
          <Button variant="default" onClick={() => filter({ from: undefined, to: undefined })}>
            {t.allTime}
          </Button>
        )}
        {set.length > 1 &&
          set.slice(0, 8).map(({ name, value, onRemove }) => (
            <Button key={`${name ?? ''} ${value}`} variant="default" onClick={onRemove}>
              <bdi>{t.takeOff(value)}</bdi>
            </Button>
          ))}
        <Button variant="default" onClick={() => navigate({ to: '/bans', search: { by: search.by } })}>
          {t.clearFilters}
        </Button>
      </div>
    </div>
  ) : (
    <div className={parts.empty}>
      <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
      <p>{t.empty}</p>
      <Link to="/servers">{t.toServers}</Link>
    </div>
  )
}
