import { Held } from '../fleet/held.tsx'
import { Spark } from '../../kit/charts/spark.tsx'
import type { ListColumn } from '../../kit/list-rows.ts'
import parts from '../../kit/parts.module.css'
import { Mark, Shape } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import type { Blocklist } from './queries.ts'
import styles from './blocklists.module.css'

/** How many servers a list concerns, of those that the user sees. */
export const serversOf = ({ held }: Blocklist): number => held.applied + held.pending + held.failed + held.not_covered

const stateOf = (list: Blocklist): { readonly tone: Tone; readonly text: string } => {
  const t = textsOf(blocklistsTexts)
  if (list.mode === 'off') return { tone: 'neutral', text: t.modes.off }
  if (list.stale) return { tone: 'warn', text: t.stale }
  if (list.last_error !== null) return { tone: 'warn', text: t.failing }
  return list.version === 0 ? { tone: 'info', text: t.waiting } : { tone: 'ok', text: t.fine }
}

const kinds = ['whitelisted', 'managed', 'people', 'own', 'private', 'too_wide', 'invalid', 'duplicates'] as const
/** What a version leaves out, what is ours first. */
export const leftOutWords = (leftOut: Blocklist['left_out']): string => {
  const t = textsOf(blocklistsTexts)
  // What the user may not know is null.
  const words = kinds.flatMap(kind => (leftOut[kind] ? [t.leftOut[kind](number(leftOut[kind]))] : []))
  return words.length === 0 ? t.nothing : words.join(', ')
}

const Name = ({ list }: { list: Blocklist }) => {
  const { tone, text } = stateOf(list)
  return (
    <span className={styles.name}>
      <span role="img" aria-label={text} title={text} data-tone={tone}>
        <Shape tone={tone} />
      </span>
      <b>
        <Stranger text={list.name} most={60} />
      </b>
    </span>
  )
}

const HeldBy = ({ list, onOpen }: { list: Blocklist; onOpen: (list: Blocklist) => void }) => {
  const t = textsOf(blocklistsTexts)
  const { applied } = list.held
  const all = serversOf(list)
  return (
    <Held
      counts={list.held}
      words={t.held(applied, all)}
      title={t.heldTitle(applied, all)}
      opens={t.open(list.name)}
      onOpen={() => onOpen(list)}
    />
  )
}

export const columnsOf = (onOpen: (list: Blocklist) => void): readonly ListColumn<Blocklist>[] => {
  const t = textsOf(blocklistsTexts)
  return [
    { key: 'name', name: t.columns.name, width: 230, at: 'title', cell: list => <Name list={list} /> },
    { key: 'entries', name: t.columns.entries, width: 92, end: true, cell: ({ entries }) => number(entries) },
    {
      key: 'mode',
      name: t.columns.mode,
      width: 120,
      at: 'about',
      cell: ({ mode }) => (
        <Mark tone={mode === 'enforce' ? 'ban' : mode === 'observe' ? 'allow' : 'neutral'}>{t.modes[mode]}</Mark>
      ),
    },
    {
      key: 'checked',
      name: t.columns.checked,
      width: 120,
      at: 'end-about',
      cell: ({ checked_at }) =>
        checked_at === null ? <span className={parts.muted}>{t.never}</span> : <Time at={checked_at} />,
    },
    {
      key: 'hits',
      name: t.columns.hits,
      width: 120,
      cell: ({ hits }) => <Spark counts={hits.hours} label={t.hits(number(hits.last_day))} />,
    },
    {
      key: 'left',
      name: t.columns.leftOut,
      wideOnly: true,
      cell: list => (
        <span className={parts.muted}>
          {list.last_error !== null ? (
            <Stranger
              text={list.version > 0 ? `${list.last_error} ${t.keeps(number(list.entries))}` : list.last_error}
              most={160}
            />
          ) : (
            leftOutWords(list.left_out)
          )}
        </span>
      ),
    },
    { key: 'held', name: t.columns.held, width: 190, at: 'end', cell: list => <HeldBy list={list} onOpen={onOpen} /> },
  ]
}
