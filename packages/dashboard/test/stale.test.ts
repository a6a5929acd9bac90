import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
type Colour = readonly [number, number, number]
const tokens = JSON.parse(read('../tokens.json')) as Record<'light' | 'dark', Record<string, string>>
const opacity = Number(/\[data-old\] \{[^}]*opacity: ([\d.]+)/.exec(read('../src/kit/styles/base.css'))?.[1])

const luminance = (colour: Colour) => {
  const [r, g, b] = colour.map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0)
}
const contrast = (one: Colour, other: Colour) => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}
/* `ink-3` is not among them: stale parts use `ink-2` in its place (base.css). */
const states = ['ok', 'warn', 'crit', 'busy', 'idle', 'allow', 'ban']
const pairs = [
  ...['ink', 'ink-2', 'accent', ...states].flatMap(text =>
    ['canvas', 'surface', 'raised', 'sunken', 'hover', 'chosen'].map(ground => [text, ground] as const),
  ),
  ...states.map(state => [state, `${state}-soft`] as const),
  ...['accent', 'ink', 'ink-2'].map(text => [text, 'busy-soft'] as const),
  ['ink', 'crit-soft'] as const,
  ['accent-ink', 'accent'] as const,
]

describe.each(['light', 'dark'] as const)('what is not of now, in the %s scheme', scheme => {
  const colour = (name: string): Colour => {
    const hex = tokens[scheme][name] ?? ''
    const at = (from: number) => parseInt(hex.slice(from, from + 2), 16)
    return [at(1), at(3), at(5)]
  }
  /** As the layer over it leaves it: the blend mode `saturation` keeps this sum. */
  const grey = ([r, g, b]: Colour): Colour => {
    const level = 0.3 * r + 0.59 * g + 0.11 * b
    return [level, level, level]
  }
  const faded = (name: string): Colour => {
    const [over, under] = [grey(colour(name)), colour('canvas')]
    return [0, 1, 2].map(part => (over[part] ?? 0) * opacity + (under[part] ?? 0) * (1 - opacity)) as unknown as Colour
  }
  it.each(pairs)('%s on %s keeps 4.5:1', (text, ground) =>
    expect(contrast(faded(text), faded(ground))).toBeGreaterThanOrEqual(4.5),
  )
})

it('stale parts use the second ink in place of the third', () =>
  expect(read('../src/kit/styles/base.css')).toMatch(/\[data-old\] \{[^}]*--ink-3: var\(--ink-2\)/))
