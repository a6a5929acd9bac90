import { expect, test } from 'vitest'
import { inSlices } from './slices.ts'

test('work on many lets timers run, and goes through all of them in order', async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  const seen: number[] = []
  for (let page = 0; page < 20; page++)
    await inSlices([page * 2, page * 2 + 1], item => {
      seen.push(item)
      const until = performance.now() + 2
      while (performance.now() < until);
    })
  clearInterval(timer)
  expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n))
  expect(ticks).toBeGreaterThan(10)
})
test('a few slow items among fast ones let others work in between', async () => {
  const turns: number[] = []
  let isOver = false
  const count = (at: number) => {
    turns.push(at)
    if (!isOver) setImmediate(count, at + 1)
  }
  setImmediate(count, 1)
  await inSlices(Array.from({ length: 60 }), (_, index) => {
    if (index < 20) return
    const until = performance.now() + 9
    while (performance.now() < until);
  })
  isOver = true
  // Eight slow items at most go by unseen after fast ones.
  expect(turns.length).toBeGreaterThanOrEqual(32)
})
test('what is thrown ends it', async () => {
  const failing = inSlices([1, 2, 3], item => {
    if (item === 2) throw new Error('two')
  })
  await expect(failing).rejects.toThrow('two')
})
