import { useState } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { ranges } from '../lib/ranges.ts'
import { localInput } from '../lib/time.ts'
import parts from './parts.module.css'
import { Select } from './select.tsx'
import { timeRangeTexts } from './time-range.texts.ts'
import styles from './time-range.module.css'
import { useTyped } from './typed.ts'

interface Range {
  readonly from?: string | undefined
  readonly to?: string | undefined
}
type OnRange = (change: Range, replace?: boolean) => void

/** The time that a list is of: one of the usual ranges, or between two moments. `from` is a range or a moment, `to` a moment. */
export const TimeRange = ({ from, to, onRange }: Range & { onRange: OnRange }) => {
  const t = textsOf(timeRangeTexts)
  const relative = ranges.find(range => range === from)
  const [asked, setAsked] = useState(false)
  const between = to !== undefined || (from !== undefined ? !relative : asked)
  const choose = (value: string) => {
    setAsked(value === 'between')
    if (value !== 'between') onRange({ from: ranges.find(range => range === value), to: undefined })
    else if (relative) onRange({ from: undefined })
  }
  return (
    <>
      <Select
        label={t.range}
        value={between ? 'between' : (relative ?? '')}
        options={[
          { value: '', text: t.anyTime },
          ...ranges.map(range => ({ value: range, text: t.ranges[range] })),
          { value: 'between', text: t.between },
        ]}
        onValue={choose}
      />
      {between && (
        <>
          <Edge name="from" at={from} onRange={onRange} />
          <Edge name="to" at={to} onRange={onRange} />
        </>
      )}
    </>
  )
}

/** One end of the range, taken over once it is a whole moment and the typing rests. */
const Edge = ({ name, at, onRange }: { name: 'from' | 'to'; at: string | undefined; onRange: OnRange }) => {
  const moment = Date.parse(at ?? '')
  const { typed, setTyped } = useTyped(
    Number.isNaN(moment) ? '' : localInput(moment),
    text => onRange({ [name]: text ? new Date(text).toISOString() : undefined }, true),
    { wait: 800, valid: text => text === '' || Date.parse(text) >= 0 },
  )
  return (
    <label className={styles.edge}>
      <span>{textsOf(timeRangeTexts)[name]}</span>
      <input
        className={parts.input}
        type="datetime-local"
        step={1}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
    </label>
  )
}
