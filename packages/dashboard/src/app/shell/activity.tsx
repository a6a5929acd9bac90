import { useEffect, useMemo, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { IconActivity, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Command } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { dropReceipt, useOpenReceipts } from '../../features/fleet/kept-receipts.ts'
import { useReceipt } from '../../features/fleet/receipt.ts'
import { NamedReceipt } from '../../features/fleet/receipts.tsx'
import { useSaid } from '../../features/fleet/said.ts'
import { canUndo, cancelCommand, undoCommand } from '../../features/fleet/undo.ts'
import { Loading } from '../../kit/loading.tsx'
import { announce } from '../../kit/announce.tsx'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import receipt from '../../kit/receipt.module.css'
import { ReceiptBar, ToneMark } from '../../kit/receipt.tsx'
import { isSettled, phaseOf } from '../../kit/receipt-state.ts'
import { Mark, toneOf } from '../../kit/state.tsx'
import type { ReceiptOf } from '../../kit/toasts.ts'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { fleetTexts } from '../../features/fleet/fleet.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { activityTexts } from './activity.texts.ts'
import { useActivityCounts, useActivityQuery, useFollowedActivity } from './activity.ts'
import { groupsOf } from './last-commands.ts'
import styles from './activity.module.css'

/** What goes on in the fleet: an icon with a count in the top bar; phones have it on the page “More”. */
export const Activity = ({ place }: { place: HTMLElement }) => {
  const t = textsOf(activityTexts)
  useFollowedActivity()
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return createPortal(
    <div className={styles.activity} role="group" aria-label={t.title}>
      <button ref={button} type="button" className={styles.strip} aria-expanded={open} onClick={() => setOpen(!open)}>
        <IconActivity size={18} stroke={1.75} />
        <Newest />
        <Words />
      </button>
      {open && <Sheet onClose={close} onGone={() => setOpen(false)} />}
    </div>,
    place,
  )
}

/** `3 running · 1 failed`; where nothing goes on, only its name for screen readers. */
const Words = () => {
  const t = textsOf(activityTexts)
  const { running, waiting, failed } = useActivityCounts()
  // Nothing known is not the same as nothing going on.
  const { isError: isUnread } = useActivityQuery()
  // What ends well is seen where it was asked for.
  useEffect(() => {
    if (failed > 0) announce(t.failed(failed))
  }, [failed, t])
  if (isUnread)
    return (
      <span className={styles.words}>
        <Mark tone="warn">{t.unread}</Mark>
      </span>
    )
  if (running + waiting + failed === 0) return <span className={parts.hidden}>{t.title}</span>
  return (
    <>
      <span className={styles.words}>
        {running > 0 && <Mark tone="info">{t.running(running)}</Mark>}
        {waiting > 0 && <Mark tone="neutral">{t.waiting(waiting)}</Mark>}
        {failed > 0 && <Mark tone="danger">{t.failed(failed)}</Mark>}
      </span>
      <span className={styles.count} aria-hidden="true">
        <Mark tone={failed > 0 ? 'danger' : running > 0 ? 'info' : 'neutral'}>
          {number(running + waiting + failed)}
        </Mark>
      </span>
    </>
  )
}

/** `10 of 12`: how far the newest request of this tab to several servers is, until it settles. */
const Newest = () => {
  const newest = useOpenReceipts().findLast(({ of }) => !('commandId' in of))
  return newest ? <Counted key={JSON.stringify(newest.of)} of={newest.of} /> : null
}
const Counted = ({ of }: { of: ReceiptOf }) => {
  const t = textsOf(fleetTexts).receipt
  const { counts, isMissing } = useReceipt(of)
  const over = isMissing || isSettled(phaseOf(counts))
  useEffect(() => {
    if (over) dropReceipt(of)
  }, [over, of])
  if (over || counts.total === 0) return null
  return (
    <span className={styles.newest}>
      {t.ratio(counts.done, counts.total)}
      <ReceiptBar counts={counts} label={t.label} most={12} />
    </span>
  )
}

const Sheet = ({ onClose, onGone }: { onClose: () => void; onGone: () => void }) => {
  const t = textsOf(activityTexts)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section
      className={styles.sheet}
      aria-label={t.title}
      onKeyDown={event => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header className={styles.top}>
        <h2 className={parts.panelTitle} tabIndex={-1} ref={heading}>
          {t.title}
        </h2>
        <Link to="/commands" search={{}} onClick={onGone}>
          {t.all}
        </Link>
        <button type="button" className={styles.close} aria-label={t.close} onClick={onClose}>
          <IconX size={16} />
        </button>
      </header>
      <ActivityList />
    </section>
  )
}

/** The last commands, each with the way to its output and back. */
export const ActivityList = () => {
  const t = textsOf(activityTexts)
  const query = useActivityQuery()
  const rows = query.data
  const outputWords = useSaid()
  return (
    <>
      <Loading what={t.what} query={query} lines={3} />
      {rows?.length === 0 && <p className={parts.muted}>{t.none}</p>}
      {rows && rows.length > 0 && (
        <>
          <p className={parts.help}>{t.lead}</p>
          <ul className={styles.list}>
            {groupsOf(rows).map(({ row, batchId }) =>
              batchId === null ? (
                <Line key={row.id} row={row} what={outputWords(row)} />
              ) : (
                <BatchLine key={batchId} row={row} batchId={batchId} />
              ),
            )}
          </ul>
        </>
      )}
    </>
  )
}

const BatchLine = ({ row, batchId }: { row: Command; batchId: string }) => {
  const of = useMemo(() => ({ batchId }), [batchId])
  return (
    <li className={styles.batch}>
      <NamedReceipt of={of} />
      <p className={parts.help}>
        <Time at={row.created_at} /> ·{' '}
        <Link to="/batches/$batchId" params={{ batchId }} search={{}} className={parts.link}>
          {textsOf(fleetTexts).receipt.toBatch}
        </Link>
      </p>
    </li>
  )
}

const stateOf = (row: Command) => (row.cancelled ? 'cancelled' : row.status)
const Line = ({ row, what }: { row: Command; what: string }) => (
  <li className={styles.line}>
    <span className={receipt.node} data-tone={toneOf(stateOf(row))}>
      <ToneMark tone={toneOf(stateOf(row))} turning={row.status === 'running'} />
    </span>
    <span className={styles.what}>
      <Link to="/commands/$commandId" params={{ commandId: row.id }} className={parts.link}>
        <bdi>{what}</bdi>
      </Link>
      <span className={parts.help}>
        <Stranger text={row.server.hostname} most={60} /> · <Time at={row.created_at} />
      </span>
    </span>
    <span className={styles.state}>{textsOf(commonTexts).states[stateOf(row)]}</span>
    <Back row={row} what={what} />
  </li>
)

const Back = ({ row, what }: { row: Command; what: string }) => {
  const t = textsOf(activityTexts)
  const { may } = useMay('write')
  const undoable = useWords(now => canUndo(row, now))
  const server = nameOf(row.server.hostname)
  if (!may) return null
  if (row.status === 'pending')
    return (
      <button
        type="button"
        className={parts.quiet}
        aria-label={t.cancelOf(what, server)}
        onClick={() => void cancelCommand(row)}
      >
        {t.cancel}
      </button>
    )
  return undoable ? (
    <button
      type="button"
      className={parts.quiet}
      aria-label={t.undoOf(what, server)}
      onClick={() => void undoCommand(row)}
    >
      {t.undo}
    </button>
  ) : null
}
