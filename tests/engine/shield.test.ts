import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loudly, until, type AgentOptions } from './host.ts'
import { neighboursOf, passes, publishContainer, sources, type Neighbours } from './neighbours.ts'
import { bansOf, carriedOut, ended, outcomeOf, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

const shieldOf = (beat: Record<string, unknown>) =>
  (beat['capabilities'] as { shield?: { reason: string | null } } | undefined)?.shield

onStage('the shield of a real host', [], scene => {
  let neighbours: Neighbours
  beforeAll(async () => {
    neighbours = await neighboursOf(scene().host)
  })
  afterAll(() => neighbours.end())

  const order = async (type: string, params: Record<string, unknown>): Promise<string> => {
    const { success, output } = await carriedOut(scene(), type, params)
    expect(success, output).toBe(true)
    return output
  }

  /** What a heartbeat says of the shield. The first one of an agent whose nft is slow says only that it was not tried yet. */
  const shieldSince = async (beats: number): Promise<unknown> => {
    const { server, serverId } = scene()
    const said = () =>
      server
        .heartbeats(serverId)
        .slice(beats)
        .map(shieldOf)
        .find(shield => shield !== undefined && shield.reason !== 'it was not tried yet')
    await until(() => said() !== undefined, 'a heartbeat')
    return said()
  }

  it('is reported in the heartbeat', async () => {
    const { server, serverId } = scene()
    expect(await shieldSince(server.heartbeats(serverId).length - 1)).toEqual({
      supported: true,
      mode: 'stateless',
      owned: true,
      driver: 'netlink',
      reason: null,
    })
  })

  it('drops what a banned address sends, and nothing else', async () => {
    await passes(() => neighbours.reachesHost(sources.bad), 'the address before its ban')
    await order('ban-ip', { ip: sources.bad, duration: 600 })
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await passes(() => neighbours.reachesHost(sources.good), 'another address')
    await passes(() => neighbours.hostReaches(sources.bad), "the host's own connection to the banned address")
    expect(await reported(scene(), sources.bad)).toMatchObject({ jail: 'stockade', ban_duration: 600 })
  })

  it('cuts an open connection where the order says so, and no other', async () => {
    for (const [source, entry] of [
      [sources.talking, sources.talking],
      [sources.good6, '2001:db8:0:8::/64'],
    ] as const) {
      const connection = await neighbours.openConnection(source)
      await passes(connection.isHeard, `the connection of ${source}`)
      await order('ban-ip', { ip: entry, duration: 600 })
      expect(await neighbours.reachesHost(source)).toBe(false)
      await passes(connection.isHeard, `the open connection of ${source}, which a ban alone does not cut`)
      await order('ban-ip', { ip: entry, duration: 600, cut: true })
      expect(await connection.isHeard()).toBe(false)
      expect(await neighbours.hostReaches(source)).toBe(false)
      await order('unban-ip', { ip: entry, jail: '*' })
      await passes(() => neighbours.reachesHost(source), `${source} after its ban`)
      await ended(scene(), entry)
    }
    const kept = await neighbours.openConnection(sources.good)
    await passes(kept.isHeard, 'the connection of another address')
  })

  it('covers a port that is translated to a container, once tracking runs', async () => {
    await publishContainer(scene().host)
    await passes(() => neighbours.reachesContainer(sources.good), 'the container')
    expect(await neighbours.reachesContainer(sources.bad)).toBe(false)
  })

  it('lifts a ban while fail2ban is stopped', async () => {
    await scene().host.stopEngine()
    expect(await order('unban-ip', { ip: sources.bad, jail: '*' })).toContain('no longer banned')
    await passes(() => neighbours.reachesHost(sources.bad), 'the address after its ban')
    await ended(scene(), sources.bad)
    await order('ban-ip', { ip: sources.other, duration: 600 })
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    await scene().host.startEngine()
    await reported(scene(), sources.other)
    expect(await bansOf(scene(), sources.other)).toMatchObject([{ unbanned_at: null }])
  })

  it('bans a range that a distributed fail2ban cannot ban, and an IPv6 network', async () => {
    await order('ban-ip', { ip: '192.0.2.0/23', duration: 600 })
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    await order('ban-ip', { ip: '2001:db8:0:7::/64', duration: 600 })
    for (const source of [sources.bad6, sources.sameNetwork6]) expect(await neighbours.reachesHost(source)).toBe(false)
    expect(await neighbours.reachesContainer(sources.bad6)).toBe(false)
    await passes(() => neighbours.reachesHost(sources.good6), 'another network')
  })

  it('survives a flush of the ruleset', async () => {
    await scene()
      .host.inside('nft', 'flush', 'ruleset')
      .catch(() => undefined)
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
  })

  it('reports how many packets of a banned address it dropped', async () => {
    const { server, serverId } = scene()
    const hasCounted = (entry: string): boolean =>
      server
        .heartbeats(serverId)
        .flatMap(beat => (beat['dropped'] ?? []) as { ip: string; packets: number }[])
        .some(({ ip, packets }) => ip === entry && packets > 0)
    for (const entry of [sources.other, '2001:db8:0:7::/64'])
      await until(() => hasCounted(entry), `the packets of ${entry}`)
  })

  it('ends a ban on time while the agent is dead, and tells the end afterwards', async () => {
    await order('ban-ip', { ip: sources.good, duration: 600 })
    expect(await neighbours.reachesHost(sources.good)).toBe(false)
    // The same ban, with another end.
    await order('ban-ip', { ip: sources.good, duration: 5 })
    await scene().host.killAgent()
    await passes(() => neighbours.reachesHost(sources.good), 'the end of the ban')
    await scene().host.startAgent()
    await ended(scene(), sources.good)
    expect(await bansOf(scene(), sources.good)).toHaveLength(1)
  })

  it('is switched off and on, and releases an address, by a command on the host', async () => {
    const { host } = scene()
    await until(async () => (await host.agentCommand('shield', 'status')).includes('shield: in force'), 'the agent')
    expect(await host.agentCommand('shield', 'off', '--for', '1h')).toMatch(/shield: off until /)
    await passes(() => neighbours.reachesHost(sources.other), 'a banned address with the shield off')
    expect(await host.agentCommand('shield', 'on')).toMatch(/shield: in force/)
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    expect(await host.agentCommand('shield', 'release', sources.sameNetwork6)).toContain('2001:db8:0:7::/64')
    await passes(() => neighbours.reachesHost(sources.bad6), 'a released network')
    await ended(scene(), '2001:db8:0:7::/64')
  })

  it('is back after the host starts anew, before the agent is', async () => {
    const { host } = scene()
    await host.killAgent()
    await host.inside('nft', 'flush', 'ruleset')
    await passes(() => neighbours.reachesHost(sources.other), 'a banned address without a table')
    expect(await host.agentCommand('shield-load')).toMatch(/the shield holds \d+ bans/)
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    const before = await host.inside('nft', '-a', 'list', 'table', 'inet', 'stockade_shield')
    expect(await host.agentCommand('shield', 'status')).toContain('the agent does not run; its table is in the kernel')
    const handles = (text: string): string[] => text.match(/handle \d+/g) ?? []
    const after = await host.inside('nft', '-a', 'list', 'table', 'inet', 'stockade_shield')
    expect(handles(after)).toEqual(handles(before))
    await host.startAgent()
    await until(async () => (await host.agentCommand('shield', 'status')).includes('shield: in force'), 'the agent')
  })

  it('replaces the rules that an older version left in the kernel and on the disk', async () => {
    const { host } = scene()
    const script = join(host.agentState, 'shield.nft')
    const older = join(host.directory, 'older.nft')
    const isNew = (text: string): boolean => text.includes('hoplimit 255')
    const inKernel = (): Promise<string> => host.inside('nft', 'list', 'chain', 'inet', 'stockade_shield', 'hit')
    await host.killAgent()
    const lines = fs.readFileSync(script, 'utf8').split('\n')
    expect(lines.some(isNew)).toBe(true)
    // Rules of today without those that let messages of the link pass.
    fs.writeFileSync(
      script,
      lines.filter(line => !/hoplimit 255|sport (67|547)|ct state related/.test(line)).join('\n'),
    )
    fs.copyFileSync(script, older)
    await host.inside('nft', 'delete', 'table', 'inet', 'stockade_shield')
    await host.inside('nft', '-f', older)
    expect(isNew(await inKernel())).toBe(false)
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    await host.startAgent()
    await until(async () => isNew(await inKernel()), 'the new rules in the kernel')
    await until(() => isNew(fs.readFileSync(script, 'utf8')), 'the new rules on the disk')
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    await until(async () => (await host.agentCommand('shield', 'status')).includes('shield: in force'), 'the agent')
  })

  it('takes 500 orders that come together', async () => {
    const { host, server, serverId } = scene()
    const ips = Array.from({ length: 500 }, (_, i) => `198.18.${i >> 8}.${i & 255}`)
    const startedAt = Date.now()
    const ids = await Promise.all(ips.map(ip => server.order(serverId, 'ban-ip', { ip, duration: 600 })))
    await until(async () => (await server.outcome(ids.at(-1) ?? ''))?.success === true, 'the last result')
    for (const id of ids) expect((await outcomeOf(scene(), id)).success).toBe(true)
    loudly(`500 orders from the first to the last result: ${Date.now() - startedAt} ms`)
    const listed = await host.inside('nft', 'list', 'set', 'inet', 'stockade_shield', 'ban_4')
    expect(ips.filter(ip => !listed.includes(`${ip} `))).toEqual([])
    await until(() => ips.every(ip => server.rows.some(row => row.ip === ip)), 'all reports')
    expect(server.rows.filter(({ ip }) => ip.startsWith('198.18.'))).toHaveLength(500)
  })

  it("takes over the bans of fail2ban's jail, and the server hears nothing of it", async () => {
    const { host } = scene()
    await host.client('set', 'stockade', 'banip', '203.0.113.70')
    await reported(scene(), '203.0.113.70')
    await host.stopAgent()
    // As before the first start with a shield.
    fs.rmSync(join(host.agentState, 'shield.json'))
    await host.startAgent()
    await until(async () => !(await host.bannedInEngine('stockade', '203.0.113.70')), 'the ban to leave the jail')
    expect(await host.inside('nft', 'list', 'set', 'inet', 'stockade_shield', 'ban_4')).toContain('203.0.113.70 ')
    await order('unban-ip', { ip: '203.0.113.70', jail: 'stockade' })
    await ended(scene(), '203.0.113.70')
    expect(await bansOf(scene(), '203.0.113.70')).toHaveLength(1)
  })

  const restartedWith = async (options: AgentOptions): Promise<unknown> => {
    const { host, server, serverId } = scene()
    await host.stopAgent()
    const beats = server.heartbeats(serverId).length
    await host.startAgent(options)
    return shieldSince(beats)
  }

  it('works through the nft program on a host without a netlink socket', async () => {
    expect(await restartedWith({ hasLauncher: false })).toMatchObject({ supported: true, driver: 'nft', owned: false })
    await order('ban-ip', { ip: sources.good, duration: 600 })
    expect(await neighbours.reachesHost(sources.good)).toBe(false)
    await scene().host.inside('nft', 'flush', 'ruleset')
    const isListed = (): Promise<boolean> => scene().host.bannedInNft(sources.good)
    await until(isListed, 'the restored table')
    expect(await neighbours.reachesHost(sources.good)).toBe(false)
    await order('unban-ip', { ip: sources.good, jail: 'stockade' })
    await passes(() => neighbours.reachesHost(sources.good), 'the address after its ban')
  })

  it("leaves bans to fail2ban's jail where nftables does not work, and says why", async () => {
    const { host } = scene()
    expect(await restartedWith({ args: ['--nft', '/nonexistent/nft'] })).toMatchObject({
      supported: false,
      driver: null,
      reason: 'the program nft (nftables) is not installed on this host',
    })
    await until(async () => (await host.client('status')).includes('stockade'), 'the jail')
    await order('ban-ip', { ip: '203.0.113.71', duration: 600 })
    expect(await host.bannedInEngine('stockade', '203.0.113.71')).toBe(true)
  })
})
