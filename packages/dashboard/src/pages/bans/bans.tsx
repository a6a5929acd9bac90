import { Suspense, lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { IconBan } from '@tabler/icons-react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { announce } from '../../parts/announce.tsx'
import { Page } from '../../parts/page.tsx'
import { Pages } from '../../parts/pages.tsx'
import parts from '../../parts/parts.module.css'
import { Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { useNarrow, useWide } from '../../parts/width.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { BanDetail } from './ban-detail.tsx'
import { Filters, useFilter } from './bans-filters.tsx'
import { useBansList } from './bans-list.ts'
import { BanCards, BanTable } from './bans-rows.tsx'
import { bansTexts } from './bans.texts.ts'
import { bansLimit, filterCount, turnTo } from './filter.ts'
import styles from './bans.module.css'

const BanDialog = lazy(() => import('./ban-dialog.tsx'))

export const Bans = () => {
  const { banId } = useParams({ strict: false })
  const wide = useWide()
  const id = Number(banId)
  const opened = banId !== undefined && Number.isInteger(id) && id > 0
  return opened && !wide ? <BanDetail banId={id} whole /> : <List opened={opened ? id : null} />
}

const List = ({ opened }: { opened: number | null }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const navigate = useNavigate()
  const narrow = useNarrow()
  const filter = useFilter()
  const { may, reason } = useMay('write')
  const [dialog, setDialog] = useState(false)
  const { query, rows, total, waiting, showWaiting } = useBansList(search)
  const page = search.page ?? 1
  const jails = [...new Set((rows ?? []).map(ban => ban.jail))]
  const filtered = filterCount(search) > 0 || search.to !== undefined
  const turn = (to: number) => {
    void navigate({ to: '/bans', search: turnTo(search, to, rows?.[0]?.banned_at) })
    scrollTo({ top: 0 })
  }
  const show = async () => {
    await showWaiting()
    announce(t.new(waiting))
  }
  return (
    <Page
      title={t.title}
      actions={
        <>
          <Button onClick={() => setDialog(true)} disabled={!may} leftSection={<IconBan size={16} />}>
            {t.ban}
          </Button>
          {reason && <span className={parts.help}>{reason}</span>}
        </>
      }
    >
      <Filters jails={jails} />
      <div className={opened === null ? undefined : styles.beside}>
        <div className={styles.listPart}>
          <Trouble what={t.what} query={query} />
          {rows && rows.length > 0 && (
            <div className={styles.top}>
              <Pages page={page} limit={bansLimit} shown={rows.length} total={total} onPage={turn} />
              {search.to && (
                <button type="button" className={parts.chip} onClick={() => filter({ to: undefined })}>
                  {t.backToNow}
                </button>
              )}
              <span role="status">
                {waiting > 0 && (
                  <button type="button" className={parts.chip} onClick={show}>
                    <strong>{t.new(waiting)}</strong> {t.showNew}
                  </button>
                )}
              </span>
            </div>
          )}
          {query.isPending && query.isFetching && <Waiting lines={12} />}
          {rows && rows.length > 0 && (
            <div className={query.isPlaceholderData ? styles.stale : undefined}>
              {narrow ? <BanCards rows={rows} /> : <BanTable rows={rows} opened={opened} />}
            </div>
          )}
          {rows?.length === 0 && <Nothing filtered={filtered} page={page} />}
          {rows && rows.length > 20 && total > bansLimit && (
            <Pages below page={page} limit={bansLimit} shown={rows.length} total={total} onPage={turn} />
          )}
        </div>
        {opened !== null && <BanDetail banId={opened} />}
      </div>
      {dialog && (
        <Suspense>
          <BanDialog onClose={() => setDialog(false)} server={search.server} ip={search.ip} />
        </Suspense>
      )}
    </Page>
  )
}

const Nothing = ({ filtered, page }: { filtered: boolean; page: number }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const navigate = useNavigate()
  if (page > 1)
    return (
      <div className={parts.empty}>
        <p>{t.pastEnd}</p>
        <Button variant="default" onClick={() => filter({ to: undefined })}>
          {t.firstPage}
        </Button>
      </div>
    )
  return filtered ? (
    <div className={parts.empty}>
      <p>{t.noMatch}</p>
      <div className={parts.row}>
        {(search.from ?? search.to) && (
          <Button variant="default" onClick={() => filter({ from: undefined, to: undefined })}>
            {t.allTime}
          </Button>
        )}
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
