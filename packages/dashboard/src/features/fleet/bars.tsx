import { useState } from 'react'
import parts from '../../kit/parts.module.css'
import { PlainTable } from '../../kit/plain-table.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { shortDate } from '../../lib/time.ts'
import { fleetTexts } from './fleet.texts.ts'
import styles from './fleet.module.css'

interface Point {
  readonly start: string
  readonly count: number
}

/** Counts over time as bars from zero, with the same data as a table for screen readers. */
export const Bars = (props: {
  series: readonly Point[]
  title: string
  /** Of what the counts are, where they are not of bans. */
  words?: (typeof fleetTexts)['en']['chart']
}) => {
  const { series, title } = props
  const t = props.words ?? textsOf(fleetTexts).chart
  const most = Math.max(0, ...series.map(({ count }) => count))
  const total = series.reduce((sum, { count }) => sum + count, 0)
  const [now] = useState(() => Date.now())
  const at = (point: Point | undefined) => (point ? shortDate(Date.parse(point.start), now) : '')
  const width = series.length * 10
  return (
    <div className={styles.stack}>
      <div>
        <svg
          className={styles.chart}
          viewBox={`0 0 ${Math.max(width, 10)} 100`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}. ${total === 0 ? t.empty : t.sum(number(total), at(series[0]), number(most))}`}
        >
          <line className={styles.axis} x1="0" y1="100" x2={width} y2="100" />
          {series.map(({ start, count }, index) => (
            <rect
              key={start}
              x={index * 10 + 1.5}
              y={most === 0 ? 100 : 100 - (count / most) * 98}
              width="7"
              height={most === 0 ? 0 : (count / most) * 98}
            >
              <title>{t.bar(shortDate(Date.parse(start), now), number(count))}</title>
            </rect>
          ))}
        </svg>
        <div className={styles.axisLine} aria-hidden="true">
          <span>{at(series[0])}</span>
          <span>{total === 0 ? t.empty : number(most)}</span>
          <span>{at(series.at(-1))}</span>
        </div>
      </div>
      {total > 0 && (
        <details>
          <summary className={parts.quiet}>{t.table}</summary>
          <PlainTable caption={title} heads={[t.at, { key: 'count', text: t.count, className: parts.end }]}>
            {series
              .filter(({ count }) => count > 0)
              .map(({ start, count }) => (
                <tr key={start}>
                  <td>{shortDate(Date.parse(start), now)}</td>
                  <td className={parts.end}>{number(count)}</td>
                </tr>
              ))}
          </PlainTable>
        </details>
      )}
    </div>
  )
}

/** The first few of a ranking, each with its number and its share as a bar. */
export const Ranked = (props: {
  rows: readonly { readonly key: string; readonly name: React.ReactNode; readonly count: number }[]
}) => {
  const most = Math.max(1, ...props.rows.map(({ count }) => count))
  return (
    <ul className={styles.ranked}>
      {props.rows.map(({ key, name, count }) => (
        <li key={key}>
          <span>{name}</span>
          <span>{number(count)}</span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect className={styles.track} width="100" height="4" />
            <rect width={(count / most) * 100} height="4" />
          </svg>
        </li>
      ))}
    </ul>
  )
}
