import { Suspense, lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries, serversQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { checkQuery, whitelistLimit, whitelistQuery } from '../fleet/queries.ts'
import type { Entry } from '../fleet/queries.ts'
import { tellUnlisted } from '../fleet/undo.ts'
import { useKeys } from '../../kit/keys.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import { useWords } from '../../kit/now.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { Refusal, Trouble, sentenceOf } from '../../kit/trouble.tsx'
import { useTyped } from '../../kit/typed.ts'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { covers, readRange } from '../../lib/address.ts'
import { number } from '../../lib/numbers.ts'
import { exactTime } from '../../lib/time.ts'
import { Confirm } from '../identity/dialogs.ts'
import { endWords } from './ends.ts'
import { endsTexts } from './ends.texts.ts'
import { sizeOf } from './lines.ts'
import { SyncPanel } from './sync-panel.tsx'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

const AddDialog = lazy(() => import('./add-dialog.tsx'))
const ImportDialog = lazy(() => import('./import-dialog.tsx'))
const EditDialog = lazy(() => import('./edit-dialog.tsx'))

type Open = { readonly what: 'add' | 'import' } | { readonly what: 'edit' | 'remove'; readonly entry: Entry }

/** Who is never banned, and whether that is true on every host. */
export const Whitelist = () => {
  const t = textsOf(whitelistTexts)
  const search = useSearch({ from: '/inside/whitelist' })
  const navigate = useNavigate()
  const narrow = useNarrow()
  useListKeys()
  const { may, reason } = useMay('write')
  const mine = useMe()?.ip_address ?? ''
  const [open, setOpen] = useState<Open | null>(null)
  useKeys(
    useMemo(() => [{ key: 'a', text: t.addKey, act: () => setOpen({ what: 'add' }), there: () => may }], [t, may]),
  )
  const page = search.page ?? 1
  const list = useQuery(whitelistQuery({ page, ...(search.search ? { search: search.search } : {}) }))
  const rows = list.data?.whitelist
  const none = rows?.length === 0 && !search.search && page === 1
  const close = () => setOpen(null)
  const remove = async (entry: Entry) => {
    await api.call('DELETE /whitelist/{id}', { params: { id: entry.id } })
    tellUnlisted(entry)
    void queries.invalidateQueries({ queryKey: ['whitelist'] })
    void queries.invalidateQueries({ queryKey: ['lookup'] })
  }
  /** One address is taken off at once, with an Undo; what concerns more, or oneself, is asked about first. */
  const ask = (asked: Open) => {
    if (asked.what !== 'remove' || asked.entry.ip.includes('/') || covers(asked.entry.ip, mine)) return setOpen(asked)
    remove(asked.entry).catch((error: unknown) => toasts.show({ text: sentenceOf(error), error: true }))
  }
  return (
    <Page
      title={t.title}
      actions={
        <>
          <Button leftSection={<IconPlus size={16} />} disabled={!may} onClick={() => setOpen({ what: 'add' })}>
            {t.add}
          </Button>
          <Button variant="default" disabled={!may} onClick={() => setOpen({ what: 'import' })}>
            {t.import}
          </Button>
          {reason && <span className={parts.help}>{reason}</span>}
        </>
      }
    >
      <p className={`${parts.muted} ${styles.lead}`}>
        {t.lead} {list.data && !search.search && t.count(number(list.data.total), list.data.total)}
      </p>
      <div className={styles.beside}>
        <div className={styles.main}>
          {!none && <Search />}
          <Trouble what={t.what} query={list} />
          {list.isPending && (
            <div className={styles.waiting}>
              <Waiting />
            </div>
          )}
          {none && <Empty onAdd={() => setOpen({ what: 'add' })} />}
          {rows?.length === 0 && page > 1 && (
            <PastEnd onFirst={() => navigate({ to: '/whitelist', search: { ...search, page: undefined } })} />
          )}
          {rows?.length === 0 && !none && page === 1 && (
            <div className={parts.empty}>
              <p>{t.noMatch}</p>
              <Button variant="default" onClick={() => navigate({ to: '/whitelist', search: {} })}>
                {t.clear}
              </Button>
            </div>
          )}
          {rows &&
            rows.length > 0 &&
            (narrow ? <Cards rows={rows} mine={mine} onOpen={ask} /> : <Table rows={rows} mine={mine} onOpen={ask} />)}
          {list.data && list.data.total > whitelistLimit && (
            <Pages
              page={page}
              limit={whitelistLimit}
              shown={list.data.whitelist.length}
              total={list.data.total}
              onPage={to => navigate({ to: '/whitelist', search: { ...search, page: to } })}
            />
          )}
          {!none && (
            <p className={styles.exports}>
              <span className={parts.muted}>{t.export}</span>
              {(['plain', 'csv', 'json'] as const).map(format => (
                <a
                  key={format}
                  className={parts.link}
                  href={`${ownAddress}/api/v1/whitelist/export?format=${format}`}
                  download={`whitelist.${format === 'plain' ? 'txt' : format}`}
                >
                  {t.exports[format]}
                </a>
              ))}
            </p>
          )}
        </div>
        <SyncPanel />
      </div>
      <Suspense>
        {open?.what === 'add' && <AddDialog onClose={close} />}
        {open?.what === 'import' && <ImportDialog onClose={close} />}
        {open?.what === 'edit' && <EditDialog entry={open.entry} onClose={close} />}
        {open?.what === 'remove' && (
          <Confirm
            title={t.removeTitle}
            text={
              <>
                {t.removeText(open.entry.ip)}
                {covers(open.entry.ip, mine) && <strong> {t.removeYou(mine)}</strong>}
              </>
            }
            verb={t.remove}
            onClose={close}
            act={() => remove(open.entry)}
          />
        )}
      </Suspense>
    </Page>
  )
}

/** Searches texts, and of a whole address says whether the list covers it, also by a range that does not contain the text. */
const Search = () => {
  const t = textsOf(whitelistTexts)
  const search = useSearch({ from: '/inside/whitelist' })
  const navigate = useNavigate()
  const { typed, setTyped } = useTyped(
    search.search ?? '',
    text => void navigate({ to: '/whitelist', search: { search: text || undefined }, replace: true }),
    { wait: 300, valid: () => true },
  )
  const asked = search.search ?? ''
  const single = readRange(asked) !== null && !asked.includes('/')
  const check = useQuery({ ...checkQuery(asked), enabled: single }).data
  return (
    <div role="search" className={fleet.stack}>
      <input
        className={`${parts.input ?? ''} ${styles.search ?? ''}`}
        type="search"
        aria-label={t.search}
        placeholder={t.search}
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      {single && check && (
        <p className={parts.note} role="status">
          {check.matched_entry
            ? t.covered(check.ip, check.matched_entry.ip, check.matched_entry.description)
            : t.notCovered(check.ip)}
        </p>
      )}
    </div>
  )
}

interface Rows {
  readonly rows: readonly Entry[]
  readonly mine: string
  readonly onOpen: (open: Open) => void
}

const Size = ({ ip }: { ip: string }) => {
  const t = textsOf(whitelistTexts)
  const size = sizeOf(ip)
  return <>{size === null ? t.huge : t.size(number(size), size)}</>
}

const Ends = ({ at }: { at: string | null }) => {
  const { forEver } = textsOf(endsTexts)
  const words = useWords(now => endWords(at, forEver, now))
  return at === null ? (
    <>{words}</>
  ) : (
    <time dateTime={at} title={exactTime(Date.parse(at))}>
      {words}
    </time>
  )
}

const Acts = ({ entry, onOpen }: { entry: Entry; onOpen: (open: Open) => void }) => {
  const t = textsOf(whitelistTexts)
  const { may } = useMay('write')
  if (!may) return null
  return (
    <span className={parts.acts}>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t.editOf(entry.ip)}
        data-open
        onClick={() => onOpen({ what: 'edit', entry })}
      >
        {t.edit}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t.removeOf(entry.ip)}
        onClick={() => onOpen({ what: 'remove', entry })}
      >
        {t.remove}
      </Button>
    </span>
  )
}

const Table = ({ rows, mine, onOpen }: Rows) => {
  const t = textsOf(whitelistTexts)
  const { none } = textsOf(commonTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {Object.entries(t.columns).map(([key, name]) => (
              <th key={key} scope="col" className={key === 'actions' ? parts.last : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(entry => (
            <tr key={entry.id} data-row>
              <td>
                <span className={styles.ip}>{entry.ip}</span>{' '}
                {covers(entry.ip, mine) && <Mark tone="allow">{t.coversYou}</Mark>}
              </td>
              <td>
                <Size ip={entry.ip} />
              </td>
              <td className={styles.wide}>
                <Stranger text={entry.description || none} most={200} />
              </td>
              <td>
                <Stranger text={entry.created_by} most={40} />
              </td>
              <td>
                <Time at={entry.created_at} />
              </td>
              <td>
                <Ends at={entry.expires_at} />
              </td>
              <td className={parts.last}>
                <Acts entry={entry} onOpen={onOpen} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Cards = ({ rows, mine, onOpen }: Rows) => {
  const t = textsOf(whitelistTexts)
  return (
    <ul className={parts.cards} aria-label={t.caption}>
      {rows.map(entry => (
        <li key={entry.id} className={parts.card} data-row>
          <div className={parts.cardTop}>
            <span className={styles.ip}>{entry.ip}</span>
            {covers(entry.ip, mine) && <Mark tone="allow">{t.coversYou}</Mark>}
          </div>
          {entry.description && (
            <p>
              <Stranger text={entry.description} most={200} />
            </p>
          )}
          <div className={parts.facts}>
            <span>
              <Size ip={entry.ip} />
            </span>
            <span>
              <Stranger text={entry.created_by} most={40} />
            </span>
            <span>
              <Time at={entry.created_at} />
            </span>
            <span>
              <Ends at={entry.expires_at} />
            </span>
          </div>
          <Acts entry={entry} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  )
}

const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

/** What must never be locked out, each with one tap. */
const Empty = ({ onAdd }: { onAdd: () => void }) => {
  const t = textsOf(whitelistTexts)
  const me = useMe()
  const { may } = useMay('write')
  const servers = (useQuery(serversQuery({ page: 1 })).data?.servers ?? []).filter(server => server.ip_address !== null)
  const add = useMutation({
    mutationFn: (entries: { ip: string; description: string }[]) =>
      api.call('POST /whitelist/bulk', { body: { entries } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['whitelist'] }),
  })
  return (
    <div className={parts.empty}>
      <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
      <p>{t.empty}</p>
      {may && (
        <div className={parts.row}>
          {me && readRange(me.ip_address) && (
            <Button
              onClick={() => add.mutate([{ ip: me.ip_address, description: t.mineNote(me.username) }])}
              loading={add.isPending}
            >
              {t.addMine(me.ip_address)}
            </Button>
          )}
          {servers.length > 0 && (
            <Button
              variant="default"
              onClick={() =>
                add.mutate(
                  servers.map(({ ip_address, hostname }) => ({
                    ip: ip_address ?? '',
                    description: t.serversNote(hostname),
                  })),
                )
              }
            >
              {t.addServers(servers.length)}
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => add.mutate(privateRanges.map(ip => ({ ip, description: t.privateNote })))}
          >
            {t.addPrivate}
          </Button>
          <Button variant="default" onClick={onAdd}>
            {t.add}…
          </Button>
        </div>
      )}
      <Refusal error={add.error} />
    </div>
  )
}
