import { expect, it } from 'vitest'
import { createDrops } from './drops.ts'

/** A kernel with one counter for each ban, and one for all. */
const aKernel = (bans: Record<string, number>) => {
  const counted = new Map(Object.entries(bans))
  const reads: string[] = []
  const drops = createDrops({
    allDropped: () => [...counted.values()].reduce((sum, packets) => sum + packets, 0),
    bans: () => [...counted.keys()].map(entry => ({ entry })),
    droppedFrom(entry) {
      reads.push(entry)
      return Promise.resolve(counted.get(entry) ?? null)
    },
  })
  return { counted, drops, reads }
}

it('reads no counter of a ban while nothing is dropped', async () => {
  const { counted, drops, reads } = aKernel({ '192.0.2.1': 0, '192.0.2.2': 0 })
  await drops.look()
  expect(reads).toEqual([])
  counted.set('192.0.2.2', 3)
  await drops.look()
  await drops.look()
  expect(reads).toEqual(['192.0.2.1', '192.0.2.2'])
  expect(drops.changed()).toEqual([{ entry: '192.0.2.2', packets: 3 }])
})

it('offers a count until the server has it, and a later one again', async () => {
  const { counted, drops } = aKernel({ '192.0.2.1': 3 })
  await drops.look()
  const first = drops.changed()
  counted.set('192.0.2.1', 5)
  await drops.look()
  drops.told(first)
  expect(drops.changed()).toEqual([{ entry: '192.0.2.1', packets: 5 }])
  drops.told(drops.changed())
  await drops.look()
  expect(drops.changed()).toEqual([])
})

it('forgets a ban that was lifted, and tells the count of a new one', async () => {
  const { counted, drops } = aKernel({ '192.0.2.1': 3 })
  await drops.look()
  counted.delete('192.0.2.1')
  counted.set('192.0.2.2', 1)
  await drops.look()
  expect(drops.changed()).toEqual([{ entry: '192.0.2.2', packets: 1 }])
})

it('reads and tells a storm in parts, and loses nothing', async () => {
  const bans = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`10.0.${i >> 8}.${i & 255}`, i + 1]))
  const { drops, reads } = aKernel(bans)
  await drops.look()
  expect(reads).toHaveLength(500)
  await drops.look()
  await drops.look()
  const told: Record<string, number> = {}
  for (let part = drops.changed(); part.length > 0; part = drops.changed()) {
    expect(part.length).toBeLessThanOrEqual(200)
    for (const { entry, packets } of part) told[entry] = packets
    drops.told(part)
  }
  expect(told).toEqual(bans)
})
