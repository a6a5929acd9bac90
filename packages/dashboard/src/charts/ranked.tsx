import { Link } from '@tanstack/react-router'
import type { BansSearch } from '../pages/bans/filter.ts'
import { Stranger } from '../parts/stranger.tsx'
import { textsOf } from '../texts/catalogue.ts'
import { clip } from '../words/clip.ts'
import { number, percent } from '../words/numbers.ts'
import { chartsTexts } from './charts.texts.ts'
import styles from './charts.module.css'

export interface RankedRow {
  readonly key: string
  /** A name of a jail, a network or a country: anybody's text. */
  readonly name: string
  readonly count: number
  /** The list of exactly these bans; none where the list has no filter for them. */
  readonly search?: BansSearch | undefined
}

const shown = 5

/**
 * The first five of a ranking and all others together, each with its number and its share of the whole.
 * @param total all that was counted, in the same window
 */
export const Ranked = ({ rows, total }: { rows: readonly RankedRow[]; total: number }) => {
  const t = textsOf(chartsTexts)
  const first = rows.slice(0, shown)
  const rest = total - first.reduce((sum, { count }) => sum + count, 0)
  const most = Math.max(1, rest, ...first.map(({ count }) => count))
  return (
    <ol className={styles.ranked}>
      {first.map(({ key, name, count, search }) => (
        <li key={key}>
          <span>
            {search ? (
              <Link to="/bans" search={search} title={clip(name, 253).shown}>
                <Stranger text={name} most={64} />
              </Link>
            ) : (
              <Stranger text={name} most={64} />
            )}
          </span>
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
