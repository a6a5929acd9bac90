import styles from './spark.module.css'

/**
 * Events over time as bars, the oldest first; nothing at all is a dotted line. The words say what the bars count.
 * @param width of the picture in CSS pixels
 */
export const Spark = (props: { counts: readonly number[]; label: string; width?: number; height?: number }) => {
  const { counts, label, width = 84, height = 18 } = props
  const most = Math.max(...counts, 0)
  const pitch = width / Math.max(1, counts.length)
  return (
    <svg
      className={styles.spark}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {most === 0 ? (
        <path className={styles.nothing} d={`M0 ${height - 0.5}H${width}`} />
      ) : (
        counts.map((count, index) => {
          const size = count === 0 ? 1 : Math.max(2, (count / most) * height)
          return (
            <rect
              key={index}
              className={count === 0 ? styles.zero : styles.bar}
              x={index * pitch}
              y={height - size}
              width={Math.max(1, pitch - 1)}
              height={size}
              rx={count === 0 ? 0 : Math.min(1, (pitch - 1) / 2)}
            />
          )
        })
      )}
    </svg>
  )
}

const pathOf = (values: readonly (number | null)[], width: number, height: number, most: number): string => {
  const step = width / Math.max(1, values.length - 1)
  let pen = 'M'
  return values
    .map((value, index) => {
      if (value === null) {
        pen = 'M'
        return ''
      }
      const point = `${pen}${(index * step).toFixed(1)} ${(height - (Math.min(value, most) / most) * height).toFixed(1)}`
      pen = 'L'
      return point
    })
    .join('')
}

/**
 * A level over time as a line with its ground; gaps where nothing was reported. The last value has a point.
 * @param threshold from which on a level is a warning; a dotted line
 * @param most the upper end of the scale
 */
export const Level = (props: {
  values: readonly (number | null)[]
  label: string
  most?: number
  threshold?: number
  tone?: 'accent' | 'ban'
}) => {
  const { values, label, threshold, tone = 'accent' } = props
  const [width, height] = [240, 36]
  const knownValues = values.filter(value => value !== null)
  const most = props.most ?? Math.max(1, ...knownValues) * 1.2
  const line = pathOf(values, width, height, most)
  const last = values.findLastIndex(value => value !== null)
  const first = values.findIndex(value => value !== null)
  const x = (index: number) => (index * width) / Math.max(1, values.length - 1)
  const y = (value: number) => height - (Math.min(value, most) / most) * height
  return (
    <svg
      className={styles.level}
      data-tone={tone}
      viewBox={`0 -2 ${width} ${height + 4}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {threshold !== undefined && threshold < most && (
        <path className={styles.threshold} d={`M0 ${y(threshold)}H${width}`} />
      )}
      {knownValues.length === 0 ? (
        <path className={styles.nothing} d={`M0 ${height}H${width}`} />
      ) : (
        <>
          {!values.slice(first, last + 1).includes(null) && (
            <path className={styles.ground} d={`${line}L${x(last)} ${height}L${x(first)} ${height}Z`} />
          )}
          <path className={styles.line} d={line} />
          <path className={styles.point} d={`M${x(last)} ${y(values[last] ?? 0)}h0`} />
        </>
      )}
    </svg>
  )
}
