import type { ServerRow } from '../../api/queries.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { percent } from '../../lib/numbers.ts'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

const tone = (value: number) => (value >= 92 ? styles.danger : value >= 80 ? styles.warn : styles.calm)

const Bar = ({ label, value }: { label: string; value: number | null }) => (
  <span className={styles.metric} title={label}>
    <span className={styles.metricLabel}>{label}</span>
    <svg className={styles.bar} viewBox="0 0 40 6" preserveAspectRatio="none" aria-hidden="true">
      <rect className={styles.track} width="40" height="6" rx="1" />
      {value !== null && <rect className={tone(value)} width={(Math.min(100, value) / 100) * 40} height="6" rx="1" />}
    </svg>
    <span className={styles.figure}>{value === null ? textsOf(serversTexts).unknown : percent(value)}</span>
  </span>
)

/** Three bars with their numbers. */
export const Metrics = ({ of }: { of: ServerRow['metrics'] }) => {
  const t = textsOf(serversTexts)
  if (!of) return <span>–</span>
  return (
    <span className={styles.metrics}>
      <Bar label={t.cpu} value={of.cpu_percent} />
      <Bar label={t.memory} value={of.memory_percent} />
      <Bar label={t.disk} value={of.disk_percent} />
    </span>
  )
}
