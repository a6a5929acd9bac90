import styles from './coverage.module.css'

const most = 24

/** How far something is in force on the servers, as stakes; a number stands beside it. What waits is empty, and is never rounded away. */
export const Coverage = ({ held, running, failed }: { held: number; running: number; failed: number }) => {
  const shares = sharesOf([held, running, failed])
  return (
    <span className={styles.coverage} aria-hidden="true">
      {(['held', 'running', 'failed'] as const).flatMap((kind, index) =>
        Array.from({ length: shares[index] ?? 0 }, (_, stake) => <i key={`${kind}${stake}`} data-kind={kind} />),
      )}
    </span>
  )
}

/** A stake for each server; of more than there is room for, in proportion: what is above zero has one stake at least, taken from the largest. */
export const sharesOf = (counts: readonly number[]): readonly number[] => {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all <= most) return counts
  const shares = counts.map(count => (count === 0 ? 0 : Math.max(1, Math.floor((count / all) * most))))
  const largest = counts.indexOf(Math.max(...counts))
  const others = shares.reduce((sum, share, index) => (index === largest ? sum : sum + share), 0)
  return shares.map((share, index) => (index === largest ? most - others : share))
}
