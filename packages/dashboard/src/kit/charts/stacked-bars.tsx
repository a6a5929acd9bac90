import { useRef, useState } from 'react'
import type { PointerEvent, ReactNode } from 'react'
import { useElementSize } from '@mantine/hooks'
import { number } from '../../lib/numbers.ts'
import { ticksOf } from './bars.ts'
import type { Bar } from './bars.ts'
import styles from './stacked-bars.module.css'

export type BarRange = readonly [first: number, last: number]

interface Needs {
  readonly bars: readonly Bar[]
  /** In CSS pixels, with the labels of the time axis. */
  readonly height: number
  /** Which bars have a label for so many, and its text. */
  readonly labels: (bars: readonly Bar[], room: number) => readonly (readonly [index: number, text: string])[]
  /** Bars that keys or a finger have taken. */
  readonly taken: BarRange | null
  /** Shown beside the bar that is read. */
  readonly tip: (index: number) => ReactNode
  readonly onOpen: (index: number, by: string) => void
  readonly onZoom: (first: number, last: number) => void
}

const axis = 22
const roomOfLabel = 64
/** Below this a press is a click, not a selection. */
const leastDrag = 6

/**
 * Bars over time, each a stack of its parts in the order of the legend. Plain SVG: it takes its colours from the style sheet,
 * prints, and follows the colour scheme without a redraw. It knows bars by their index only.
 */
export const StackedBars = (props: Needs) => {
  const { bars, height, labels, taken, tip, onOpen, onZoom } = props
  const { ref, width: measured } = useElementSize<HTMLDivElement>()
  const [pointed, setPointed] = useState<number | null>(null)
  const [drag, setDrag] = useState<{ from: number; x: number; to: number; moved: boolean } | null>(null)
  const svg = useRef<SVGSVGElement>(null)
  const ticks = ticksOf(Math.max(0, ...bars.map(({ count }) => count)))
  const top = ticks.at(-1) ?? 1
  const gutter = 12 + 7 * Math.max(...ticks.map(tick => number(tick).length))
  const width = Math.max(120, measured)
  const plot = { x: gutter, width: width - gutter, height: height - axis - 8 }
  const pitch = plot.width / Math.max(1, bars.length)
  const indexAt = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect()
    const at = Math.floor((event.clientX - (box?.left ?? 0) - plot.x) / pitch)
    return Math.min(bars.length - 1, Math.max(0, at))
  }
  const range: BarRange | null = drag?.moved
    ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]
    : (taken ?? null)
  const read = drag?.moved ? null : (pointed ?? (taken && taken[0] === taken[1] ? taken[0] : null))
  const y = (count: number) => 8 + plot.height - (count / top) * plot.height
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return
    if (event.pointerType === 'mouse') svg.current?.setPointerCapture(event.pointerId)
    const index = indexAt(event)
    setDrag({ from: index, x: event.clientX, to: index, moved: false })
  }
  const move = (event: PointerEvent) => {
    if (event.pointerType !== 'touch') setPointed(indexAt(event))
    if (!drag || event.pointerType === 'touch') return
    setDrag({ ...drag, to: indexAt(event), moved: drag.moved || Math.abs(event.clientX - drag.x) > leastDrag })
  }
  const release = (event: PointerEvent) => {
    if (!drag) return
    setDrag(null)
    if (drag.moved) onZoom(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to))
    else onOpen(indexAt(event), event.pointerType)
  }
  return (
    <div className={styles.chart} ref={ref}>
      {measured > 0 && (
        <svg
          ref={svg}
          width={width}
          height={height}
          aria-hidden="true"
          data-reading={read !== null || undefined}
          onPointerDown={press}
          onPointerMove={move}
          onPointerUp={release}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={() => setPointed(null)}
        >
          {ticks.map(tick => (
            <g key={tick}>
              <path className={styles.grid} data-zero={tick === 0 || undefined} d={`M${plot.x} ${y(tick)}H${width}`} />
              <text className={styles.label} x={plot.x - 8} y={y(tick) + 4} textAnchor="end">
                {number(tick)}
              </text>
            </g>
          ))}
          {read !== null && (
            <rect className={styles.ground} x={plot.x + read * pitch} y={8} width={pitch} height={plot.height} />
          )}
          {range && (
            <rect
              className={styles.range}
              x={plot.x + range[0] * pitch}
              y={8}
              width={(range[1] - range[0] + 1) * pitch}
              height={plot.height}
            />
          )}
          {bars.map((bar, index) => (
            <Column key={bar.from} bar={bar} x={plot.x + index * pitch} pitch={pitch} y={y} read={index === read} />
          ))}
          {labels(bars, Math.floor(plot.width / roomOfLabel)).map(([index, text]) => (
            <text
              key={index}
              className={styles.label}
              x={Math.min(width - 16, plot.x + (index + 0.5) * pitch)}
              y={height - 5}
              textAnchor="middle"
            >
              {text}
            </text>
          ))}
          <rect className={styles.catch} x={plot.x} y={0} width={Math.max(0, plot.width)} height={height} />
        </svg>
      )}
      {read !== null && (
        <Tip x={plot.x + (read + 0.5) * pitch} width={width} pitch={pitch}>
          {tip(read)}
        </Tip>
      )}
    </div>
  )
}

const Column = (props: { bar: Bar; x: number; pitch: number; y: (count: number) => number; read: boolean }) => {
  const { bar, x, pitch, y, read } = props
  const width = Math.max(1, Math.min(40, pitch - Math.max(1, pitch * 0.25)))
  const left = x + (pitch - width) / 2
  const parts = bar.parts ?? [bar.count]
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, part) => sum + part, 0))
  return (
    <g data-part={bar.running || bar.isCut || undefined} data-read={read || undefined} className={styles.column}>
      {parts.map((part, index) => {
        const [from, to] = [starts[index] ?? 0, (starts[index] ?? 0) + part]
        const size = y(from) - y(to)
        return (
          part > 0 && (
            <rect
              key={index}
              data-series={index}
              x={left}
              y={y(to)}
              width={width}
              height={Math.max(0.5, size - (size > 3 ? 1 : 0))}
              rx={size > 4 ? 2 : 0}
            />
          )
        )
      })}
    </g>
  )
}

/** Stands to the side of the bar where there is more room. */
const Tip = (props: { x: number; width: number; pitch: number; children: ReactNode }) => {
  const { x, width, pitch, children } = props
  const left = x > width / 2
  const gap = pitch / 2 + 6
  return (
    <div
      className={styles.tip}
      style={left ? { insetInlineEnd: width - x + gap } : { insetInlineStart: x + gap }}
      aria-hidden="true"
    >
      {children}
    </div>
  )
}
