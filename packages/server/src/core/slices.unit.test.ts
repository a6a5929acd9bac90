import { expect, test } from 'vitest'
import { createPause, createTurnPause, inSlices, sortInSlices } from './slices.ts'

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
const slowly = () => {
  const until = performance.now() + 9
  while (performance.now() < until);
}
/** How many turns others get meanwhile. */
const turnsDuring = async (work: () => Promise<void>): Promise<number> => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}
test('a few slow items among fast ones let others work in between', async () => {
  const items = Array.from({ length: 60 })
  // Eight slow items at most go by unseen after fast ones.
  expect(await turnsDuring(() => inSlices(items, (_, index) => index >= 20 && slowly()))).toBeGreaterThanOrEqual(32)
})
test('a loop that waits for its items lets others work in between too', async () => {
  const turns = await turnsDuring(async () => {
    const pause = createPause()
    for (let item = 0; item < 20; item++) {
      await Promise.resolve(slowly())
      await pause()
    }
  })
  expect(turns).toBeGreaterThanOrEqual(20)
})
test('pieces of work that know nothing of each other let others work in between', async () => {
  const pause = createTurnPause()
  const piece = async () => {
    for (let turn = pause(); turn; turn = pause()) await turn
    slowly()
  }
  const turns = await turnsDuring(async () => {
    for (let item = 0; item < 10; item++) await piece()
    await Promise.all(Array.from({ length: 10 }, piece))
  })
  expect(turns).toBeGreaterThanOrEqual(10)
})
test('what is thrown ends it', async () => {
  const failing = inSlices([1, 2, 3], item => {
    if (item === 2) throw new Error('two')
  })
  await expect(failing).rejects.toThrow('two')
})

test('a long sort gives what sort gives, in turns', async () => {
  let seed = 7
  const items = Array.from({ length: 30_000 }, (_, place) => {
    seed = (seed * 48_271) % 2_147_483_647
    return { key: seed % 500, place }
  })
  const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  count()
  const sorted = await sortInSlices(items, byKey)
  isOver = true
  expect(sorted).toEqual([...items].sort(byKey))
  expect(turns).toBeGreaterThan(3)
  expect(await sortInSlices([], byKey)).toEqual([])
  expect(await sortInSlices(items.slice(0, 1), byKey)).toEqual(items.slice(0, 1))
})
