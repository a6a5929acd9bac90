import { readDuration } from '@stockade/contract/durations.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { duration } from '../lib/time.ts'
import { TextField } from './form-fields.tsx'
import { durationTexts } from './duration.texts.ts'
import styles from './form.module.css'
import parts from './parts.module.css'
import type { Common } from './text-field.tsx'

/** The longest fleet ban, in seconds: ten years. A command takes a year of fail2ban at most. */
export const longestFleetBan = 3650 * 86_400

/** What is typed: seconds, -1 for permanent; undefined for an empty field, null for what is no duration. */
export const typedDuration = (typed: string, most?: number): number | null | undefined =>
  typed.trim() === '' ? undefined : readDuration(typed, most)

/**
 * How long something lasts: usual lengths to choose from, and a field that takes words such as `1 week` or `permanent`.
 * `usual`: the length of an empty field in seconds, where it is known.
 */
export const DurationField = (props: Common<string> & { usual?: number | undefined; focus?: boolean }) => {
  const { value, onValue, usual, ...field } = props
  const t = textsOf(durationTexts)
  const current = value.trim() === '' ? usual : readDuration(value, longestFleetBan)
  const lengths = [
    ['1h', t.lengths.hour],
    ['1d', t.lengths.day],
    ['1w', t.lengths.week],
    ['30d', t.lengths.month],
    ['perm', duration(-1)],
  ] as const
  return (
    <div className={styles.duration}>
      <TextField {...field} most={20} dir="ltr" value={value} onValue={onValue} />
      <div className={parts.row} role="group" aria-label={t.lengths.label(props.label)}>
        {lengths.map(([code, text]) => (
          <button
            key={code}
            type="button"
            className={parts.chip}
            aria-pressed={current === readDuration(code)}
            onClick={() => onValue(code)}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  )
}
