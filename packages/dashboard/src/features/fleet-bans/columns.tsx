import { Link } from '@tanstack/react-router'
import { sayTarget } from '../fleet/target-choice.tsx'
import { Held } from '../fleet/held.tsx'
import type { ListColumn } from '../../kit/list-rows.ts'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { TimeWords } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ago, dayTime, exactTime } from '../../lib/time.ts'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import type { FleetBan } from '../fleet/fleet-bans.ts'
import styles from './fleet-bans.module.css'

/** How many servers a fleet ban concerns, of those that the user sees. */
export const serversOf = ({ state }: FleetBan): number =>
  state.applied + state.pending + state.failed + state.not_covered

export const Entry = ({ entry }: { entry: string }) =>
  entry.includes('/') ? (
    <Link to="/bans" search={{ q: `ip:${entry}` }} className={styles.entry} title={entry}>
      {entry}
    </Link>
  ) : (
    <Link to="/ip/$addr" params={{ addr: entry }} className={styles.entry} title={entry}>
      {entry}
    </Link>
  )

const Author = ({ ban }: { ban: FleetBan }) => {
  const t = textsOf(fleetBansTexts)
  const at = Date.parse(ban.created_at)
  const words = useWords(now => ago(at, now))
  return (
    <span title={exactTime(at)}>
      <Stranger text={t.by(ban.created_by, words)} most={60} />
    </span>
  )
}

const Ends = ({ ban }: { ban: FleetBan }) => {
  const t = textsOf(fleetBansTexts)
  const at = ban.ended_at ?? ban.expires_at
  const say = (date: number, now: number) => {
    const moment = dayTime(date, now)
    return ban.ended_at === null ? moment : (ban.ended_by === 'expired' ? t.expired : t.removed)(moment)
  }
  return at === null ? <span className={parts.muted}>{t.permanent}</span> : <TimeWords at={at} say={say} />
}

const HeldBy = ({ ban, onOpen }: { ban: FleetBan; onOpen: (ban: FleetBan) => void }) => {
  const t = textsOf(fleetBansTexts)
  const { applied, pending, failed, not_covered: notCovered } = ban.state
  const all = serversOf(ban)
  const phrases = [
    t.heldTitle(applied, all),
    pending > 0 && t.pending(pending),
    failed > 0 && t.failed(failed),
    notCovered > 0 && t.notCovered(notCovered),
  ].filter(Boolean)
  return (
    <Held
      counts={ban.state}
      words={t.held(applied, all)}
      title={phrases.join(' ')}
      opens={t.open(ban.entry)}
      onOpen={() => onOpen(ban)}
    />
  )
}

export const columnsOf = (by: {
  showEnded: boolean
  onOpen: (ban: FleetBan) => void
}): readonly ListColumn<FleetBan>[] => {
  const t = textsOf(fleetBansTexts)
  const holdersColumn: ListColumn<FleetBan> = {
    key: 'held',
    name: t.columns.held,
    width: 190,
    at: 'end',
    cell: ban => <HeldBy ban={ban} onOpen={by.onOpen} />,
  }
  return [
    { key: 'entry', name: t.columns.entry, width: 220, at: 'title', cell: ({ entry }) => <Entry entry={entry} /> },
    {
      key: 'reason',
      name: t.columns.reason,
      at: 'about',
      cell: ({ reason }) =>
        reason ? <Stranger text={reason} most={200} /> : <span className={parts.muted}>{t.noReason}</span>,
    },
    {
      key: 'target',
      name: t.columns.target,
      width: 120,
      wideOnly: true,
      cell: ban => sayTarget(ban.target),
    },
    { key: 'by', name: t.columns.by, width: 150, wideOnly: true, cell: ban => <Author ban={ban} /> },
    { key: 'ends', name: t.columns.ends, width: 150, at: 'end-about', cell: ban => <Ends ban={ban} /> },
    ...(by.showEnded ? [] : [holdersColumn]),
  ]
}
