import { useState } from 'react'
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

/** Where things lie in the picture, in CSS pixels. */
const layoutOf = ({ bars, height }: Pick<Needs, 'bars' | 'height'>, width: number) => {
  const ticks = ticksOf(Math.max(0, ...bars.map(({ count }) => count)))
  const top = ticks.at(-1) ?? 1
  const gutter = 12 + 7 * Math.max(...ticks.map(tick => number(tick).length))
  const plot = { x: gutter, width: width - gutter, height: height - axis - 8 }
  const pitch = plot.width / Math.max(1, bars.length)
  return {
    ...{ ticks, width, plot, pitch },
    xOf: (index: number) => plot.x + index * pitch,
    yOf: (count: number) => 8 + plot.height - (count / top) * plot.height,
  }
}
type Layout = ReturnType<typeof layoutOf>

/** The bar that is pointed at, the bars that are drawn over, and what the picture passes on of the pointer. */
const usePointer = ({ bars, onOpen, onZoom }: Needs, { plot, pitch }: Layout) => {
  const [pointed, setPointed] = useState<number | null>(null)
  const [drag, setDrag] = useState<{ from: number; x: number; to: number; moved: boolean } | null>(null)
  const indexAt = ({ clientX, currentTarget }: PointerEvent) => {
    const at = Math.floor((clientX - currentTarget.getBoundingClientRect().left - plot.x) / pitch)
    return Math.min(bars.length - 1, Math.max(0, at))
  }
  const drawn: BarRange | null = drag?.moved ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)] : null
  const handlers = {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      if (event.pointerType === 'mouse') event.currentTarget.setPointerCapture(event.pointerId)
      const index = indexAt(event)
      setDrag({ from: index, x: event.clientX, to: index, moved: false })
    },
    onPointerMove(event: PointerEvent) {
      if (event.pointerType !== 'touch') setPointed(indexAt(event))
      if (!drag || event.pointerType === 'touch') return
      setDrag({ ...drag, to: indexAt(event), moved: drag.moved || Math.abs(event.clientX - drag.x) > leastDrag })
    },
    onPointerUp(event: PointerEvent) {
      if (!drag) return
      setDrag(null)
      if (drawn) onZoom(...drawn)
      else onOpen(indexAt(event), event.pointerType)
    },
    onPointerCancel: () => setDrag(null),
    onPointerLeave: () => setPointed(null),
  }
  return { pointed, drawn, handlers }
}

/**
 * Bars over time, each a stack of its parts in the order of the legend. Plain SVG: it takes its colours from the style sheet,
 * prints, and follows the colour scheme without a redraw. It knows bars by their index only.
 */
export const StackedBars = (props: Needs) => {
  const { bars, height, labels, taken, tip } = props
  const { ref, width: measured } = useElementSize<HTMLDivElement>()
  const layout = layoutOf(props, Math.max(120, measured))
  const { width, plot, pitch, xOf, yOf } = layout
  const { pointed, drawn, handlers } = usePointer(props, layout)
  const range = drawn ?? taken
  const read = drawn ? null : (pointed ?? (taken && taken[0] === taken[1] ? taken[0] : null))
  return (
    <div className={styles.chart} ref={ref}>
      {measured > 0 && (
        <svg width={width} height={height} aria-hidden="true" data-reading={read !== null || undefined} {...handlers}>
          <Grid {...layout} />
          {read !== null && <rect className={styles.ground} x={xOf(read)} y={8} width={pitch} height={plot.height} />}
          {range && (
            <rect
              className={styles.range}
              x={xOf(range[0])}
              y={8}
              width={(range[1] - range[0] + 1) * pitch}
              height={plot.height}
            />
          )}
          {bars.map((bar, index) => (
            <Column key={bar.from} bar={bar} x={xOf(index)} pitch={pitch} y={yOf} read={index === read} />
          ))}
          {labels(bars, Math.floor(plot.width / roomOfLabel)).map(([index, text]) => (
            <text
              key={index}
              className={styles.label}
              x={Math.min(width - 16, xOf(index + 0.5))}
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
        <Tip x={xOf(read + 0.5)} width={width} pitch={pitch}>
          {tip(read)}
        </Tip>
      )}
    </div>
  )
}

/** A line and a number for each step of the scale. */
const Grid = ({ ticks, plot, width, yOf }: Layout) =>
  ticks.map(tick => (
    <g key={tick}>
      <path className={styles.grid} data-zero={tick === 0 || undefined} d={`M${plot.x} ${yOf(tick)}H${width}`} />
      <text className={styles.label} x={plot.x - 8} y={yOf(tick) + 4} textAnchor="end">
        {number(tick)}
      </text>
    </g>
  ))

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
