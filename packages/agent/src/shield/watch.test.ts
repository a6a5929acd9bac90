import { describe, expect, it } from 'vitest'
import { createDrift } from './drift.ts'
import type { Kernel } from './kernel.ts'
import type { ShieldTable } from './table.ts'
import { createWatch } from './watch.ts'

/** A table that counts how often it was loaded, and a kernel that counts the transactions of others. */
const scene = () => {
  const world = { isThere: true, foreign: 7, loads: 0, looks: 0 }
  const kernel: Pick<Kernel, 'foreign' | 'isOwned'> = { foreign: () => world.foreign, isOwned: () => true }
  const table: Pick<ShieldTable, 'load' | 'damage'> = {
    load() {
      world.loads += 1
      world.isThere = true
      return Promise.resolve()
    },
    damage() {
      world.looks += 1
      return Promise.resolve(world.isThere ? null : 'is gone')
    },
  }
  const watch = createWatch({
    kernel: kernel as Kernel,
    table: table as ShieldTable,
    drift: createDrift({ serverNow: () => 0, steadyNow: () => 0 }),
    banCount: () => 3,
    isTracking: () => false,
    now: () => 1000,
    steadyNow: () => 0,
    log: { info: () => undefined, warn: () => undefined, debug: () => undefined },
  })
  return { world, watch }
}

describe("the watch over the shield's table", () => {
  it('reads nothing while nobody else changes nftables', async () => {
    const { world, watch } = scene()
    await watch.load()
    for (let look = 0; look < 5; look++) await watch.look()
    expect(world).toMatchObject({ loads: 1, looks: 0 })
  })

  it('sees what another program did, whatever the agent changed after it', async () => {
    const { world, watch } = scene()
    await watch.load()
    // The agent's own changes do not count here, so they cannot hide this one.
    world.foreign += 1
    world.isThere = false
    await watch.look()
    expect(world).toMatchObject({ isThere: true, loads: 2, looks: 1 })
    expect(watch.state()).toEqual({ damage: null, repairs: 1, lastRepairAt: 1000 })
    await watch.look()
    expect(world.looks).toBe(1)
  })

  it('looks again after a failure, though nothing changed meanwhile', async () => {
    const { world, watch } = scene()
    await watch.load()
    await watch.guarded(() => Promise.reject(new Error('the shield is full')))
    expect(watch.state().damage).toBe('the shield is full')
    await watch.look()
    expect(world.looks).toBe(1)
    expect(watch.state().damage).toBeNull()
  })
})
