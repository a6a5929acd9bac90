import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { number } from '../../lib/numbers.ts'
import { ticksOf } from './bars.ts'
import type { Bar } from './bars.ts'

/* The drawing of bars. It knows no time: bars stand side by side by their index. */

export interface Plot {
  show(bars: readonly Bar[]): void
  /** Marks the bars from one index to another, or none. */
  mark(range: readonly [number, number] | null): void
  close(): void
}
interface Needs {
  readonly height: number
  /** Which bars have a label for so many, and what it says. */
  labels(bars: readonly Bar[], room: number): readonly (readonly [index: number, text: string])[]
  /** The pointer is at a bar, or has gone. */
  onRead(index: number | null): void
  onOpen(index: number, by: string): void
  onZoom(first: number, last: number): void
}

const font = '12px ui-sans-serif, system-ui, sans-serif'
const roomOfLabel = 64

/** Thin lines that lean: what is not over yet. */
const hatched = (context: CanvasRenderingContext2D, colour: string): CanvasPattern | string => {
  const ratio = devicePixelRatio
  const size = Math.round(6 * ratio)
  const tile = document.createElement('canvas')
  tile.width = tile.height = size
  const pen = tile.getContext('2d')
  if (!pen) return colour
  pen.strokeStyle = colour
  pen.lineWidth = 1.5 * ratio
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size)
    pen.lineTo(shift + size, 0)
  }
  pen.stroke()
  return context.createPattern(tile, 'repeat') ?? colour
}

const dataOf = (bars: readonly Bar[]): UPlot.AlignedData => [
  bars.map((_, index) => index),
  bars.map(({ count, running }) => (running ? null : count)),
  bars.map(({ count, running }) => (running ? count : null)),
]

/** Draws bars into an element with the colours that its style has at this moment. */
export const plotInto = (element: HTMLElement, needs: Needs): Plot => {
  let bars: readonly Bar[] = []
  /** A selection that was made here is no wish to zoom. */
  let marking = false
  const token = (name: string) => () => getComputedStyle(element).getPropertyValue(name).trim() || '#888'
  const [colour, line, label] = [token('--bar'), token('--line'), token('--label')]
  const ticks = () => [...ticksOf(Math.max(0, ...bars.map(({ count }) => count)))]
  const labels = (width: number) => needs.labels(bars, Math.floor(width / roomOfLabel))
  const paths = UPlot.paths.bars?.({ size: [0.75, 40] })
  const drawn = { points: { show: false }, ...(paths ? { paths } : {}) }
  const width = () => Math.max(120, Math.floor(element.getBoundingClientRect().width))
  const rtl = getComputedStyle(element).direction === 'rtl'
  const plot = new UPlot(
    {
      width: width(),
      height: needs.height,
      legend: { show: false },
      padding: [8, 4, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { time: false, dir: rtl ? -1 : 1, range: () => [-0.5, Math.max(0.5, bars.length - 0.5)] },
        y: { range: () => [0, ticks().at(-1) ?? 1] },
      },
      axes: [
        {
          stroke: label,
          font,
          size: 22,
          gap: 4,
          grid: { show: false },
          ticks: { show: false },
          border: { show: true, stroke: line, width: 1 },
          splits: self => labels(self.width).map(([index]) => index),
          values: self => labels(self.width).map(([, text]) => text),
        },
        {
          stroke: label,
          font,
          size: (_, values) => 12 + 7 * Math.max(1, ...(values ?? []).map(text => text.length)),
          gap: 4,
          side: rtl ? 1 : 3,
          grid: { stroke: line, width: 1 },
          ticks: { show: false },
          splits: ticks,
          values: (_, splits) => splits.map(split => number(split)),
        },
      ],
      series: [
        {},
        { fill: colour, width: 0, ...drawn },
        { fill: self => hatched(self.ctx, colour()), stroke: colour, width: 1, ...drawn },
      ],
      hooks: {
        setCursor: [self => needs.onRead(self.cursor.idx ?? null)],
        setSelect: [
          self => {
            const { left, width } = self.select
            if (width < 4 || marking) return
            const of = (at: number) => Math.min(bars.length - 1, Math.max(0, Math.round(self.posToVal(at, 'x'))))
            const [one, other] = [of(left), of(left + width)]
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            needs.onZoom(Math.min(one, other), Math.max(one, other))
          },
        ],
      },
    },
    dataOf(bars),
    element,
  )
  const open = (event: MouseEvent) => {
    const index = plot.cursor.idx
    if (index !== null && index !== undefined)
      needs.onOpen(index, event instanceof PointerEvent ? event.pointerType : 'mouse')
  }
  plot.over.addEventListener('click', open)
  const fit = new ResizeObserver(() => {
    if (width() !== plot.width) plot.setSize({ width: width(), height: needs.height })
  })
  fit.observe(element)
  const redraw = () => plot.redraw()
  // Light or dark: the colours are read again.
  const scheme = new MutationObserver(redraw)
  scheme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-mantine-color-scheme'] })
  const forced = matchMedia('(forced-colors: active)')
  forced.addEventListener('change', redraw)
  return {
    show(next) {
      bars = next
      plot.setData(dataOf(bars))
    },
    mark(range) {
      marking = true
      if (range === null) {
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        plot.setCursor({ left: -10, top: -10 }, false)
      } else {
        const edges = [range[0] - 0.5, range[1] + 0.5].map(value => plot.valToPos(value, 'x'))
        const [left, right] = [Math.min(...edges), Math.max(...edges)]
        plot.setSelect({ left, top: 0, width: right - left, height: plot.over.clientHeight }, false)
      }
      marking = false
    },
    close() {
      fit.disconnect()
      scheme.disconnect()
      forced.removeEventListener('change', redraw)
      plot.destroy()
    },
  }
}
