import type { ServerRow } from '../../api/queries.ts'
import { serversTexts } from '../servers/servers.texts.ts'
import { Mark } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { percent } from '../../lib/numbers.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import styles from '../../kit/charts/charts.module.css'

const warnAt = 80
const dangerAt = 92

/** Processor, memory and disk as bars with their numbers, and with a word where it gets tight. */
export const Meters = ({ of }: { of: NonNullable<ServerRow['metrics']> }) => {
  const t = textsOf(serversTexts)
  return (
    <dl className={styles.meters}>
      <Meter label={t.cpu} value={of.cpu_percent} />
      <Meter label={t.memory} value={of.memory_percent} />
      <Meter label={t.disk} value={of.disk_percent} />
    </dl>
  )
}

const Meter = ({ label, value }: { label: string; value: number | null }) => {
  const t = textsOf(chartsTexts).meters
  const tone = value === null || value < warnAt ? 'calm' : value < dangerAt ? 'warn' : 'danger'
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <svg className={styles.meter} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect className={styles.track} width="100" height="8" />
          <rect className={styles[tone]} width={Math.min(100, value ?? 0)} height="8" />
        </svg>
      </dd>
      <dd>
        {value === null ? (
          textsOf(serversTexts).unknown
        ) : tone === 'calm' ? (
          percent(value)
        ) : (
          <Mark tone={tone}>{`${percent(value)} · ${tone === 'warn' ? t.high : t.full}`}</Mark>
        )}
      </dd>
    </>
  )
}
