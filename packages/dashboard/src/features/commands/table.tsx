import { useMemo, useState } from 'react'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import fleet from '../fleet/fleet.module.css'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { useSaid } from '../fleet/said.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import parts from '../../kit/parts.module.css'
import { focusedRow } from '../../kit/row-of.ts'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import type { Term } from '../../kit/search/narrowing.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'
import { useCommandKeys } from './keys.ts'
import { By, ServerLink, tookWords } from './facts.tsx'
import { CommandValue } from './narrowing.tsx'
import { saidTogether, tallyOf, tookOf, wordOf } from './rows.ts'
import type { Group } from './rows.ts'
import styles from './commands.module.css'

type Batch = Extract<Group, { kind: 'batch' }>
const keyOf = (group: Group) => (group.kind === 'one' ? group.row.id : group.batchId)

/** Commands as rows or cards; a batch is one that unfolds. */
export const CommandList = ({ groups }: { groups: readonly Group[] }) => {
  const t = textsOf(commandsTexts)
  const narrow = useNarrow()
  useListKeys()
  const rows = useMemo(() => groups.flatMap(group => (group.kind === 'one' ? [group.row] : group.rows)), [groups])
  useCommandKeys(rows, focusedRow)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const toggle = (batchId: string) =>
    setUnfolded(before => {
      const next = new Set(before)
      if (!next.delete(batchId)) next.add(batchId)
      return next
    })
  if (narrow)
    return (
      <ul className={parts.cards} aria-label={t.caption}>
        {groups.map(group =>
          group.kind === 'one' ? (
            <Card key={keyOf(group)} row={group.row} />
          ) : (
            <BatchCard key={keyOf(group)} batch={group} />
          ),
        )}
      </ul>
    )
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
          {groups.flatMap(group =>
            group.kind === 'one'
              ? [<Row key={keyOf(group)} row={group.row} />]
              : [
                  <BatchRow
                    key={keyOf(group)}
                    batch={group}
                    open={unfolded.has(group.batchId)}
                    onToggle={() => toggle(group.batchId)}
                  />,
                  ...(unfolded.has(group.batchId)
                    ? group.rows.map(row => <Row key={`${group.batchId} ${row.id}`} row={row} within />)
                    : []),
                ],
          )}
        </tbody>
      </table>
    </div>
  )
}

/** Leads to the command; its menu asks for others of its kind, and on a card for all that stands there. */
const What = ({ row, whole = false }: { row: CommandRow; whole?: boolean }) => {
  const said = useSaid()
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
      others={whole ? others : []}
      marked={whole}
      link={
        <Link to="/commands/$commandId" params={{ commandId: row.id }} className={fleet.name}>
          <bdi>{said(row)}</bdi>
        </Link>
      }
    />
  )
}
const Status = ({ row }: { row: CommandRow }) => (
  <CommandValue field="status" value={wordOf(row)} shown={textsOf(commonTexts).states[wordOf(row)]}>
    <State is={wordOf(row)} />
  </CommandValue>
)

const Row = ({ row, within = false }: { row: CommandRow; within?: boolean }) => (
  <tr className={within ? styles.of : undefined} data-row data-name={row.id}>
    <td>
      <Status row={row} />
    </td>
    <td>
      <span className={styles.what}>
        <What row={row} />
      </span>
    </td>
    <td className={parts.cut}>
      <ServerLink row={row} />
    </td>
    <td className={parts.cut}>
      <By row={row} />
    </td>
    <td>
      <Time at={row.created_at} />
    </td>
    <td>{tookWords(tookOf(row))}</td>
  </tr>
)

/** The worst state that a batch has is the one to see; its tally stands beside it. */
const Tally = ({ rows, menus = false }: { rows: readonly CommandRow[]; menus?: boolean }) => {
  const t = textsOf(commandsTexts)
  const { states } = textsOf(commonTexts)
  const tones = {
    pending: 'neutral',
    running: 'info',
    completed: 'ok',
    failed: 'danger',
    timeout: 'danger',
    cancelled: 'neutral',
  } as const
  return (
    <span className={styles.tally}>
      {tallyOf(rows).map(({ state, count }) => {
        const mark = (
          <Mark key={state} tone={tones[state]}>
            {t.tally(count, states[state])}
          </Mark>
        )
        return menus ? (
          <CommandValue key={state} field="status" value={state} shown={states[state]}>
            {mark}
          </CommandValue>
        ) : (
          mark
        )
      })}
    </span>
  )
}

/** What a batch asks for, in words. */
const useTogether = () => {
  const t = textsOf(commandsTexts)
  const { types } = textsOf(fleetTexts)
  const said = useSaid()
  return (rows: readonly CommandRow[]) =>
    saidTogether(rows, said, ({ type }, different) => t.mixed(types[type], different))
}

const servers = (batch: Batch) => {
  const t = textsOf(commandsTexts)
  const count = new Set(batch.rows.map(({ server }) => server.id)).size
  return batch.open ? t.atLeast(count) : t.servers(count)
}

const BatchRow = (props: { batch: Batch; open: boolean; onToggle: () => void }) => {
  const t = textsOf(commandsTexts)
  const { batch, open, onToggle } = props
  const what = useTogether()(batch.rows)
  const [newest] = batch.rows
  if (!newest) return null
  return (
    <tr data-row>
      <td>
        <Tally rows={batch.rows} menus />
      </td>
      <td>
        <span className={styles.what}>
          <button
            type="button"
            className={styles.toggle}
            aria-expanded={open}
            aria-label={open ? t.fold(what) : t.unfold(what)}
            data-key="."
            onClick={onToggle}
          >
            {open ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
          </button>
          <Link to="/batches/$batchId" params={{ batchId: batch.batchId }} className={fleet.name}>
            <bdi>{what}</bdi>
          </Link>
        </span>
      </td>
      <td>{servers(batch)}</td>
      <td className={parts.cut}>
        <By row={newest} />
      </td>
      <td>
        <Time at={newest.created_at} />
      </td>
      <td />
    </tr>
  )
}

const Card = ({ row }: { row: CommandRow }) => (
  <li className={parts.card} data-row data-name={row.id}>
    <div className={parts.cardTop}>
      <What row={row} whole />
      <State is={wordOf(row)} />
    </div>
    <div className={parts.facts}>
      <span>
        <Stranger text={row.server.hostname} most={60} />
      </span>
      <span>
        <Stranger text={row.initiated_by} most={40} />
      </span>
      <span>
        <Time at={row.created_at} />
      </span>
    </div>
  </li>
)

/** On a card there is no room to unfold: its page shows every server. */
const BatchCard = ({ batch }: { batch: Batch }) => {
  const what = useTogether()(batch.rows)
  const [newest] = batch.rows
  if (!newest) return null
  return (
    <li className={parts.card} data-row>
      <div className={parts.cardTop}>
        <Link to="/batches/$batchId" params={{ batchId: batch.batchId }} className={fleet.name}>
          <bdi>{what}</bdi>
        </Link>
        <span className={parts.muted}>{servers(batch)}</span>
      </div>
      <Tally rows={batch.rows} />
      <div className={parts.facts}>
        <span>
          <Stranger text={newest.initiated_by} most={40} />
        </span>
        <span>
          <Time at={newest.created_at} />
        </span>
      </div>
    </li>
  )
}
