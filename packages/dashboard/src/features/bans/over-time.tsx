import { useId, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Link, useNavigate } from '@tanstack/react-router'
import type { BansSearch } from './filter.ts'
import parts from '../../kit/parts.module.css'
import { locale, textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { clockTime, localInput, shortDate } from '../../lib/time.ts'
import { shownZone } from '../../lib/preferences.ts'
import { labelled, momentOf } from '../../kit/charts/bars.ts'
import type { Bar } from '../../kit/charts/bars.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import { StackedBars } from '../../kit/charts/stacked-bars.tsx'
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
export const OverTime = ({ title, bars, search = {}, names = [], size = 'medium' }: Chart) => {
  const t = textsOf(chartsTexts)
  const [now] = useState(() => Date.now())
  // Zone and clock change what is read.
  usePreferences()
  const navigate = useNavigate()
  const [taken, setTaken] = useState<readonly [from: number, to: number] | null>(null)
  const tapped = useRef<number | null>(null)
  const hint = useId()

  function open(first: number, last: number) {
    const [one, other] = [bars[first], bars[last]]
    if (!one || !other) return
    const range = { from: new Date(one.from).toISOString(), to: new Date(other.to).toISOString() }
    void navigate({ to: '/bans', search: { ...search, ...range } })
  }
  const take = (next: readonly [number, number] | null) => setTaken(next)
  function onOpen(index: number, by: string) {
    // A finger does not point before it taps.
    if (by === 'touch' && tapped.current !== index) {
      tapped.current = index
      take([index, index])
    } else open(index, index)
  }

  const total = bars.reduce((sum, { count }) => sum + count, 0)
  const highest = bars.reduce<Bar | null>((most, bar) => (bar.count > (most?.count ?? 0) ? bar : most), null)
  const words = (first: number, last: number): string => {
    const [one, other] = [bars[first], bars[last]]
    if (!one || !other) return ''
    const count = bars.slice(first, last + 1).reduce((sum, bar) => sum + bar.count, 0)
    const text = t.read(rangeOf({ ...other, from: one.from }, now), t.bans(number(count), count))
    return other.running ? t.soFar(text) : text
  }
  const read = taken ? words(Math.min(...taken), Math.max(...taken)) : ''
  const tip = (index: number) => {
    const bar = bars[index]
    if (!bar) return null
    const range = rangeOf(bar, now)
    const parts = (bar.parts ?? []).map((part, series) => ({
      name: names[series] ?? t.other,
      count: number(part),
      series,
    }))
    return (
      <TipContent
        title={bar.running ? t.soFar(range) : range}
        rows={parts.filter((_, series) => (bar.parts?.[series] ?? 0) > 0)}
        sum={{ name: parts.length > 0 ? t.all : t.count, count: number(bar.count) }}
      />
    )
  }
  const last = bars.length - 1
  const press = (event: KeyboardEvent) => {
    const at = taken?.[1] ?? last
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (to !== undefined) {
      const next = Math.min(last, Math.max(0, taken ? to : last))
      take([event.shiftKey ? (taken?.[0] ?? next) : next, next])
    } else if ((event.key === 'Enter' || event.key === ' ') && taken) open(Math.min(...taken), Math.max(...taken))
    else if (event.key === 'Escape') take(null)
    else return
    event.preventDefault()
  }
  return (
    <div className={styles.overTime}>
      <div className={styles.frame} data-size={size}>
        <div
          className={styles.plot}
          role="img"
          aria-label={
            total === 0 || !highest
              ? t.nothing(title)
              : t.sentence(title, t.bans(number(total), total), number(highest.count), rangeOf(highest, now))
          }
        >
          <StackedBars
            bars={bars}
            height={heights[size]}
            labels={labels}
            taken={taken && [Math.min(...taken), Math.max(...taken)]}
            tip={tip}
            onOpen={onOpen}
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
            aria-valuenow={taken?.[1] ?? last}
            aria-valuetext={taken ? read : words(last, last)}
            onKeyDown={press}
            onFocus={event => event.currentTarget.matches(':focus-visible') && !taken && take([last, last])}
            onBlur={() => take(null)}
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

const Table = ({ title, bars, search, now }: Required<Pick<Chart, 'title' | 'bars' | 'search'>> & { now: number }) => {
  const t = textsOf(chartsTexts)
  const [shown, setShown] = useState(false)
  return (
    <details onToggle={event => setShown(event.currentTarget.open)}>
      <summary className={parts.quiet}>{t.table}</summary>
      {shown && (
        <table className={parts.table}>
          <caption className={parts.hidden}>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{t.at}</th>
              <th scope="col" className={parts.end}>
                {t.count}
              </th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      )}
    </details>
  )
}
