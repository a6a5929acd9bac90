import { useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import parts from '../parts.module.css'
import { at as placed } from './lane-scale.ts'
import type { Scale } from './lane-scale.ts'
import styles from './lanes.module.css'

/** Beyond these shares of the axis words stand before their moment. */
const endOfTick = 0.93
const endOfNow = 0.95

/** A time from `from` to `to`; `to` is Infinity for what has no end. */
export interface Span {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly over: boolean
  /** What it is, for the tooltip. */
  readonly text: string
}
export interface Lane {
  readonly key: string
  readonly name: ReactNode
  readonly about: ReactNode
  /** The same in words, for those who do not see the picture. */
  readonly words: string
  readonly spans: readonly Span[]
  /** Moments, such as attempts. */
  readonly marks: readonly number[]
}

/**
 * Times as bars, one lane a thing: solid up to now, hatched where they are still to come, grey where they are over.
 * @param ticks moments on the axis with their words
 */
export const Lanes = (props: {
  label: string
  lanes: readonly Lane[]
  most: number
  /** The share of the axis that six letters take. */
  room: number
  scale: Scale
  now: number
  nowText: string
  ticks: readonly (readonly [at: number, text: string])[]
  more: (count: number) => string
  onOpen: (id: number) => void
}) => {
  const { lanes, most, room, scale, now, ticks } = props
  const [all, setAll] = useState(false)
  const visibleLanes = all ? lanes : lanes.slice(0, most)
  const percent = (time: number) => `${(placed(scale, time) * 100).toFixed(2)}%`
  const isNowSeen = now >= scale.from && now <= scale.to
  const labels = useMemo(
    () => thinned(ticks, scale, room, isNowSeen ? { at: now, text: props.nowText } : null),
    [ticks, scale, room, now, isNowSeen, props.nowText],
  )
  return (
    <figure className={styles.figure} aria-label={props.label}>
      <div className={styles.grid}>
        <div className={styles.ground} aria-hidden="true">
          {labels.map(([time]) => (
            <i key={time} style={{ insetInlineStart: percent(time) }} />
          ))}
          {scale.breaks.map(place => (
            <i key={place} className={styles.break} style={{ insetInlineStart: `${place * 100}%` }} />
          ))}
          {isNowSeen && <i className={styles.now} style={{ insetInlineStart: percent(now) }} />}
        </div>
        <ul className={styles.lanes}>
          {visibleLanes.map(lane => (
            <li key={lane.key} className={styles.lane}>
              <span className={styles.name}>{lane.name}</span>
              <span className={styles.about}>{lane.about}</span>
              <span className={parts.hidden}>{lane.words}</span>
              <span className={styles.track} aria-hidden="true">
                {lane.spans.map(span => (
                  <Bar key={span.id} span={span} now={now} scale={scale} onOpen={props.onOpen} />
                ))}
                {lane.marks
                  .filter(mark => mark >= scale.from && mark <= scale.to)
                  .map((mark, index) => (
                    <i key={index} className={styles.mark} style={{ insetInlineStart: percent(mark) }} />
                  ))}
              </span>
            </li>
          ))}
        </ul>
        <div className={styles.axis} aria-hidden="true">
          {labels.map(([time, text]) => (
            <span
              key={time}
              style={{ insetInlineStart: percent(time) }}
              data-end={placed(scale, time) > endOfTick || undefined}
            >
              {text}
            </span>
          ))}
          {isNowSeen && (
            <b style={{ insetInlineStart: percent(now) }} data-end={placed(scale, now) > endOfNow || undefined}>
              {props.nowText}
            </b>
          )}
        </div>
      </div>
      {lanes.length > most && !all && (
        <button type="button" className={parts.quiet} onClick={() => setAll(true)}>
          {props.more(lanes.length - most)}
        </button>
      )}
    </figure>
  )
}

/** Where words stand, as shares of the width: around their moment, or before it at the end of the axis. */
const extentOf = (place: number, letters: number, room: number, end: number): readonly [number, number] => {
  const width = (room * (letters + 2)) / 7
  return place > end ? [place - width, place] : [place - width / 2, place + width / 2]
}

/** Words that would stand on others, or say the same again, are left out; the present moment and the ends win. */
const thinned = (
  ticks: readonly (readonly [number, string])[],
  scale: Scale,
  room: number,
  now: { readonly at: number; readonly text: string } | null,
): readonly (readonly [number, string])[] => {
  // The present moment stands on a ground, which is two letters wider.
  const labelExtents = now === null ? [] : [extentOf(placed(scale, now.at), now.text.length + 2, room, endOfNow)]
  const labelledLanes = new Set<string>()
  const [first, last] = [ticks[0], ticks.at(-1)]
  const inTurn = [...(last ? [last] : []), ...(first && first !== last ? [first] : []), ...ticks.slice(1, -1)]
  return inTurn.filter(([time, words]) => {
    if (time < scale.from || time > scale.to || labelledLanes.has(words)) return false
    const [from, to] = extentOf(placed(scale, time), words.length, room, endOfTick)
    if (labelExtents.some(other => from < other[1] && to > other[0])) return false
    labelExtents.push([from, to])
    labelledLanes.add(words)
    return true
  })
}

const Bar = (props: { span: Span; now: number; scale: Scale; onOpen: (id: number) => void }) => {
  const { span, now, scale, onOpen } = props
  const { from, to, over } = span
  if (to < scale.from || from > scale.to) return null
  const [start, end] = [placed(scale, from), placed(scale, to)]
  const middle = over ? end : Math.min(end, Math.max(start, placed(scale, now)))
  const style = (a: number, b: number) => ({
    insetInlineStart: `${(a * 100).toFixed(2)}%`,
    inlineSize: `max(3px, ${((b - a) * 100).toFixed(2)}%)`,
  })
  return (
    <>
      <i
        className={over ? styles.over : styles.held}
        title={span.text}
        style={style(start, middle)}
        onClick={() => onOpen(span.id)}
      />
      {!over && end > middle && (
        <i className={styles.rest} title={span.text} style={style(middle, end)} onClick={() => onOpen(span.id)} />
      )}
    </>
  )
}
