import { Coverage } from '../../kit/coverage.tsx'
import { useNarrow } from '../../kit/width.ts'
import styles from './held.module.css'

/** Numbers of servers by what they did with a list or a ban. */
export interface HeldCounts {
  readonly applied: number
  readonly pending: number
  readonly failed: number
  readonly not_covered: number
}

/** Where something holds, as the hosts read it back from their kernels. Where a row has no room for actions, it opens the details. */
export const Held = (props: {
  counts: HeldCounts
  words: string
  title: string
  opens: string
  onOpen: () => void
}) => {
  const isNarrow = useNarrow()
  const { applied, pending, failed, not_covered: notCovered } = props.counts
  const coverage = (
    <>
      <Coverage held={applied} running={pending} failed={failed + notCovered} />
      <span data-state={failed + notCovered > 0 ? 'failed' : pending > 0 ? 'running' : undefined}>{props.words}</span>
    </>
  )
  return isNarrow ? (
    <button
      type="button"
      className={styles.held}
      aria-label={`${props.opens}. ${props.title}`}
      data-open
      onClick={props.onOpen}
    >
      {coverage}
    </button>
  ) : (
    <span className={styles.held} title={props.title}>
      {coverage}
    </span>
  )
}
