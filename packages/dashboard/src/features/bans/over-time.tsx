import { useId, useRef, useState } from 'react'
import type { FocusEvent, KeyboardEvent } from 'react'
import { Link, useNavigate } from '@tanstack/react-router'
import type { BansSearch } from './filter.ts'
import parts from '../../kit/parts.module.css'
import { PlainTable } from '../../kit/plain-table.tsx'
import { locale, textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { clockTime, localInput, shortDate } from '../../lib/time.ts'
import { shownZone } from '../../lib/preferences.ts'
import { labelled, momentOf } from '../../kit/charts/bars.ts'
import type { Bar } from '../../kit/charts/bars.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import { StackedBars } from '../../kit/charts/stacked-bars.tsx'
import type { BarRange } from '../../kit/charts/stacked-bars.tsx'
import { TipContent } from '../../kit/charts/legend.tsx'
import styles from '../../kit/charts/charts.module.css'

const localTime = (at: number) => localInput(at, shownZone())

/** Start and end of a bar, in the viewer's time zone. */
const rangeOf = ({ from, to }: Bar, now: number): string => {
  const sameDay = localTime(from).slice(0, 10) === localTime(to).slice(0, 10)
  return textsOf(chartsTexts).between(shortDate(from, now), sameDay ? clockTime(to) : shortDate(to, now))
}
const dateOf = (at: number): string =>
  new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: shownZone() }).format(at)
const local = {
  hourOf: (at: number) => Number(localTime(at).slice(11, 13)),
  dateOf: (at: number) => localTime(at).slice(0, 10),
}
const labels = (bars: readonly Bar[], room: number) => {
  const { by, at } = labelled(bars, room, local)
  return at.flatMap(index => {
    const bar = bars[index]
    if (!bar) return []
    const isDate = by === 'date' || local.hourOf(bar.from) === 0
    return [[index, isDate ? dateOf(momentOf(bars, bar)) : clockTime(bar.from)] as const]
  })
}

/** Of the picture with its axis, in pixels. */
const heights = { medium: 216, large: 288 } as const

export interface Chart {
  readonly title: string
  readonly bars: readonly Bar[]
  /** What the bans of a bar have in common beside their time. */
  readonly search?: BansSearch
  /** Names of the parts of a bar, in order; the last part is all others. */
  readonly names?: readonly string[]
  readonly size?: keyof typeof heights
}

/**
 * Bans over time. A bar is read by pointing at it or by arrow keys; a click, a tap on what was read, or Enter opens its
 * bans; drawing over many opens those of the range.
 */
export const OverTime = (chart: Chart) => {
  const { title, bars, search = {}, size = 'medium' } = chart
  const t = textsOf(chartsTexts)
  const [now] = useState(() => Date.now())
  // Zone and clock change what is read.
  usePreferences()
  const navigate = useNavigate()
  const open: OpenRange = (first, last) => {
    const [one, other] = [bars[first], bars[last]]
    if (!one || !other) return
    const range = { from: new Date(one.from).toISOString(), to: new Date(other.to).toISOString() }
    void navigate({ to: '/bans', search: { ...search, ...range } })
  }
  const taking = useTaking(bars.length - 1, open)
  const { taken } = taking
  const hint = useId()
  const total = totalOf(bars)
  const last = bars.length - 1
  const read = taken ? wordsOf(bars, taken, now) : ''
  return (
    <div className={styles.overTime}>
      <div className={styles.frame} data-size={size}>
        <div className={styles.plot} role="img" aria-label={sentenceOf(title, bars, now)}>
          <StackedBars
            bars={bars}
            height={heights[size]}
            labels={labels}
            taken={taken}
            tip={index => <BarTip bar={bars[index]} names={chart.names} now={now} />}
            onOpen={taking.openByPointer}
            onZoom={open}
          />
        </div>
        {total === 0 && <p className={styles.nothing}>{t.empty}</p>}
        {total > 0 && (
          <div
            className={styles.reader}
            role="slider"
            tabIndex={0}
            aria-label={t.bars(title)}
            aria-describedby={hint}
            aria-valuemin={0}
            aria-valuemax={last}
            aria-valuenow={taking.at ?? last}
            aria-valuetext={taken ? read : wordsOf(bars, [last, last], now)}
            {...taking.keyboard}
          />
        )}
      </div>
      {total > 0 && (
        <>
          <p className={styles.reading}>
            <span hidden={read !== ''} id={hint} className={styles.byKey}>
              {t.keys}
            </span>
            {read === '' && <span className={styles.byFinger}>{t.tap}</span>}
            {read}
          </p>
          <Table title={title} bars={bars} search={search} now={now} />
        </>
      )}
    </div>
  )
}

const totalOf = (bars: readonly Bar[]): number => bars.reduce((sum, { count }) => sum + count, 0)
/** The whole picture in a sentence. */
const sentenceOf = (title: string, bars: readonly Bar[], now: number): string => {
  const t = textsOf(chartsTexts)
  const total = totalOf(bars)
  const highest = bars.reduce<Bar | null>((most, bar) => (bar.count > (most?.count ?? 0) ? bar : most), null)
  return highest
    ? t.sentence(title, t.bans(number(total), total), number(highest.count), rangeOf(highest, now))
    : t.nothing(title)
}
/** What bars of a range hold, in words. */
const wordsOf = (bars: readonly Bar[], [first, last]: BarRange, now: number): string => {
  const t = textsOf(chartsTexts)
  const [one, other] = [bars[first], bars[last]]
  if (!one || !other) return ''
  const count = totalOf(bars.slice(first, last + 1))
  const text = t.read(rangeOf({ ...other, from: one.from }, now), t.bans(number(count), count))
  return other.running ? t.soFar(text) : text
}

type OpenRange = (first: number, last: number) => void
/** The bars that keys or a finger have taken; a second tap, or Enter, opens them. */
const useTaking = (last: number, open: OpenRange) => {
  const [ends, setEnds] = useState<readonly [from: number, to: number] | null>(null)
  const tapped = useRef<number | null>(null)
  const markedRange: BarRange | null = ends && [Math.min(...ends), Math.max(...ends)]
  const onKeyDown = (event: KeyboardEvent) => {
    const at = ends?.[1] ?? last
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (to !== undefined) {
      const next = Math.min(last, Math.max(0, ends ? to : last))
      setEnds([event.shiftKey ? (ends?.[0] ?? next) : next, next])
    } else if ((event.key === 'Enter' || event.key === ' ') && markedRange) open(...markedRange)
    else if (event.key === 'Escape') setEnds(null)
    else return
    event.preventDefault()
  }
  return {
    taken: markedRange,
    /** The end of the range that keys move. */
    at: ends?.[1],
    openByPointer(index: number, by: string) {
      // A finger does not point before it taps.
      if (by === 'touch' && tapped.current !== index) {
        tapped.current = index
        setEnds([index, index])
      } else open(index, index)
    },
    keyboard: {
      onKeyDown,
      onFocus: (event: FocusEvent) => event.currentTarget.matches(':focus-visible') && !ends && setEnds([last, last]),
      onBlur: () => setEnds(null),
    },
  }
}

/** Beside the bar that is read: how many bans, by their parts. */
const BarTip = ({ bar, names = [], now }: { bar: Bar | undefined; names: Chart['names']; now: number }) => {
  const t = textsOf(chartsTexts)
  if (!bar) return null
  const range = rangeOf(bar, now)
  const rows = (bar.parts ?? []).map((part, series) => ({
    name: names[series] ?? t.other,
    count: number(part),
    series,
  }))
  return (
    <TipContent
      title={bar.running ? t.soFar(range) : range}
      rows={rows.filter((_, series) => (bar.parts?.[series] ?? 0) > 0)}
      sum={{ name: rows.length > 0 ? t.all : t.count, count: number(bar.count) }}
    />
  )
}

const Table = ({ title, bars, search, now }: Required<Pick<Chart, 'title' | 'bars' | 'search'>> & { now: number }) => {
  const t = textsOf(chartsTexts)
  const [shown, setShown] = useState(false)
  return (
    <details onToggle={event => setShown(event.currentTarget.open)}>
      <summary className={parts.quiet}>{t.table}</summary>
      {shown && (
        <PlainTable caption={title} heads={[t.at, { key: 'count', text: t.count, className: parts.end }]}>
          {bars
            .filter(({ count }) => count > 0)
            .map(bar => (
              <tr key={bar.from}>
                <td>
                  <Link
                    to="/bans"
                    className={parts.link}
                    search={{
                      ...search,
                      from: new Date(bar.from).toISOString(),
                      to: new Date(bar.to).toISOString(),
                    }}
                  >
                    {bar.running ? t.soFar(rangeOf(bar, now)) : rangeOf(bar, now)}
                  </Link>
                </td>
                <td className={parts.end}>{number(bar.count)}</td>
              </tr>
            ))}
        </PlainTable>
      )}
    </details>
  )
}
