import { useState } from 'react'
import { IconHistory } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { announce } from '../../kit/announce.tsx'
import { Empty, Fresh } from '../../kit/list-states.tsx'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { conditionsOf } from '../../kit/search/terms.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { useAuditList } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import { linesOf } from './batches.ts'
import type { Line } from './batches.ts'
import { columnsOf } from './columns.tsx'
import { EntryDetails } from './entry-details.tsx'
import { auditLimit, exportOf, turnTo } from './filter.ts'
import type { AuditSearch } from './filter.ts'
import { AuditSearchField, Presets } from './filters.tsx'
import { language, useFilter } from './narrowing.ts'
import styles from './audit.module.css'

const keyOf = ({ entry }: Line) => entry.id
const dataOf = ({ entry }: Line) => ({ 'data-entry': entry.id })
const isPart = (line: Line) => line.isPart

/** The conditions of the list, each with the way to take it off. */
const useConditions = () => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  return [
    ...conditionsOf(search.q ?? '', language).map(({ text, rest }) => ({
      text,
      onRemove: () => filter({ q: rest || undefined }),
    })),
    ...(search.from || search.to ? [{ text: t.time, onRemove: () => filter({ from: undefined, to: undefined }) }] : []),
  ]
}

/** Which entry shows its details, by the address of the page; which batches show their entries. */
const useUnfolded = () => {
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set())
  return {
    unfolded,
    onUnfold: (id: number) => setUnfolded(new Set([...unfolded, id])),
    onToggle: (id: number) =>
      void navigate({
        to: '/audit',
        search: { ...search, open: search.open === id ? undefined : id },
        replace: true,
        resetScroll: false,
      }),
  }
}

/** Who did what, from where. */
export const Audit = () => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  const filter = useFilter()
  const list = useAuditList(search)
  const { query, rows, total } = list
  const { unfolded, onUnfold, onToggle } = useUnfolded()
  const turn = (to: number) => {
    void navigate({ to: '/audit', search: turnTo(search, to, rows?.[0]?.timestamp) })
    scrollTo({ top: 0 })
  }
  return (
    <Page title={t.title} tools={<AuditSearchField rows={rows ?? []} />}>
      <Presets />
      <List
        what={t.what}
        caption={t.caption}
        query={query}
        rows={rows && linesOf(rows, unfolded, search.open)}
        shown={rows?.length ?? 0}
        columns={columnsOf({ open: search.open, onToggle, onUnfold })}
        keyOf={keyOf}
        dataOf={dataOf}
        isSub={isPart}
        below={({ entry }) => (search.open === entry.id ? <EntryDetails entry={entry} /> : null)}
        page={search.page ?? 1}
        limit={auditLimit}
        total={total}
        onPage={turn}
        head={<News list={list} onNow={search.pin ? () => turn(1) : undefined} />}
        foot={<Exports search={search} at={query.dataUpdatedAt} />}
        empty={<Empty icon={<IconHistory size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty} />}
        noMatch={t.noMatch}
        filters={useConditions()}
        onClear={() => filter({ q: undefined, from: undefined, to: undefined })}
      />
    </Page>
  )
}

const News = (props: { list: ReturnType<typeof useAuditList>; onNow: (() => void) | undefined }) => {
  const t = textsOf(auditTexts)
  const { waiting, manyWaiting, showWaiting } = props.list
  const text = t.new(waiting, manyWaiting)
  const show = () => {
    showWaiting()
    announce(text)
  }
  return (
    <>
      <Fresh waiting={waiting} text={text} show={t.showNew} onShow={show} />
      {props.onNow && (
        <button type="button" className={parts.quiet} onClick={props.onNow}>
          {t.pinned}
        </button>
      )}
    </>
  )
}

const Exports = ({ search, at }: { search: AuditSearch; at: number }) => {
  const t = textsOf(auditTexts)
  return (
    <span className={styles.export}>
      {t.export}
      {(['csv', 'json'] as const).map(format => (
        <a
          key={format}
          className={styles.link}
          // As of the moment that the list was read at, so that both hold the same.
          href={exportOf(search, at, format)}
          download={`audit.${format}`}
          aria-label={t.exportOf(t[format])}
        >
          {t[format]}
        </a>
      ))}
    </span>
  )
}
