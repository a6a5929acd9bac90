import { expect, it } from 'vitest'
import { describeHosts, until, type Host } from './host.ts'
import { passes, publishContainer, sources, type Neighbours } from './neighbours.ts'
import { withShieldDrivers, type Kind, type ShieldScene } from './shield-drivers.ts'

/** The table of the shield with one of its drivers, on the real kernel and with real packets. */
export const describeShieldRules = (kind: Kind): void =>
  describeHosts(`the table of the shield, over ${kind}`, () => {
    let host: Host
    let neighbours: Neighbours
    let aDriver: ShieldScene['aDriver']
    withShieldDrivers(scene => ({ host, neighbours, aDriver } = scene))

    const long = 600_000
    const bans = [
      { entry: sources.bad, timeout: long },
      { entry: '192.0.2.0/23', timeout: null },
      { entry: '2001:db8:0:7::/64', timeout: long },
    ]

    it.each(['stateless', 'stateful'] as const)('drops bans and nothing else, %s', async mode => {
      const ask = aDriver(kind, mode)
      if (mode === 'stateful') await publishContainer(host)
      await ask({ load: { bans, kept: [] } })
      const isBlocked = async (source: string): Promise<void> => {
        expect(await neighbours.reachesHost(source), source).toBe(false)
        if (mode === 'stateful') expect(await neighbours.reachesContainer(source), source).toBe(false)
      }
      await Promise.all([sources.bad, sources.other, sources.bad6, sources.sameNetwork6].map(isBlocked))
      for (const source of [sources.good, sources.good6]) {
        await passes(() => neighbours.reachesHost(source), source)
        if (mode === 'stateful') await passes(() => neighbours.reachesContainer(source), source)
      }
      // With a cold neighbour cache: what the host learnt before the ban would hide that it can learn nothing now.
      for (const source of [sources.bad, sources.bad6])
        await passes(async () => {
          await neighbours.forgetNeighbours()
          return neighbours.hostReaches(source)
        }, `the host's own connection to ${source}`)
      await host.inside('nft', 'flush', 'ruleset')
    })

    it('lets an address pass that is kept, whatever is banned', async () => {
      const ask = aDriver(kind, 'stateless')
      await ask({ load: { bans, kept: ['192.0.2.8/30', sources.sameNetwork6] } })
      for (const source of [sources.other, sources.sameNetwork6])
        await passes(() => neighbours.reachesHost(source), source)
      expect(await neighbours.reachesHost(sources.bad6)).toBe(false)
      expect(await ask({ isKept: sources.other })).toBe(true)
      expect(await ask({ isKept: sources.bad })).toBe(false)
    })

    it('adds, changes and removes bans, of a new prefix length too, and ends them on time', async () => {
      const ask = aDriver(kind, 'stateless')
      await ask({ load: { bans: [], kept: [] } })
      await ask({ add: [{ entry: sources.bad, timeout: long }] })
      await ask({ add: [{ entry: '192.0.2.0/27', timeout: long }] })
      expect(await ask({ find: sources.other })).not.toBeNull()
      expect(await neighbours.reachesHost(sources.bad)).toBe(false)
      // An end that comes earlier than before holds as well.
      for (const entry of [sources.bad, '192.0.2.0/27']) await ask({ add: [{ entry, timeout: 2000 }] })
      await passes(() => neighbours.reachesHost(sources.bad), 'the end of the ban')
      await passes(() => neighbours.reachesHost(sources.other), 'the end of the range')
      await ask({ add: [{ entry: sources.bad, timeout: null }] })
      // What is absent may be removed, and holds up nothing.
      await ask({ remove: [sources.bad, '203.0.113.0/25', sources.other] })
      expect(await ask({ find: sources.bad })).toBeNull()
    })

    it('takes bans that overlap, each with its own end', async () => {
      const ask = aDriver(kind, 'stateless')
      await ask({ load: { bans: [{ entry: '192.0.2.0/24', timeout: 2000 }], kept: [] } })
      await ask({
        add: [
          { entry: '192.0.2.0/27', timeout: 2000 },
          { entry: '192.0.2.0/23', timeout: long },
          { entry: sources.other, timeout: long },
        ],
      })
      const isHeld = async (length: string): Promise<boolean> =>
        (await host.inside('nft', 'list', 'set', 'inet', 'stockade_shield', `ban${length}_4`)).includes('192.0.2.')
      for (const length of ['23', '']) expect(await isHeld(length), length).toBe(true)
      for (const length of ['24', '27']) await until(async () => !(await isHeld(length)), `the end of the /${length}`)
      // Neither the end of the narrower ranges nor the removal of the wider one opens what another ban holds.
      expect(await neighbours.reachesHost(sources.other)).toBe(false)
      await ask({ remove: ['192.0.2.0/23'] })
      expect(await neighbours.reachesHost(sources.other)).toBe(false)
      await ask({ add: [{ entry: '192.0.2.0/23', timeout: long }], remove: [sources.other] })
      expect(await neighbours.reachesHost(sources.other)).toBe(false)
      await ask({ remove: ['192.0.2.0/23'] })
      await passes(() => neighbours.reachesHost(sources.other), 'an address that no ban holds any more')
    })

    it('notices what others did to it', async () => {
      const ask = aDriver(kind, 'stateless')
      await ask({ load: { bans, kept: [] } })
      expect(await ask({ ask: 'damage' })).toBeNull()
      if ((await ask({ ask: 'isOwned' })) === true) {
        await expect(host.inside('nft', 'delete', 'table', 'inet', 'stockade_shield')).rejects.toThrow(/not permitted/)
        await host.inside('nft', 'flush', 'ruleset')
        expect(await ask({ ask: 'damage' })).toBeNull()
        return
      }
      await host.inside('nft', 'insert', 'rule', 'inet', 'stockade_shield', 'bans', 'accept')
      expect(await ask({ ask: 'damage' })).toBe('was changed by somebody')
      await ask({ load: { bans, kept: [] } })
      await host.inside('nft', 'delete', 'element', 'inet', 'stockade_shield', 'ban_4', `{ ${sources.bad} }`)
      expect(await ask({ ask: 'addMissing' })).toBe(1)
      expect(await neighbours.reachesHost(sources.bad)).toBe(false)
      await host.inside('nft', 'flush', 'ruleset')
      expect(await ask({ ask: 'damage' })).toBe('is gone')
    })
  })
