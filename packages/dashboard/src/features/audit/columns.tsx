import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ListColumn } from '../../kit/list-rows.ts'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import { Narrows } from '../../kit/search/narrowing.tsx'
import { clip } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import type { Entry } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import type { Line } from './batches.ts'
import { useNarrowing } from './narrowing.ts'
import { actionWords, detailsOf, sentenceOf } from './sentences.ts'
import styles from './audit.module.css'

/** To the second; where columns have no room how long ago, and exactly when it is pressed. */
const At = ({ at }: { at: string }) => {
  const isNarrow = useNarrow()
  const [here, utc] = exactTime(Date.parse(at)).split(' · ')
  const [date, clock] = (here ?? '').split(' ')
  if (isNarrow) return <Time at={at} />
  return (
    <time dateTime={at} title={utc ? `${here ?? ''} · ${utc}` : here} className={styles.at}>
      {date} {clock}
    </time>
  )
}

const Toggle = ({ entry, isOpen, onToggle }: { entry: Entry; isOpen: boolean; onToggle: (id: number) => void }) => (
  <button
    type="button"
    className={`${parts.icon ?? ''} ${styles.toggle ?? ''}`}
    data-open
    aria-expanded={isOpen}
    aria-label={textsOf(auditTexts).unfold(
      actionWords(entry.action),
      exactTime(Date.parse(entry.timestamp)).slice(0, 19),
    )}
    onClick={() => onToggle(entry.id)}
  >
    {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
  </button>
)

const Sentence = ({ line: { entry, size }, onUnfold }: { line: Line; onUnfold: (id: number) => void }) => {
  const t = textsOf(auditTexts)
  const sentence = sentenceOf(entry, size)
  return (
    <>
      <span className={styles.sentence} title={sentence}>
        <bdi>{sentence}</bdi>
      </span>
      {size > 1 && (
        <button
          type="button"
          className={styles.batch}
          title={t.asked(size)}
          aria-description={t.asked(size)}
          onClick={() => onUnfold(entry.id)}
        >
          {t.onServers(size)}
        </button>
      )}
    </>
  )
}

/** A name leads to all that was done by it: of a user, a key or the system. */
const Who = ({ entry }: { entry: Entry }) => {
  const by = useNarrowing()
  const userText = clip(entry.user, 60).shown
  if (useNarrow()) return <Stranger text={entry.user} most={60} />
  return (
    <Narrows
      by={by}
      field="user"
      value={entry.user}
      shown={userText}
      link={
        <button
          type="button"
          className={parts.value}
          aria-description={textsOf(auditTexts).filterUser(userText)}
          onClick={() => by.only('user', entry.user)}
        >
          <Stranger text={entry.user} most={60} />
        </button>
      }
    />
  )
}

const Address = ({ ip }: { ip: string | null }) => {
  const by = useNarrowing()
  const isNarrow = useNarrow()
  if (ip === null) return <span className={parts.muted}>–</span>
  if (isNarrow) return <>{ip}</>
  return (
    <Narrows
      by={by}
      field="ip"
      value={ip}
      link={
        <Link to="/ip/$addr" params={{ addr: ip }} title={ip}>
          {ip}
        </Link>
      }
    />
  )
}

/** What changed, as far as one line has room for it. */
const Summary = ({ entry }: { entry: Entry }) =>
  detailsOf(entry)
    .slice(0, 3)
    .map(({ name, from, to }) => (
      <span key={name} className={styles.told}>
        {name && <span className={parts.muted}>{name} </span>}
        {from !== undefined && (
          <>
            <Stranger text={from} most={60} /> →{' '}
          </>
        )}
        <Stranger text={to} most={60} />
      </span>
    ))

export const columnsOf = (by: {
  open: number | undefined
  onToggle: (id: number) => void
  onUnfold: (id: number) => void
}): readonly ListColumn<Line>[] => {
  const { columns: t } = textsOf(auditTexts)
  return [
    {
      key: 'action',
      name: t.action,
      at: 'title',
      cell: line => (
        <span className={styles.action}>
          <Toggle entry={line.entry} isOpen={by.open === line.entry.id} onToggle={by.onToggle} />
          <Sentence line={line} onUnfold={by.onUnfold} />
        </span>
      ),
    },
    { key: 'who', name: t.who, width: 120, at: 'about', cell: ({ entry }) => <Who entry={entry} /> },
    { key: 'address', name: t.address, width: 130, cell: ({ entry }) => <Address ip={entry.ip_address} /> },
    { key: 'details', name: t.details, at: 'about', cell: ({ entry }) => <Summary entry={entry} /> },
    { key: 'time', name: t.time, width: 184, end: true, at: 'about', cell: ({ entry }) => <At at={entry.timestamp} /> },
  ]
}
