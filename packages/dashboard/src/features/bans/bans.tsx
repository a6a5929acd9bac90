import { Suspense, lazy, useMemo, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { IconColumns, IconBan, IconDownload, IconX } from '@tabler/icons-react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMay, useMe } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { useKeys } from '../../kit/keys.ts'
import type { Key } from '../../kit/keys.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { Views } from '../../kit/views.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow, usePhone, useWide } from '../../kit/width.ts'
import { NotFound } from '../navigation/lone-pages.tsx'
import { queryTerm } from '@stockade/contract/query/index.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readId } from '../../lib/numbers.ts'
import { BanDetail } from './ban-detail.tsx'
import { Filters, useSetFilters } from './bans-filters.tsx'
import { useBansList } from './bans-list.ts'
import { BanCards, BanTable } from './bans-rows.tsx'
import { bansTexts } from './bans.texts.ts'
import { BulkBar } from './bulk-bar.tsx'
import { limitOf, listKey, turnTo } from './filter.ts'
import { Histogram } from './histogram.tsx'
import { useFilter } from './narrowing.tsx'
import { SelectionProvider, useSelection } from './selection.ts'
import styles from './bans.module.css'

const BanDialog = lazy(() => import('./ban-dialog.tsx'))
const ExportDialog = lazy(() => import('./list-dialogs.tsx').then(({ ExportDialog }) => ({ default: ExportDialog })))
const ViewDialog = lazy(() => import('./list-dialogs.tsx').then(({ ViewDialog }) => ({ default: ViewDialog })))

export const Bans = () => {
  const { banId } = useParams({ strict: false })
  const wide = useWide()
  const opened = readId(banId)
  if (banId !== undefined && opened === null) return <NotFound />
  return opened !== null && !wide ? <BanDetail banId={opened} whole /> : <List opened={opened} />
}

const noRows: readonly never[] = []

const List = ({ opened }: { opened: number | null }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const navigate = useNavigate()
  const narrow = useNarrow()
  const phone = usePhone()
  const filter = useFilter()
  const { may, reason } = useMay('write')
  const [dialog, setDialog] = useState<'ban' | 'export' | 'view' | null>(null)
  const { query, rows, total, waiting, more, showWaiting } = useBansList(search)
  const selection = useSelection(listKey(search), rows ?? noRows)
  const page = search.page ?? 1
  const limit = limitOf(search)
  const turn = (to: number) => {
    void navigate({
      to: '/bans',
      search: turnTo(search, to, search.sort ? new Date().toISOString() : rows?.[0]?.banned_at),
    })
    scrollTo({ top: 0 })
  }
  const show = async () => {
    await showWaiting()
    announce(t.new(waiting, more))
  }
  const fresh = useRef<HTMLButtonElement>(null)
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
      [t],
    ),
  )
  const close = () => setDialog(null)
  return (
    <SelectionProvider value={selection}>
      <Page
        title={t.title}
        actions={
          <>
            {!narrow && <BuiltViews />}
            <Button onClick={() => setDialog('ban')} disabled={!may} leftSection={<IconBan size={16} />}>
              {t.ban}
            </Button>
            {reason && <span className={parts.help}>{reason}</span>}
          </>
        }
      >
        <div className={styles.head}>
          {search.ignored && (
            <p className={`${parts.note} ${parts.row}`} role="status">
              {t.ignored(search.ignored.split(',').join(', '))}
              <button type="button" className={parts.chip} onClick={() => filter({ ignored: undefined }, true)}>
                <IconX size={14} /> {t.dismiss}
              </button>
            </p>
          )}
          <Filters rows={rows ?? noRows} />
          {narrow && (
            <div className={styles.views}>
              <BuiltViews />
            </div>
          )}
        </div>
        <div className={opened === null ? undefined : styles.beside}>
          <div className={styles.listPart}>
            <Trouble what={t.what} query={query} />
            {rows && rows.length > 0 && (
              <div className={styles.top}>
                <Pages page={page} limit={limit} shown={rows.length} total={total} onPage={turn} />
                {search.to && (
                  <button type="button" className={parts.chip} onClick={() => filter({ to: undefined })}>
                    {t.backToNow}
                  </button>
                )}
                <span role="status">
                  {waiting > 0 && (
                    <button type="button" className={parts.chip} onClick={show} ref={fresh}>
                      <strong>{t.new(waiting, more)}</strong> {t.showNew}
                    </button>
                  )}
                </span>
                {!phone && <Histogram />}
                <span className={styles.tools}>
                  <Button
                    variant="default"
                    size="xs"
                    leftSection={<IconColumns size={14} />}
                    onClick={() => setDialog('view')}
                  >
                    {t.view}
                  </Button>
                  <Button
                    variant="default"
                    size="xs"
                    leftSection={<IconDownload size={14} />}
                    onClick={() => setDialog('export')}
                  >
                    {t.export}
                  </Button>
                </span>
              </div>
            )}
            <BulkBar search={search} rows={rows ?? noRows} total={total} />
            {query.isPending && query.isFetching && <Waiting lines={12} />}
            {rows && rows.length > 0 && (
              <div data-old={query.isPlaceholderData || undefined}>
                {narrow ? <BanCards rows={rows} /> : <BanTable rows={rows} opened={opened} />}
              </div>
            )}
            {rows?.length === 0 && <Nothing page={page} />}
            {rows && rows.length > 0 && total > limit && (
              <div className={styles.below}>
                {rows.length > 20 && (
                  <Pages below page={page} limit={limit} shown={rows.length} total={total} onPage={turn} />
                )}
                <label className={styles.jump}>
                  <span>{t.jump}</span>
                  <input
                    className={parts.input}
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
              </div>
            )}
          </div>
          {opened !== null && <BanDetail banId={opened} />}
        </div>
        {dialog && (
          <Suspense>
            {dialog === 'ban' && <BanDialog onClose={close} server={search.server} ip={search.ip} />}
            {dialog === 'export' && <ExportDialog total={total} onClose={close} />}
            {dialog === 'view' && <ViewDialog narrow={narrow} onClose={close} />}
          </Suspense>
        )}
      </Page>
    </SelectionProvider>
  )
}

/** Presses the box of the row that has the focus, as a click with Shift would. */
const chooseTo = () =>
  document.activeElement
    ?.closest('[data-row]')
    ?.querySelector('input[type=checkbox]')
    ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))

const BuiltViews = () => {
  const t = textsOf(bansTexts).views
  const name = useMe()?.username
  const views = useMemo(() => {
    const of = (q: string) => new URLSearchParams({ q }).toString()
    return [
      { name: t.active, search: of('state:active') },
      { name: t.today, search: 'from=today' },
      { name: t.repeat, search: of('times:>=3') },
      ...(name === undefined ? [] : [{ name: t.mine, search: of(queryTerm('by', name)) }]),
      { name: t.manual, search: of('-by:engine') },
    ]
  }, [t, name])
  return <Views list="bans" path="/bans" builtIn={views} />
}

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
        <Button variant="default" onClick={() => navigate({ to: '/bans', search: {} })}>
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
