import { Fragment, useContext, useState } from 'react'
import { Button } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconX } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { announce } from '../../kit/announce.tsx'
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { TimeRange } from '../../kit/time-range.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import type { ValuesOf } from '../../kit/search/completion.ts'
import { Narrows } from '../../kit/search/narrowing.tsx'
import { SearchField } from '../../kit/search/search-field.tsx'
import { conditionsOf, narrowing } from '../../kit/search/terms.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip } from '../../lib/clip.ts'
import { exactTime } from '../../lib/time.ts'
import { useAuditList } from './audit-list.ts'
import type { Entry } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import { FoldedBatches, batchesOf } from './batches.ts'
import { toldOf } from './details.ts'
import { auditLimit, exportOf, linkOf, turnTo } from './filter.ts'
import type { AuditSearch } from './filter.ts'
import styles from './audit.module.css'

const language = queryFields.audit
const presets = {
  day: { from: 'now-24h' },
  signIns: { q: 'action:auth.login' },
  failed: { q: 'action:auth.login_failed' },
  settings: { q: 'action:settings.' },
  access: { q: 'action:user.,session.,key.,mfa.' },
} as const satisfies Record<string, AuditSearch>
const presetNames = ['day', 'signIns', 'failed', 'settings', 'access'] as const

const useFilter = () => {
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  return (change: Partial<AuditSearch>, replace = false) =>
    void navigate({
      to: '/audit',
      search: { ...search, pin: undefined, page: undefined, open: undefined, ...change },
      replace,
    })
}

/** Who did what, from where. */
export const Audit = () => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  const { query, rows, total, waiting, manyWaiting, showWaiting } = useAuditList(search)
  const page = search.page ?? 1
  const turn = (to: number) => {
    void navigate({ to: '/audit', search: turnTo(search, to, rows?.[0]?.timestamp) })
    scrollTo({ top: 0 })
  }
  const show = () => {
    showWaiting()
    announce(t.new(waiting, manyWaiting))
  }
  return (
    <Page title={t.title}>
      <Filters rows={rows ?? []} />
      <div className={styles.top}>
        {rows && rows.length > 0 && (
          <Pages page={page} limit={auditLimit} shown={rows.length} total={total} onPage={turn} />
        )}
        <span role="status">
          {waiting > 0 && (
            <button type="button" className={parts.chip} onClick={show}>
              <strong>{t.new(waiting, manyWaiting)}</strong> {t.showNew}
            </button>
          )}
        </span>
        {search.pin && (
          <button type="button" className={parts.chip} onClick={() => turn(1)}>
            {t.pinned}
          </button>
        )}
        {total > 0 && (
          <span className={styles.export}>
            {t.export}
            {(['csv', 'json'] as const).map(format => (
              <a
                key={format}
                className={styles.link}
                // As of the moment that the list was read at, so that both hold the same.
                href={exportOf(search, query.dataUpdatedAt, format)}
                download={`audit.${format}`}
                aria-label={t.exportOf(t[format])}
              >
                {t[format]}
              </a>
            ))}
          </span>
        )}
      </div>
      <Trouble what={t.what} query={query} />
      {query.isPending && <Waiting lines={12} />}
      {rows && rows.length > 0 && (
        <div data-old={query.isPlaceholderData || undefined}>
          <Rows rows={rows} />
        </div>
      )}
      {rows?.length === 0 && <Nothing />}
      {rows && rows.length > 20 && total > auditLimit && (
        <Pages below page={page} limit={auditLimit} shown={rows.length} total={total} onPage={turn} />
      )}
    </Page>
  )
}

const Filters = ({ rows }: { rows: readonly Entry[] }) => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  const isSame = (preset: AuditSearch) =>
    JSON.stringify([preset.q, preset.from]) === JSON.stringify([search.q, search.from]) && search.to === undefined
  return (
    <div role="search" aria-label={t.filters} className={styles.filters}>
      <div className={styles.presets} role="group" aria-label={t.presets}>
        {presetNames.map(name => (
          <Link
            key={name}
            to="/audit"
            search={presets[name]}
            className={parts.chip}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={isSame(presets[name]) ? 'true' : undefined}
          >
            {t.preset[name]}
          </Link>
        ))}
      </div>
      <div className={styles.fields}>
        <SearchField
          language={language}
          value={search.q ?? ''}
          onApply={(q, replace) => filter({ q: q || undefined }, replace)}
          valuesOf={valuesIn(rows)}
          label={t.search}
          placeholder={t.searchHint}
        />
        <TimeRange from={search.from} to={search.to} onRange={filter} />
      </div>
    </div>
  )
}

const actionNames = Object.keys(textsOf(auditTexts).actions)
const beginnings = [...new Set(actionNames.map(name => `${name.split('.')[0] ?? ''}.`))]

/** What a field may be completed with: all actions, and who and whence as far as they are shown. */
const valuesIn =
  (rows: readonly Entry[]): ValuesOf =>
  field => {
    const each = (values: readonly (string | null)[]) =>
      [...new Set(values)].flatMap(value => (value ? [{ value }] : []))
    switch (field) {
      case 'action':
        return [
          ...beginnings.map(value => ({ value })),
          ...actionNames.map(value => ({ value, label: actionWords(value) })),
        ]
      case 'user':
        return each(rows.map(({ user }) => user))
      case 'ip':
        return each(rows.map(({ ip_address }) => ip_address))
      default:
        return []
    }
  }

const Nothing = () => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  if (search.page !== undefined)
    return (
      <div className={parts.empty}>
        <p>{t.pastEnd}</p>
        <Button variant="default" onClick={() => filter({})}>
          {t.firstPage}
        </Button>
      </div>
    )
  const removable = [
    ...conditionsOf(search.q ?? '', language).map(({ text, rest }) => ({
      text: t.without.term(text),
      change: { q: rest || undefined },
    })),
    ...(search.from || search.to ? [{ text: t.without.time, change: { from: undefined, to: undefined } }] : []),
  ]
  if (removable.length === 0) return <p className={parts.empty}>{t.empty}</p>
  return (
    <div className={parts.empty}>
      <p>{t.noMatch}</p>
      <div className={parts.row}>
        {removable.map(({ text, change }) => (
          <button key={text} type="button" className={parts.chip} onClick={() => filter(change)}>
            <IconX size={14} /> {text}
          </button>
        ))}
        <Button variant="default" onClick={() => filter({ q: undefined, from: undefined, to: undefined })}>
          {t.clear}
        </Button>
      </div>
    </div>
  )
}

const actionWords = (action: string): string =>
  (textsOf(auditTexts).actions as Readonly<Record<string, string>>)[action] ?? action

/** What happened, in one sentence where the details allow it. */
const sentenceOf = ({ action, details }: Entry): string => {
  const t = textsOf(auditTexts)
  if (action !== 'command.create' || typeof details.type !== 'string') return actionWords(action)
  const { params } = details
  const ip = typeof params === 'object' && params !== null && 'ip' in params ? params.ip : null
  if (typeof ip === 'string' && details.type === 'ban-ip') return t.banned(clip(ip, 60).shown)
  if (typeof ip === 'string' && details.type === 'unban-ip') return t.unbanned(clip(ip, 60).shown)
  return t.sent(clip(details.type, 60).shown)
}

const Rows = ({ rows }: { rows: readonly Entry[] }) => {
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  const narrow = useNarrow()
  useListKeys()
  const toggle = (id: number) =>
    void navigate({
      to: '/audit',
      search: { ...search, open: search.open === id ? undefined : id },
      replace: true,
      resetScroll: false,
    })
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set())
  const batches = batchesOf(rows)
  const isWhole = (entries: readonly Entry[]) => entries.some(({ id }) => unfolded.has(id) || id === search.open)
  const visible = batches.flatMap(({ first, entries }) => (isWhole(entries) ? entries : [first]))
  const sizes = new Map(
    batches.flatMap(({ first, entries }) => (isWhole(entries) ? [] : [[first.id, entries.length] as const])),
  )
  const unfold = (id: number) => setUnfolded(new Set([...unfolded, id]))
  return (
    <FoldedBatches value={{ sizes, unfold }}>
      {narrow ? (
        <Cards rows={visible} open={search.open} onToggle={toggle} />
      ) : (
        <Table rows={visible} open={search.open} onToggle={toggle} />
      )}
    </FoldedBatches>
  )
}
interface Shown {
  readonly rows: readonly Entry[]
  readonly open: number | undefined
  readonly onToggle: (id: number) => void
}

const Table = ({ rows, open, onToggle }: Shown) => {
  const t = textsOf(auditTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {Object.entries(t.columns).map(([key, name]) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(entry => (
            <Fragment key={entry.id}>
              <tr data-entry={entry.id} data-row aria-current={open === entry.id || undefined}>
                <td>
                  <span className={styles.time}>
                    <Toggle entry={entry} open={open === entry.id} onToggle={onToggle} />
                    <At at={entry.timestamp} />
                  </span>
                </td>
                <td>
                  <Who entry={entry} />
                </td>
                <td>
                  <Action entry={entry} />
                </td>
                <td className={styles.what}>
                  <Summary entry={entry} most={2} />
                </td>
                <td>
                  <Address entry={entry} />
                </td>
              </tr>
              {open === entry.id && (
                <tr>
                  <td colSpan={5} className={styles.unfolded}>
                    <Details entry={entry} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Cards = ({ rows, open, onToggle }: Shown) => (
  <ul className={parts.cards}>
    {rows.map(entry => (
      <li key={entry.id} className={parts.card} data-entry={entry.id} data-row>
        <div className={parts.cardTop}>
          <Action entry={entry} />
          <Toggle entry={entry} open={open === entry.id} onToggle={onToggle} />
        </div>
        <div className={styles.said}>
          <Summary entry={entry} most={3} />
        </div>
        <div className={`${parts.facts ?? ''} ${styles.facts ?? ''}`}>
          <At at={entry.timestamp} />
          <Who entry={entry} />
          <Address entry={entry} />
        </div>
        {open === entry.id && <Details entry={entry} />}
      </li>
    ))}
  </ul>
)

const At = ({ at }: { at: string }) => {
  const [here, utc] = exactTime(Date.parse(at)).split(' · ')
  const [date, clock] = (here ?? '').split(' ')
  return (
    <time dateTime={at} title={utc ? `${here ?? ''} · ${utc}` : here} className={styles.at}>
      {date} {clock}
    </time>
  )
}

const Toggle = ({ entry, open, onToggle }: { entry: Entry; open: boolean; onToggle: (id: number) => void }) => {
  const t = textsOf(auditTexts)
  return (
    <button
      type="button"
      className={styles.toggle}
      data-open
      aria-expanded={open}
      aria-label={t.unfold(actionWords(entry.action), exactTime(Date.parse(entry.timestamp)).slice(0, 19))}
      onClick={() => onToggle(entry.id)}
    >
      {open ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
    </button>
  )
}

const useNarrowing = () => {
  const { q = '' } = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  return narrowing(language, q, narrowed => filter({ q: narrowed }))
}

/** A name leads to all that was done by it: of a user, a key or the system. */
const Who = ({ entry }: { entry: Entry }) => {
  const by = useNarrowing()
  const shown = clip(entry.user, 60).shown
  return (
    <Narrows
      by={by}
      field="user"
      value={entry.user}
      shown={shown}
      link={
        <button
          type="button"
          className={parts.value}
          aria-description={textsOf(auditTexts).filterUser(shown)}
          onClick={() => by.only('user', entry.user)}
        >
          <Stranger text={entry.user} most={60} />
        </button>
      }
    />
  )
}

const Action = ({ entry }: { entry: Entry }) => {
  const t = textsOf(auditTexts)
  const by = useNarrowing()
  const { sizes, unfold } = useContext(FoldedBatches)
  const size = sizes.get(entry.id) ?? 1
  return (
    <span className={styles.names}>
      <span>
        <bdi>{sentenceOf(entry)}</bdi>
        {size > 1 && (
          <button
            type="button"
            className={styles.batch}
            title={t.asked(size)}
            aria-description={t.asked(size)}
            onClick={() => unfold(entry.id)}
          >
            {t.onServers(size)}
          </button>
        )}
      </span>
      <Narrows
        by={by}
        field="action"
        value={entry.action}
        link={
          <button
            type="button"
            className={`${parts.value ?? ''} ${styles.dotted ?? ''}`}
            aria-description={t.filterAction(entry.action)}
            onClick={() => by.only('action', entry.action)}
          >
            {entry.action}
          </button>
        }
      />
    </span>
  )
}

const Address = ({ entry }: { entry: Entry }) => {
  const by = useNarrowing()
  return entry.ip_address ? (
    <Narrows
      by={by}
      field="ip"
      value={entry.ip_address}
      link={
        <Link to="/ip/$addr" params={{ addr: entry.ip_address }} className={`${parts.mono ?? ''} ${parts.link ?? ''}`}>
          {entry.ip_address}
        </Link>
      }
    />
  ) : (
    <span className={parts.muted}>–</span>
  )
}

const Summary = ({ entry, most }: { entry: Entry; most: number }) => {
  const told = toldOf(entry.details)
  return (
    <>
      {told.slice(0, most).map(({ name, from, to }) => (
        <span key={name} className={styles.told}>
          <span className={parts.muted}>{clip(name, 60).shown}</span>{' '}
          {from !== undefined && (
            <>
              <Stranger text={from} most={60} /> →{' '}
            </>
          )}
          <Stranger text={to} most={60} />
        </span>
      ))}
      {told.length > most && <span className={parts.muted}> {textsOf(auditTexts).more(told.length - most)}</span>}
    </>
  )
}

const Details = ({ entry }: { entry: Entry }) => {
  const t = textsOf(auditTexts)
  const told = toldOf(entry.details)
  return (
    <div className={styles.details}>
      {told.length > 0 && (
        <dl className={parts.details}>
          {told.map(({ name, from, to }) => (
            <Fragment key={name}>
              <dt>{clip(name, 60).shown}</dt>
              <dd>
                {from !== undefined && (
                  <>
                    <Stranger text={from} most={500} /> →{' '}
                  </>
                )}
                <Stranger text={to} most={500} />
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      <pre className={parts.lines} dir="ltr" tabIndex={0} role="region" aria-label={t.details}>
        {clip(JSON.stringify(entry, null, 2), 20_000).shown}
      </pre>
      <p className={styles.links}>
        <span className={parts.muted}>{exactTime(Date.parse(entry.timestamp))}</span>
        <Link to="/audit" search={linkOf(entry)} className={parts.link}>
          {t.permalink}
        </Link>
      </p>
    </div>
  )
}
