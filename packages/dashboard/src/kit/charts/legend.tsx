import type { ReactNode } from 'react'
import styles from './stacked-bars.module.css'

export const Swatch = ({ series }: { series: number }) => <i className={styles.swatch} data-series={series} />

/** The names of the parts of stacked bars, in their order. */
export const Legend = ({ names }: { names: readonly ReactNode[] }) => (
  <ul className={styles.legend}>
    {names.map((name, index) => (
      <li key={index}>
        <Swatch series={index} />
        {name}
      </li>
    ))}
  </ul>
)

export interface TipRow {
  readonly name: ReactNode
  readonly count: string
  readonly series?: number
}
/** The content of a tooltip beside a bar: its range, the parts, and their sum. */
export const TipContent = (props: { title: string; rows: readonly TipRow[]; sum: TipRow }) => (
  <>
    <h4>{props.title}</h4>
    <dl>
      {props.rows.map(({ name, count, series }, index) => (
        <Row key={index} name={name} count={count} {...(series === undefined ? {} : { series })} />
      ))}
      <dt data-sum={props.rows.length > 0 || undefined}>{props.sum.name}</dt>
      <dd data-sum={props.rows.length > 0 || undefined}>{props.sum.count}</dd>
    </dl>
  </>
)
const Row = ({ name, count, series }: TipRow) => (
  <>
    <dt>
      {series !== undefined && <Swatch series={series} />}
      {name}
    </dt>
    <dd>{count}</dd>
  </>
)
