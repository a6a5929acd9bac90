import { Link, useNavigate } from '@tanstack/react-router'
import type { BansSearch } from '../bans/filter.ts'
import { PartValue } from '../bans/part-value.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip } from '../../lib/clip.ts'
import { number, percent } from '../../lib/numbers.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import styles from '../../kit/charts/charts.module.css'

export interface RankedRow {
  readonly key: string
  /** A name of a jail, a network or a country: anybody's text. */
  readonly name: string
  readonly count: number
  /** What these bans have in common; none where the list has no filter for it. */
  readonly term?: { readonly field: RankedField; readonly value: string } | undefined
}
type RankedField = 'jail' | 'country' | 'asn' | 'ip'

const shown = 5

/**
 * The first five of a ranking and all others together, each with its number and its share of the whole.
 * @param total all that was counted, in the same window
 * @param of the list of all that was counted, with the exact window: each row leads to its part of it
 */
export const Ranked = (props: { rows: readonly RankedRow[]; total: number; of: BansSearch }) => {
  const { rows, total, of } = props
  const t = textsOf(chartsTexts)
  const first = rows.slice(0, shown)
  const rest = total - first.reduce((sum, { count }) => sum + count, 0)
  const most = Math.max(1, rest, ...first.map(({ count }) => count))
  return (
    <ol className={styles.ranked}>
      {first.map(({ key, name, count, term }) => (
        <li key={key}>
          <span>{term ? <Part name={name} term={term} of={of} /> : <Stranger text={name} most={64} />}</span>
          <Figures count={count} total={total} />
          <Line share={count / most} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <span>{t.other}</span>
          <Figures count={rest} total={total} />
          <Line share={rest / most} rest />
        </li>
      )}
    </ol>
  )
}

/** Leads to the bans of a row; its menu also to all but them. */
const Part = (props: { name: string; term: NonNullable<RankedRow['term']>; of: BansSearch }) => {
  const { name, term, of } = props
  const { field, value } = term
  const navigate = useNavigate()
  const only = { [field]: value }
  return (
    <PartValue
      field={field}
      value={field === 'asn' ? value.replace(/^AS/, '') : value}
      shown={clip(name, 253).shown}
      of={of}
      only={only}
      {...(field === 'ip'
        ? { open: () => void navigate({ to: '/ip/$addr', params: { addr: value }, search: {} }) }
        : {})}
      link={
        <Link to="/bans" search={{ ...of, ...only }}>
          <Stranger text={name} most={64} />
        </Link>
      }
    />
  )
}

const Figures = ({ count, total }: { count: number; total: number }) => (
  <span>
    {number(count)} <span className={styles.share}>{percent((count / Math.max(1, total)) * 100)}</span>
  </span>
)
const Line = ({ share, rest = false }: { share: number; rest?: boolean }) => (
  <svg className={styles.line} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    <rect className={styles.track} width="100" height="4" />
    <rect className={rest ? styles.rest : undefined} width={share * 100} height="4" />
  </svg>
)
