import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import fleet from '../fleet/fleet.module.css'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { useSaid } from '../fleet/said.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { tookOf, tookWords } from '../fleet/took.ts'
import type { ListColumn } from '../../kit/list-rows.ts'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import type { Term } from '../../kit/search/narrowing.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'
import { By, ServerLink } from './facts.tsx'
import { CommandValue } from './narrowing.tsx'
import { newestOf, saidTogether, tallyOf, tookTogether, wordOf } from './rows.ts'
import type { Batch, Line } from './rows.ts'
import styles from './commands.module.css'

/** Leads to the command. Its menu filters by the same type, also where the columns have no room. */
const What = ({ row }: { row: CommandRow }) => {
  const outputWords = useSaid()
  const isNarrow = useNarrow()
  const { types } = textsOf(fleetTexts)
  const { states } = textsOf(commonTexts)
  const others: readonly Term[] = [
    { field: 'status', value: wordOf(row), shown: states[wordOf(row)] },
    { field: 'server', value: row.server.hostname, shown: nameOf(row.server.hostname) },
    { field: 'by', value: row.initiated_by, shown: clip(row.initiated_by, 60).shown },
  ]
  return (
    <CommandValue
      field="type"
      value={row.type}
      shown={types[row.type]}
      others={isNarrow ? others : []}
      link={
        <Link
          to="/commands/$commandId"
          params={{ commandId: row.id }}
          className={`${fleet.name ?? ''} ${isNarrow ? '' : (styles.single ?? '')}`}
          data-open
        >
          <bdi>{outputWords(row)}</bdi>
        </Link>
      }
    />
  )
}

/** What a batch asks for, in words. */
const useTogether = () => {
  const t = textsOf(commandsTexts)
  const { types } = textsOf(fleetTexts)
  const outputWords = useSaid()
  return (rows: readonly CommandRow[]) =>
    saidTogether(rows, outputWords, ({ type }, different) => t.mixed(types[type], different))
}

const WhatOfBatch = (props: { batch: Batch; isOpen: boolean; onToggle: () => void }) => {
  const t = textsOf(commandsTexts)
  const { batch, isOpen, onToggle } = props
  const isNarrow = useNarrow()
  const what = useTogether()(batch.rows)
  return (
    <span className={styles.what}>
      {!isNarrow && (
        <button
          type="button"
          className={`${parts.icon ?? ''} ${styles.toggle ?? ''}`}
          aria-expanded={isOpen}
          aria-label={isOpen ? t.fold(what) : t.unfold(what)}
          data-key="."
          onClick={onToggle}
        >
          {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </button>
      )}
      <Link to="/batches/$batchId" params={{ batchId: batch.batchId }} className={fleet.name} data-open>
        <bdi>{what}</bdi>
      </Link>
    </span>
  )
}

/** Where columns have no room, the menu of the row has these values. */
const Server = ({ row }: { row: CommandRow }) =>
  useNarrow() ? <Stranger text={row.server.hostname} most={60} /> : <ServerLink row={row} />
const Author = ({ row }: { row: CommandRow }) =>
  useNarrow() ? <Stranger text={row.initiated_by} most={40} /> : <By row={row} />

const ServersOfBatch = ({ batch }: { batch: Batch }) => {
  const t = textsOf(commandsTexts)
  const count = new Set(batch.rows.map(({ server }) => server.id)).size
  return (
    <Link to="/batches/$batchId" params={{ batchId: batch.batchId }}>
      {batch.open ? t.atLeast(count) : t.servers(count)}
    </Link>
  )
}

const tones = {
  pending: 'neutral',
  running: 'info',
  completed: 'ok',
  failed: 'danger',
  timeout: 'danger',
  cancelled: 'neutral',
} as const
/** How many of which state, each a menu where there is room for it. */
const Tally = ({ rows }: { rows: readonly CommandRow[] }) => {
  const t = textsOf(commandsTexts)
  const { states } = textsOf(commonTexts)
  const isNarrow = useNarrow()
  return (
    <span className={styles.tally}>
      {tallyOf(rows).map(({ state, count }) => {
        const mark = (
          <Mark key={state} tone={tones[state]}>
            {t.tally(count, states[state])}
          </Mark>
        )
        return isNarrow ? (
          mark
        ) : (
          <CommandValue key={state} field="status" value={state} shown={states[state]}>
            {mark}
          </CommandValue>
        )
      })}
    </span>
  )
}
const Status = ({ row }: { row: CommandRow }) => {
  const isNarrow = useNarrow()
  const state = <State is={wordOf(row)} />
  return isNarrow ? (
    state
  ) : (
    <CommandValue field="status" value={wordOf(row)} shown={textsOf(commonTexts).states[wordOf(row)]}>
      {state}
    </CommandValue>
  )
}

export const columnsOf = (
  unfolded: ReadonlySet<string>,
  onToggle: (batchId: string) => void,
): readonly ListColumn<Line>[] => {
  const { columns: t } = textsOf(commandsTexts)
  return [
    {
      key: 'what',
      name: t.what,
      at: 'title',
      cell: line =>
        line.kind === 'one' ? (
          <What row={line.row} />
        ) : (
          <WhatOfBatch batch={line} isOpen={unfolded.has(line.batchId)} onToggle={() => onToggle(line.batchId)} />
        ),
    },
    {
      key: 'server',
      name: t.server,
      width: 150,
      at: 'about',
      cell: line => (line.kind === 'one' ? <Server row={line.row} /> : <ServersOfBatch batch={line} />),
    },
    { key: 'by', name: t.by, width: 110, at: 'about', cell: line => <Author row={newestOf(line)} /> },
    { key: 'when', name: t.when, width: 110, at: 'about', cell: line => <Time at={newestOf(line).created_at} /> },
    {
      key: 'took',
      name: t.took,
      width: 80,
      end: true,
      wideOnly: true,
      cell: line => tookWords(line.kind === 'one' ? tookOf(line.row) : tookTogether(line.rows)),
    },
    {
      key: 'state',
      name: t.state,
      width: 230,
      at: 'end',
      cell: line => (line.kind === 'one' ? <Status row={line.row} /> : <Tally rows={line.rows} />),
    },
  ]
}
