import { useRef, useState } from 'react'
import type { PointerEvent } from 'react'
import { IconChevronLeft, IconChevronRight, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { banStatsQuery } from '../fleet/queries.ts'
import type { Period } from '../fleet/queries.ts'
import { serverStatsQuery } from '../fleet/queries.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { shortDate } from '../../lib/time.ts'
import { useFilter } from './narrowing.tsx'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import type { BansSearch } from './filter.ts'
import { windowOf } from './histogram-window.ts'
import styles from './bans.module.css'

interface Span {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}

/** How the bans lie in time, small: a part is chosen by drawing over it, or by the buttons. */
export const Histogram = () => {
  const search = useSearch({ from: '/inside/bans' })
  const [now] = useState(() => Date.now())
  const period = windowOf(search, now)
  return period === null ? null : <Bars period={period} search={search} />
}

const Bars = ({ period, search }: { period: Period; search: BansSearch }) => {
  const t = textsOf(bansTexts)
  const filter = useFilter()
  const [now] = useState(() => Date.now())
  const all = useQuery({ ...banStatsQuery(period), enabled: search.server === undefined }).data
  const one = useQuery({ ...serverStatsQuery(search.server ?? '', period), enabled: search.server !== undefined }).data
  const stats = search.server === undefined ? all : one
  const [drawn, setDrawn] = useState<{ from: number; to: number } | null>(null)
  const chart = useRef<SVGSVGElement>(null)
  const series = stats?.series ?? []
  if (series.length < 2) return <div className={styles.histogram} />
  const size = Date.parse(series[1]?.start ?? '') - Date.parse(series[0]?.start ?? '')
  const startOf = (index: number) => Date.parse(series[0]?.start ?? '') + index * size
  const most = Math.max(1, ...series.map(({ count }) => count))
  const whole: Span = { first: 0, end: series.length }
  // Only absolute ends were drawn or moved here; a named range is the whole window.
  const zoomed: Span =
    search.from?.includes('T') === true
      ? {
          first: Math.max(0, Math.floor((Date.parse(search.from) - startOf(0)) / size)),
          end: search.to
            ? Math.min(series.length, Math.ceil((Date.parse(search.to) - startOf(0)) / size))
            : series.length,
        }
      : whole
  const shown: Span = drawn
    ? { first: Math.min(drawn.from, drawn.to), end: Math.max(drawn.from, drawn.to) + 1 }
    : zoomed
  const isWhole = shown.first === 0 && shown.end === series.length
  const total = series.slice(shown.first, shown.end).reduce((sum, { count }) => sum + count, 0)
  const at = (time: number) => shortDate(time, now)
  const zoom = ({ first, end }: Span) =>
    first <= 0 && end >= series.length
      ? filter({ from: { day: 'now-24h', week: 'now-7d', month: 'now-30d' }[period], to: undefined })
      : filter({
          from: new Date(startOf(Math.max(0, first))).toISOString(),
          to: end >= series.length ? undefined : new Date(startOf(end)).toISOString(),
        })
  const barAt = (event: PointerEvent) => {
    const box = chart.current?.getBoundingClientRect()
    if (!box || box.width === 0) return 0
    return Math.max(
      0,
      Math.min(series.length - 1, Math.floor(((event.clientX - box.left) / box.width) * series.length)),
    )
  }
  const length = shown.end - shown.first
  const shift = (by: number) => zoom({ first: shown.first + by, end: shown.end + by })
  const buttons = [
    {
      words: t.earlier,
      icon: <IconChevronLeft size={16} />,
      off: shown.first === 0,
      act: () => shift(-Math.min(shown.first, Math.max(1, Math.floor(length / 2)))),
    },
    {
      words: t.later,
      icon: <IconChevronRight size={16} />,
      off: shown.end >= series.length,
      act: () => shift(Math.min(series.length - shown.end, Math.max(1, Math.floor(length / 2)))),
    },
    {
      words: t.zoomIn,
      icon: <IconZoomIn size={16} />,
      off: length < 2,
      act: () => zoom({ first: shown.end - Math.ceil(length / 2), end: shown.end }),
    },
    {
      words: t.zoomOut,
      icon: <IconZoomOut size={16} />,
      off: isWhole,
      act: () => zoom({ first: shown.first - length, end: shown.end + length }),
    },
  ]
  return (
    <div className={styles.histogram} role="group" aria-label={t.histogram}>
      <svg
        ref={chart}
        viewBox={`0 0 ${series.length * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.counted(number(total), at(startOf(shown.first)), at(Math.min(startOf(shown.end), now)))}
        onPointerDown={event => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrawn({ from: barAt(event), to: barAt(event) })
        }}
        onPointerMove={event => {
          if (drawn) setDrawn({ from: drawn.from, to: barAt(event) })
        }}
        onPointerUp={() => {
          if (drawn) zoom(shown)
          setDrawn(null)
        }}
        onPointerCancel={() => setDrawn(null)}
      >
        <rect width={series.length * 10} height="100" fill="transparent" />
        {series.map(({ start, count }, index) => (
          <rect
            key={start}
            x={index * 10 + 1}
            width="8"
            y={100 - Math.max(count > 0 ? 6 : 0, (count / most) * 100)}
            height={Math.max(count > 0 ? 6 : 0, (count / most) * 100)}
            data-out={index < shown.first || index >= shown.end || undefined}
          >
            <title>{t.bar(at(Date.parse(start)), number(count))}</title>
          </rect>
        ))}
      </svg>
      <span className={styles.window}>
        {isWhole
          ? textsOf(attackersTexts).drag
          : `${at(startOf(shown.first))} – ${at(Math.min(startOf(shown.end), now))}`}
      </span>
      <span className={styles.zoom}>
        {buttons.map(({ words, icon, off, act }) => (
          <button key={words} type="button" className={styles.icon} aria-label={words} disabled={off} onClick={act}>
            {icon}
          </button>
        ))}
      </span>
    </div>
  )
}
