import { describe, expect, it } from 'vitest'
import { describeHosts, type Host } from './host.ts'
import { passes, publishContainer, sources, type Neighbours } from './neighbours.ts'
import { withShieldDrivers, type AskDriver, type ShieldScene } from './shield-drivers.ts'

/** Blocklists in the shield's table, with both drivers, on the real kernel and with real packets. */
describeHosts('blocklists in the table of the shield', () => {
  let host: Host
  let neighbours: Neighbours
  let aDriver: ShieldScene['aDriver']
  withShieldDrivers(scene => ({ host, neighbours, aDriver } = scene))
  const listed = async (ask: AskDriver, id: number): Promise<number> =>
    ((await ask({ ask: 'listed' })) as Record<string, number>)[`list_${id}`] ?? 0

  describe.each(['netlink', 'nft'] as const)('over %s', kind => {
    it.each(['stateless', 'stateful'] as const)('observes, enforces, changes and goes, %s', async mode => {
      const ask = aDriver(kind, mode)
      if (mode === 'stateful') await publishContainer(host)
      await ask({ load: { bans: [], kept: [] } })
      const text = `192.0.2.0/28\n${sources.bad}\n2001:db8:0:7::/64\n`
      await ask({ lists: [{ id: 7, version: 1, mode: 'observe', text }] })
      for (const source of [sources.bad, sources.other, sources.bad6])
        await passes(() => neighbours.reachesHost(source), `${source}, which is observed`)
      if (kind === 'netlink') expect(await listed(ask, 7)).toBeGreaterThan(0)
      expect(await ask({ holdsList: 7 })).toBe(true)

      await ask({ lists: [{ id: 7, version: 1, mode: 'enforce', text }] })
      for (const source of [sources.bad, sources.other, sources.bad6]) {
        expect(await neighbours.reachesHost(source), source).toBe(false)
        if (mode === 'stateful') expect(await neighbours.reachesContainer(source), source).toBe(false)
      }
      await passes(() => neighbours.reachesHost(sources.good), 'another address')
      for (const source of [sources.bad, sources.bad6])
        await passes(async () => {
          await neighbours.forgetNeighbours()
          return neighbours.hostReaches(source)
        }, `the host's own connection to ${source}, which is listed`)

      await ask({ lists: [{ id: 7, version: 2, mode: 'enforce', text: `${sources.good}\n` }] })
      expect(await neighbours.reachesHost(sources.good)).toBe(false)
      await passes(() => neighbours.reachesHost(sources.bad), 'an address that is off the list')
      expect(await ask({ holdsList: 7 })).toBe(true)
      expect(await ask({ ask: 'damage' })).toBeNull()

      await ask({ lists: [] })
      await passes(() => neighbours.reachesHost(sources.good), 'an address of a list that is gone')
      expect(await host.inside('nft', 'list', 'table', 'inet', 'stockade_shield')).not.toMatch(/l7|list_7/)
    })
  })

  it('never drops what is kept, counts beside another list, and comes back with the table', async () => {
    const ask = aDriver('netlink', 'stateless')
    await ask({ load: { bans: [{ entry: sources.good, timeout: null }], kept: [sources.other] } })
    await ask({
      lists: [
        { id: 1, version: 1, mode: 'enforce', text: `192.0.2.0/24\n${sources.bad}\n` },
        { id: 2, version: 1, mode: 'observe', text: `${sources.bad}\n` },
      ],
    })
    await passes(() => neighbours.reachesHost(sources.other), 'an address that is kept')
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    expect(await listed(ask, 1)).toBeGreaterThan(0)
    expect(await listed(ask, 2)).toBeGreaterThan(0)
    await ask({ load: { bans: [{ entry: sources.good, timeout: null }], kept: [] } })
    for (const source of [sources.bad, sources.other, sources.good])
      expect(await neighbours.reachesHost(source), source).toBe(false)
    for (const id of [1, 2]) expect(await ask({ holdsList: id })).toBe(true)
  })
})
