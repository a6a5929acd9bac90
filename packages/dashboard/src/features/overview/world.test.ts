import { describe, expect, it } from 'vitest'
import { drawWorld } from '../../../world/world.ts'
import { bandsOf, shades, stepOf } from './world-steps.ts'

describe('shades of the map', () => {
  it('grow with the order of magnitude', () => {
    expect([0, 1, 5, 10, 100, 1000, 10_000, 99_999, 100_000].map(count => stepOf(count, 100_000))).toEqual([
      0, 1, 1, 2, 3, 4, 5, 5, 5,
    ])
    expect(stepOf(1, 1)).toBe(shades)
  })
  it('hold every count once, as the legend says', () => {
    for (const most of [1, 2, 3, 7, 40, 1204, 99_999]) {
      const bands = bandsOf(most)
      expect(bands.at(-1)?.to).toBe(most)
      expect(bands[0]?.from).toBe(1)
      for (let count = 1; count <= most; count += Math.ceil(most / 500))
        expect(bands.filter(({ from, to }) => count >= from && count <= to).map(({ step }) => step)).toEqual([
          stepOf(count, most),
        ])
    }
    expect(bandsOf(0)).toEqual([])
  })
})

describe('the outlines', () => {
  const world = drawWorld()
  const codes = [...world.shapes, ...world.dots].map(([code]) => code)
  it('are of every country once, small ones as dots within the picture', () => {
    expect(new Set(codes).size).toBe(codes.length)
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    expect(codes.filter(code => names.of(code) === undefined)).toEqual([])
    for (const code of ['DE', 'US', 'CN', 'NL', 'RU', 'BR', 'IN', 'XK', 'SG', 'HK', 'MT']) expect(codes).toContain(code)
    expect(world.dots.map(([code]) => code)).toContain('SG')
    for (const [code, x, y] of world.dots.filter(([code]) => code !== 'HM'))
      expect(x > 0 && x < world.width && y > 0 && y < world.height, code).toBe(true)
  })
  it('lie where they should', () => {
    const first = (code: string) => /^M([\d.]+),([\d.]+)/.exec(world.shapes.find(([it]) => it === code)?.[1] ?? '')
    const [au, ca] = [first('AU'), first('CA')]
    expect(Number(au?.[1])).toBeGreaterThan(Number(ca?.[1]))
    expect(Number(au?.[2])).toBeGreaterThan(Number(ca?.[2]))
  })
})
