import { describe, expect, it } from 'vitest'
import { barsOf, barsOfMoments, labelled, momentOf, mostBars, ticksOf } from './bars.ts'

const at = (hours: number) => new Date(Date.UTC(2026, 10, 20) + hours * 3_600_000).toISOString()
const series = (count: number) => Array.from({ length: count }, (_, index) => ({ start: at(index), count: index }))

describe('bars', () => {
  it('the first and the last end where the window does, and only the last still grows', () => {
    const bars = barsOf(series(25), { from: at(0.4), to: at(24.5) })
    expect(bars).toHaveLength(25)
    expect(bars[0]).toEqual({ from: Date.parse(at(0.4)), to: Date.parse(at(1)), count: 0, running: false, isCut: true })
    expect(bars[24]).toEqual({
      from: Date.parse(at(24)),
      to: Date.parse(at(24.5)),
      count: 24,
      running: true,
      isCut: false,
    })
    expect(bars.filter(({ running }) => running)).toHaveLength(1)
    expect(bars.slice(1).every((bar, index) => bar.from === bars[index]?.to)).toBe(true)
  })
  it('are sixty at most, and lose nothing', () => {
    const bars = barsOf(series(200), { from: at(0), to: at(200) })
    expect(bars.length).toBeLessThanOrEqual(mostBars)
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe((199 * 200) / 2)
    expect(barsOf([], { from: at(0), to: at(1) })).toEqual([])
  })
  it('of several series have a part for each, and one for all others', () => {
    const window = { from: at(0), to: at(3) }
    const counts = [1, 4, 9].map((count, index) => ({ start: at(index), count }))
    const parts = barsOf(counts, window, [
      [1, 1, 2],
      [0, 2, 3],
    ]).map(bar => bar.parts)
    expect(parts).toEqual([
      [1, 0, 0],
      [1, 2, 1],
      [2, 3, 4],
    ])
  })
  it('of moments begin with the first of them and hold each once', () => {
    const moments = [at(0.5), at(0.6), at(300), at(5000)].map(text => Date.parse(text))
    const bars = barsOfMoments(moments, Date.parse(at(5001)))
    expect(bars[0]?.from).toBe(moments[0])
    expect(bars.at(-1)?.to).toBe(Date.parse(at(5001)))
    expect(bars.length).toBeLessThanOrEqual(mostBars)
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(4)
    for (const bar of bars)
      expect(moments.filter(moment => moment >= bar.from && moment < bar.to)).toHaveLength(bar.count)
    expect(barsOfMoments([], 0)).toEqual([])
  })
})

describe('axes', () => {
  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [42, [0, 20, 40, 60]],
    [1204, [0, 500, 1000, 1500]],
  ])('up to %i are whole numbers, each once', (most, expected) => expect(ticksOf(most)).toEqual(expected))
  it('never end below the highest bar', () => {
    for (let most = 0; most < 3000; most++) {
      const ticks = ticksOf(most)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
      expect(ticks.length).toBeLessThanOrEqual(5)
      expect(ticks.every(Number.isInteger)).toBe(true)
    }
  })
  const local = {
    hourOf: (time: number) => new Date(time).getUTCHours(),
    dateOf: (time: number) => new Date(time).toISOString().slice(0, 10),
  }
  it('label hours that are told by heart, and no more than there is room for', () => {
    const bars = barsOf(series(25), { from: at(0), to: at(24.5) })
    expect(labelled(bars, 10, local)).toEqual({ by: 'hour', at: [3, 6, 9, 12, 15, 18, 21, 24] })
    expect(labelled(bars, 4, local)).toEqual({ by: 'hour', at: [12, 24] })
  })
  it('label dates where there are many days, each once', () => {
    const every = (hours: number, count: number) =>
      barsOf(
        Array.from({ length: count }, (_, index) => ({ start: at(index * hours), count: 1 })),
        { from: at(0), to: at(count * hours) },
      )
    expect(labelled(every(24, 31), 8, local).at.length).toBeLessThanOrEqual(8)
    expect(labelled(every(24, 8), 10, local)).toEqual({ by: 'date', at: [0, 1, 2, 3, 4, 5, 6, 7] })
    expect(labelled(every(6, 20), 10, local)).toEqual({ by: 'date', at: [0, 4, 8, 12, 16] })
    // West of Greenwich a day of the service begins on the evening before.
    const west = { ...local, dateOf: (time: number) => local.dateOf(time - 5 * 3_600_000) }
    const days = every(24, 8)
    expect(days.map(bar => west.dateOf(momentOf(days, bar)))[0]).toBe('2026-11-20')
  })
})
