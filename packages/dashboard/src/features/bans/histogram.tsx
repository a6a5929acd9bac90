import { useState } from 'react'
import type { PointerEvent } from 'react'
import { IconChevronLeft, IconChevronRight, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { banStatsQuery } from '../fleet/queries.ts'
import type { Period } from '../fleet/queries.ts'
import { serverStatsQuery } from '../fleet/queries.ts'
import { BriefTrouble } from '../../kit/trouble.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { shortDate } from '../../lib/time.ts'
import { useFilter } from './narrowing.tsx'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import type { BansSearch } from './filter.ts'
import { filterOf, scaleOf, spanOf, windowOf } from './histogram-window.ts'
import type { Scale, Span } from './histogram-window.ts'
import styles from './bans.module.css'

/** How the bans lie in time, small: a part is chosen by drawing over it, or by the buttons. */
export const Histogram = () => {
  const search = useSearch({ from: '/inside/bans' })
  const [now] = useState(() => Date.now())
  const period = windowOf(search, now)
  return period === null ? null : <Bars period={period} search={search} />
}

const Bars = ({ period, search }: { period: Period; search: BansSearch }) => {
  const filter = useFilter()
  const t = textsOf(bansTexts)
  const all = useQuery({ ...banStatsQuery(period), enabled: search.server === undefined })
  const one = useQuery({ ...serverStatsQuery(search.server ?? '', period), enabled: search.server !== undefined })
  const query = search.server === undefined ? all : one
  const scale = scaleOf(query.data?.series ?? [])
  if (!scale)
    return (
      <div className={styles.histogram}>
        <BriefTrouble what={t.whatTimes} query={query} />
      </div>
    )
  return (
    <Timeline scale={scale} filtered={spanOf(search, scale)} onSpan={span => filter(filterOf(span, scale, period))} />
  )
}

interface TimelineProps {
  readonly scale: Scale
  /** The bars that the list shows. */
  readonly filtered: Span
  readonly onSpan: (span: Span) => void
}

const Timeline = ({ scale, filtered, onSpan }: TimelineProps) => {
  const t = textsOf(bansTexts)
  const [now] = useState(() => Date.now())
  const { bars, startOf } = scale
  const { drawn, pointer } = useDrawing(bars.length, onSpan)
  const visibleRange = drawn ?? filtered
  const isWhole = visibleRange.first === 0 && visibleRange.end === bars.length
  const total = bars.slice(visibleRange.first, visibleRange.end).reduce((sum, { count }) => sum + count, 0)
  const from = shortDate(startOf(visibleRange.first), now)
  const to = shortDate(Math.min(startOf(visibleRange.end), now), now)
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <div className={styles.histogram} role="group" aria-label={t.histogram}>
      <svg
        viewBox={`0 0 ${bars.length * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.counted(number(total), from, to)}
        {...pointer}
      >
        <rect width={bars.length * 10} height="100" fill="transparent" />
        {bars.map(({ start, count }, index) => (
          <rect
            key={start}
            x={index * 10 + 1}
            width="8"
            y={100 - Math.max(count > 0 ? 6 : 0, (count / most) * 100)}
            height={Math.max(count > 0 ? 6 : 0, (count / most) * 100)}
            data-out={index < visibleRange.first || index >= visibleRange.end || undefined}
          >
            <title>{t.bar(shortDate(Date.parse(start), now), number(count))}</title>
          </rect>
        ))}
      </svg>
      <span className={styles.window} data-hint={isWhole || undefined}>
        {isWhole ? textsOf(attackersTexts).drag : `${from} – ${to}`}
      </span>
      <ZoomButtons shown={visibleRange} count={bars.length} onSpan={onSpan} />
    </div>
  )
}

/** The bars that the pointer is drawing over, null while it draws nothing, and what the picture passes on of the pointer. */
const useDrawing = (count: number, onSpan: (span: Span) => void) => {
  const [ends, setEnds] = useState<{ from: number; to: number } | null>(null)
  const drawn: Span | null = ends && { first: Math.min(ends.from, ends.to), end: Math.max(ends.from, ends.to) + 1 }
  const barAt = ({ clientX, currentTarget }: PointerEvent) => {
    const box = currentTarget.getBoundingClientRect()
    if (box.width === 0) return 0
    return Math.max(0, Math.min(count - 1, Math.floor(((clientX - box.left) / box.width) * count)))
  }
  const pointer = {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setEnds({ from: barAt(event), to: barAt(event) })
    },
    onPointerMove(event: PointerEvent) {
      if (ends) setEnds({ from: ends.from, to: barAt(event) })
    },
    onPointerUp() {
      if (drawn) onSpan(drawn)
      setEnds(null)
    },
    onPointerCancel: () => setEnds(null),
  }
  return { drawn, pointer }
}

const ZoomButtons = (props: { shown: Span; count: number; onSpan: (span: Span) => void }) => {
  const t = textsOf(bansTexts)
  const { shown, count, onSpan } = props
  const length = shown.end - shown.first
  const half = Math.max(1, Math.floor(length / 2))
  const shift = (by: number) => onSpan({ first: shown.first + by, end: shown.end + by })
  const buttons = [
    {
      words: t.earlier,
      icon: <IconChevronLeft size={16} />,
      off: shown.first === 0,
      act: () => shift(-Math.min(shown.first, half)),
    },
    {
      words: t.later,
      icon: <IconChevronRight size={16} />,
      off: shown.end >= count,
      act: () => shift(Math.min(count - shown.end, half)),
    },
    {
      words: t.zoomIn,
      icon: <IconZoomIn size={16} />,
      off: length < 2,
      act: () => onSpan({ first: shown.end - Math.ceil(length / 2), end: shown.end }),
    },
    {
      words: t.zoomOut,
      icon: <IconZoomOut size={16} />,
      off: length === count,
      act: () => onSpan({ first: shown.first - length, end: shown.end + length }),
    },
  ]
  return (
    <span className={styles.zoom}>
      {buttons.map(({ words, icon, off, act }) => (
        <button
          key={words}
          type="button"
          className={`${parts.icon ?? ''} ${parts.edged ?? ''} ${styles.icon ?? ''}`}
          aria-label={words}
          disabled={off}
          onClick={act}
        >
          {icon}
        </button>
      ))}
    </span>
  )
}
