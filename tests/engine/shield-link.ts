import { beforeAll, expect, it } from 'vitest'
import { describeHosts, until, type Host } from './host.ts'
import { passes, sources, type Neighbours } from './neighbours.ts'
import { discovery, icmp4, icmp6, isAnswered, send, tooBig, udpClient, udpEcho } from './packets.ts'
import type { Crafted, Ports } from './packets.ts'
import { withShieldDrivers, type AskDriver, type Kind, type ShieldScene } from './shield-drivers.ts'

/** What a banned address on the link or on the route may still send with one of the drivers, and that nothing else passes with it. */
export const describeShieldLink = (kind: Kind): void =>
  describeHosts(`a banned address on the link of the host, over ${kind}`, () => {
    let host: Host
    let neighbours: Neighbours
    let aDriver: ShieldScene['aDriver']
    withShieldDrivers(scene => ({ host, neighbours, aDriver } = scene))

    const host4 = '10.91.1.1'
    const host6 = 'fd91:1::1'
    const hostOf = (source: string): string => (source.includes(':') ? host6 : host4)
    const echoPort = 9000
    beforeAll(() => neighbours.runOnHost(udpEcho, '68', '69', '546', '547', String(echoPort)))

    const modes = ['stateless', 'stateful'] as const
    const bans = [sources.bad, '2001:db8:0:7::/64'].map(entry => ({ entry, timeout: null }))
    const cutBans = bans.map(ban => ({ ...ban, isCut: true }))
    const load = (ask: AskDriver, some: typeof bans = bans): Promise<unknown> => ask({ load: { bans: some, kept: [] } })

    const dropped = async (): Promise<number> => {
      const chain = await host.inside('nft', 'list', 'chain', 'inet', 'stockade_shield', 'hit')
      return Number(/counter packets (\d+)/.exec(chain)?.[1])
    }
    /** Resolves when the table has counted a dropped packet since the call of `work`. */
    const isDropped = async (work: () => Promise<unknown>, what: string): Promise<void> => {
      const before = await dropped()
      await work()
      await until(async () => (await dropped()) > before, `the drop of ${what}`)
    }
    const sent = (packet: Crafted): Promise<string> => send(neighbours, packet)

    const answers = (source: string, ports: Ports): Promise<boolean> =>
      isAnswered(neighbours, [source, hostOf(source)], ports)

    /** A banned router, and an address behind it that nobody bans. */
    const routers = [
      [sources.bad, sources.good],
      [sources.bad6, sources.good6],
    ] as const
    const errorFrom = (reporter: string, body: Buffer): Crafted => {
      const protocol = reporter.includes(':') ? icmp6 : icmp4
      return { source: reporter, target: hostOf(reporter), protocol, hops: 64, body }
    }

    /** The path MTU that the host knows. */
    const mtuTo = async (target: string): Promise<number | null> => {
      const mtu = /mtu (\d+)/.exec(await host.inside('ip', 'route', 'get', target))?.[1]
      return mtu === undefined ? null : Number(mtu)
    }
    const forgetMtu = async (): Promise<void> => {
      for (const family of ['-4', '-6']) await host.inside('ip', family, 'route', 'flush', 'cache')
    }

    /** Sends a datagram of the host to a port of an address, and answers the ports of both. */
    const ownDatagram = async (peer: string): Promise<Ports> => {
      const to = 9002
      return { from: Number(await neighbours.runOnHost(udpClient, peer, String(to))), to }
    }
    /** The host believes an error about what it sent from one port to another. */
    const learnsMtu = async (reporter: string, peer: string, ports: Ports): Promise<void> => {
      await forgetMtu()
      expect(await mtuTo(peer)).toBeNull()
      await sent(errorFrom(reporter, tooBig(hostOf(peer), peer, ports, 1300)))
      await until(async () => (await mtuTo(peer)) === 1300, `the path MTU to ${peer} that ${reporter} reports`)
    }

    it.each(modes)('is found by connections of the host, with a cold neighbour cache, %s', async mode => {
      await load(aDriver(kind, mode))
      for (const source of [sources.bad, sources.bad6])
        await passes(async () => {
          await neighbours.forgetNeighbours()
          return neighbours.hostReaches(source)
        }, `the host's own connection to ${source}`)
    })

    it.each(modes)('finds the host, and stays the next hop to others, even when all else is cut, %s', async mode => {
      await load(aDriver(kind, mode), cutBans)
      await neighbours.forgetNeighbours()
      expect(await neighbours.reachesHost(sources.bad6)).toBe(false)
      await until(() => neighbours.knowsLinkOf(host6), 'the answer to its solicitation')
      await host.inside('ip', '-6', 'route', 'replace', `${sources.good6}/128`, 'via', sources.bad6, 'dev', 'att0')
      try {
        await passes(async () => {
          await neighbours.forgetNeighbours()
          return neighbours.hostReaches(sources.good6)
        }, "the host's own connection through it")
      } finally {
        await host.inside('ip', '-6', 'route', 'replace', `${sources.good6}/128`, 'dev', 'att0')
      }
    })

    it.each(modes)('answers DHCP requests of the host, %s', async mode => {
      const ask = aDriver(kind, mode)
      const text = `${sources.other}\n${sources.good6}\n`
      for (const some of mode === 'stateless' ? [bans, cutBans] : [bans]) {
        await load(ask, some)
        await ask({ lists: [{ id: 7, version: 1, mode: 'enforce', text }] })
        for (const source of [sources.bad, sources.other])
          await passes(() => answers(source, { from: 67, to: 68 }), `DHCP from ${source}`)
        for (const source of [sources.bad6, sources.good6])
          await passes(() => answers(source, { from: 547, to: 546 }), `DHCPv6 from ${source}`)
      }
      for (const [source, from, to] of [
        [sources.bad, 67, 69],
        [sources.bad, 68, 68],
        [sources.bad, 547, 546],
        [sources.bad6, 67, 68],
        [sources.bad6, 547, 547],
        [sources.bad6, 546, 546],
        [sources.other, 67, 69],
        [sources.good6, 547, 547],
      ] as const)
        await isDropped(
          () => isAnswered(neighbours, [source, hostOf(source)], { from, to }, 0),
          `a datagram of ${source} from port ${from} to ${to}`,
        )
    })

    it('reports the path MTU of connections that the host or another address opened', async () => {
      await load(aDriver(kind, 'stateful'))
      for (const [reporter, peer] of routers) {
        await learnsMtu(reporter, peer, await ownDatagram(peer))
        const port = 9001
        await passes(() => answers(peer, { from: port, to: echoPort }), `the datagram of ${peer}`)
        await learnsMtu(reporter, peer, { from: echoPort, to: port })
        // The same error about a connection that is none.
        const error = tooBig(hostOf(peer), peer, { from: 1, to: 2 }, 1300)
        await isDropped(() => sent(errorFrom(reporter, error)), `an error of ${reporter} about nothing`)
      }
    })

    it.each(modes)('cannot use what its link needs to reach anything else, %s', async mode => {
      const ask = aDriver(kind, mode)
      await load(ask, cutBans)
      const refused: [string, Omit<Crafted, 'target'>][] = [
        ...[135, 136].map((type): [string, Omit<Crafted, 'target'>] => [
          `neighbour discovery of type ${type} that a router may have forwarded`,
          { source: sources.bad6, protocol: icmp6, hops: 254, body: discovery(type, host6) },
        ]),
        ...[128, 129, 130, 133, 134, 137, 139, 143].map((type): [string, Omit<Crafted, 'target'>] => [
          `ICMPv6 of type ${type}`,
          { source: sources.bad6, protocol: icmp6, hops: 255, body: discovery(type, host6) },
        ]),
        [
          'an echo request',
          { source: sources.bad, protocol: icmp4, hops: 255, body: Buffer.from([8, 0, 0, 0, 0, 1, 0, 1]) },
        ],
        ['IGMP', { source: sources.bad, protocol: 2, hops: 1, body: Buffer.from([0x11, 10, 0, 0, 0, 0, 0, 0]) }],
        ['VRRP', { source: sources.bad, protocol: 112, hops: 255, body: Buffer.alloc(8) }],
        ['TCP', { source: sources.bad6, protocol: 6, hops: 255, body: Buffer.alloc(20) }],
      ]
      for (const [what, packet] of refused)
        await isDropped(() => sent({ ...packet, target: hostOf(packet.source) }), what)
      await isDropped(async () => {
        expect(await neighbours.reachesHost(sources.bad6)).toBe(false)
      }, 'a new connection')
    })

    it('reports the path MTU where connections are not tracked, unless it is cut', async () => {
      const ask = aDriver(kind, 'stateless')
      await load(ask)
      for (const [reporter, peer] of routers) await learnsMtu(reporter, peer, await ownDatagram(peer))
      await load(ask, cutBans)
      for (const [reporter, peer] of routers) {
        const error = tooBig(hostOf(peer), peer, await ownDatagram(peer), 1300)
        await isDropped(() => sent(errorFrom(reporter, error)), `an error of ${reporter}, which is cut`)
      }
    })
  })
