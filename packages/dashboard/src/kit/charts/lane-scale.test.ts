import { expect, it } from 'vitest'
import { at, attackOf, attackScale, linear } from './lane-scale.ts'

const hour = 3_600_000

it('an attack ends with a pause of more than six hours', () => {
  expect(attackOf([100 * hour, 99 * hour, 94 * hour, 80 * hour])).toEqual({ from: 94 * hour, to: 100 * hour })
  expect(attackOf([])).toBeNull()
})
it('a linear scale ends where its time ends', () => {
  expect([0, 10, 15, 20, 30].map(moment => at(linear(10, 20), moment))).toEqual([0, 0, 0.5, 1, 1])
})
it('an attack has most of the room, whatever was before it and is still to come', () => {
  const now = 1000 * hour
  const scale = attackScale({ from: now - hour, to: now - hour / 2 }, now, now + 240 * hour)
  const places = [now - 100 * hour, now - hour, now, now + 120 * hour, now + 240 * hour].map(moment =>
    at(scale, moment),
  )
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect((places[2] ?? 0) - (places[1] ?? 0)).toBeGreaterThan(0.5)
  expect(places.at(-1)).toBe(1)
})
