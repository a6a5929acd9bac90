import type { ReactNode } from 'react'
import { number, percent } from '../lib/numbers.ts'
import styles from './ranking.module.css'

export interface RankingRow {
  readonly key: string
  /** The name, usually a link to what it counts. */
  readonly name: ReactNode
  readonly count: number
}

/**
 * The most frequent of something. The bar is the ground of its row, so that the words stay the loudest thing.
 * @param total all that was counted, in the same window
 * @param rest a line for all others together; without a bar, so that it is the quietest
 */
export const Ranking = (props: { rows: readonly RankingRow[]; total: number; rest?: RankingRow | undefined }) => {
  const { rows, total, rest } = props
  const most = Math.max(1, ...rows.map(({ count }) => count))
  return (
    <ol className={styles.ranking}>
      {rows.map(row => (
        <Row key={row.key} row={row} total={total} length={row.count / most} />
      ))}
      {rest && rest.count > 0 && <Row row={rest} total={total} length={null} />}
    </ol>
  )
}

const Row = ({ row, total, length }: { row: RankingRow; total: number; length: number | null }) => (
  <li data-rest={length === null || undefined}>
    {length !== null && (
      <svg className={styles.bar} viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.max(1, length * 100)} height="1" />
      </svg>
    )}
    <span className={styles.name}>{row.name}</span>
    <span className={styles.count} data-count>
      {number(row.count)}
    </span>
    <span className={styles.share}>{percent((row.count / Math.max(1, total)) * 100)}</span>
  </li>
)
