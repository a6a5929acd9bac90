import { expect, test } from 'vitest'
import { createGroup } from './group.ts'

const later = () => new Promise(resolve => setTimeout(resolve, 5))

test('what comes while a batch is written goes into the next one', async () => {
  const batches: number[][] = []
  const group = createGroup<number, number>(
    async items => {
      batches.push([...items])
      await later()
      return items.map(item => item * 10)
    },
    { batch: 1000, waiting: 1000 },
  )
  const first = [1, 2].map(item => group.add([item]))
  await later()
  const second = [3, 4, 5].map(item => group.add([item]))
  expect(await Promise.all([...first, ...second])).toEqual([[10], [20], [30], [40], [50]])
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ])
})

test('one request at fault fails alone', async () => {
  const group = createGroup<number, number>(
    async items => {
      if (items.includes(13)) throw new Error('no 13')
      return [...items]
    },
    { batch: 10, waiting: 100 },
  )
  const results = await Promise.allSettled([group.add([1]), group.add([13, 2]), group.add([3])])
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a failure of the storage fails everybody at once, without trying each alone', async () => {
  let writes = 0
  const group = createGroup<number, number>(
    async () => {
      writes++
      throw new Error('away')
    },
    { batch: 10, waiting: 100 },
    () => false,
  )
  const results = await Promise.allSettled([group.add([1]), group.add([2]), group.add([3])])
  expect(results.map(result => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(writes).toBe(1)
})

test('past its bound it refuses at once, with 503', async () => {
  const group = createGroup<number, number>(async items => (await later(), [...items]), { batch: 2, waiting: 4 })
  const full = [group.add([1, 2]), group.add([3, 4])]
  await expect(group.add([5])).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
  expect(await Promise.all(full)).toEqual([
    [1, 2],
    [3, 4],
  ])
  await group.drain()
  expect(await group.add([6])).toEqual([6])
})

test('who was answered comes back in time for the write of those who came meanwhile', async () => {
  const batches: number[] = []
  let late: Promise<void>[] = []
  const group = createGroup<number, number>(
    async items => {
      batches.push(items.length)
      await new Promise(resolve => setTimeout(resolve, 40))
      if (batches.length === 1) late = [caller(3), caller(3)]
      return [...items]
    },
    { batch: 1000, waiting: 1000 },
  )
  const caller = async (times: number) => {
    for (let time = 0; time < times; time++) await group.add([time])
  }
  await Promise.all([caller(3), caller(3), caller(3)])
  await Promise.all(late)
  // Halves would be 3, 2, 3, 2, 3, 2.
  expect(batches).toEqual([3, 5, 5, 2])
})
