import { expect, it } from 'vitest'
import { within } from '../../packages/server/src/testing/waiting.ts'
import { describeHosts } from './host.ts'
import { sources, type Neighbours } from './neighbours.ts'
import { withShieldDrivers, type ShieldScene } from './shield-drivers.ts'
import { describeShieldRules } from './shield-rules.ts'

/* Both drivers load the same rules; shield-rules.long.test.ts repeats this with the other one. */
describeShieldRules('netlink')

describeHosts('the table of the shield', () => {
  let neighbours: Neighbours
  let drivers: ShieldScene['drivers']
  let aDriver: ShieldScene['aDriver']
  withShieldDrivers(scene => ({ neighbours, drivers, aDriver } = scene))

  const long = 600_000
  const bans = [{ entry: sources.bad, timeout: long }]

  it('is refused to a second process while the first one lives, and taken over afterwards', async () => {
    const first = aDriver('netlink', 'stateless')
    await first({ load: { bans, kept: [] } })
    if ((await first({ ask: 'isOwned' })) !== true) return
    const second = aDriver('netlink', 'stateless')
    await expect(second({ load: { bans: [], kept: [] } })).rejects.toThrow(/belongs to another process/)
    const [child] = drivers
    const over = new Promise(resolve => child?.once('exit', resolve))
    child?.kill('SIGKILL')
    await within(over, 'the end of the driver')
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await second({ load: { bans: [], kept: [] } })
    expect(await second({ find: sources.bad })).toBeNull()
  })

  it('says when it is full, and changes nothing then', async () => {
    const ask = aDriver('netlink', 'stateless')
    const many = Array.from({ length: 131_072 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    await ask({ load: { bans: many.map(entry => ({ entry, timeout: long })), kept: [] } })
    await expect(ask({ add: [{ entry: '10.9.9.9', timeout: long }] })).rejects.toThrow('the shield is full')
    expect(await ask({ find: '10.9.9.9' })).toBeNull()
    expect(await ask({ find: '10.1.255.255' })).not.toBeNull()
  })
})
