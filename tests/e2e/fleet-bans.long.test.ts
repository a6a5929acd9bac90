import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { neighboursOf, passes, sources } from '../engine/neighbours.ts'
import type { Neighbours } from '../engine/neighbours.ts'
import type { RealServer } from './real-server.ts'
import { withAgent } from './scene.ts'

/* A fleet ban from the server's API to the kernel of a host, with real packets. */
describeHosts('fleet bans, end to end', () => {
  let server: RealServer
  let host: Host
  let neighbours: Neighbours
  let serverId = ''
  withAgent(async made => {
    ;({ server, host, serverId } = made)
    neighbours = await neighboursOf(host)
  })
  afterAll(() => neighbours?.end())

  const ban = (entry: string, more: object = {}) =>
    server.admin().call('POST /fleet/bans', { body: { entry, target: { all: true }, ...more } })
  const lift = (id: number) => server.admin().call('DELETE /fleet/bans/{id}', { params: { id } })
  const stateOf = async (id: number) =>
    (await server.admin().call('GET /fleet/bans/{id}/servers', { params: { id }, query: {} })).servers[0]
  const held = (id: number) =>
    until(async () => (await stateOf(id))?.state === 'held', `the fleet ban ${id} to be held`)
  const order = async (type: string, params: Record<string, unknown>): Promise<string> => {
    const id = await server.order(serverId, type, params)
    await until(async () => (await server.outcome(id)) !== null, 'the result of the command')
    return (await server.outcome(id))?.output ?? ''
  }

  test('drops packets within seconds, and lets them pass when it is lifted', async () => {
    await passes(() => neighbours.reachesHost(sources.bad), 'the address before its ban')
    const askedAt = Date.now()
    const { id } = await ban(sources.bad, { reason: 'scanner' })
    await held(id)
    loudly(`from the request to the host's proof: ${Date.now() - askedAt} ms`)
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await passes(() => neighbours.reachesHost(sources.good), 'another address')
    expect(await server.bans(serverId)).toEqual([])
    await lift(id)
    await passes(() => neighbours.reachesHost(sources.bad), 'the address after its ban')
  })

  test('and a ban by command on one address go one by one', async () => {
    const { id } = await ban(sources.bad)
    await held(id)
    await order('ban-ip', { ip: sources.bad, jail: 'stockade', duration: 600 })
    const said = await order('unban-ip', { ip: sources.bad, jail: '*' })
    expect(said).toContain(`the fleet ban ${id} of ${sources.bad} still holds it`)
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await order('ban-ip', { ip: sources.bad, jail: 'stockade', duration: 600 })
    await lift(id)
    await until(
      async () => (await server.admin().call('GET /fleet/bans', { query: { active: true } })).total === 0,
      'no fleet ban',
    )
    const other = await ban(sources.other)
    await held(other.id)
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await order('unban-ip', { ip: sources.bad, jail: '*' })
    await passes(() => neighbours.reachesHost(sources.bad), 'the address after both bans')
    await lift(other.id)
  })

  test('reaches a host that was away', async () => {
    const before = await ban(sources.bad6)
    await held(before.id)
    await host.killAgent()
    const during = await ban(sources.bad)
    await lift(before.id)
    expect(await neighbours.reachesHost(sources.bad6)).toBe(false)
    await host.startAgent({})
    await held(during.id)
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await passes(() => neighbours.reachesHost(sources.bad6), 'what was lifted meanwhile')
    await lift(during.id)
    await passes(() => neighbours.reachesHost(sources.bad), 'the address after its ban')
  })

  test('a range is one object, survives a flush, and names what it must not hold', async () => {
    // Not the whole network: the machine that runs the server may have an address in it.
    const { id } = await ban('192.0.2.8/29', { duration: -1 })
    await held(id)
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    await host.inside('nft', 'flush', 'ruleset').catch(() => undefined)
    await until(async () => !(await neighbours.reachesHost(sources.other)), 'the ban after the flush')
    await lift(id)
    const own = await ban(`${host.gateway}/24`.replace(/\d+\/24$/, '0/24')).catch((error: unknown) => error as Error)
    if ('id' in own) {
      await until(async () => (await stateOf(own.id))?.state === 'refused', 'the refusal of the own network')
      expect((await stateOf(own.id))?.reason).toContain('covers an address of this host')
      await lift(own.id)
    } else expect(own.message).toContain('never banned on the fleet')
  })

  test('is not covered while the shield is off, and comes back with it and after a new installation', async () => {
    const { id } = await ban(sources.bad)
    await held(id)
    await host.agentCommand('shield', 'off')
    await until(async () => (await stateOf(id))?.state === 'not_covered', 'the report of the host without a shield')
    expect((await stateOf(id))?.reason).toBe('the shield is switched off on this server')
    await passes(() => neighbours.reachesHost(sources.bad), 'the address while the shield is off')
    await host.agentCommand('shield', 'on')
    await held(id)
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await host.killAgent()
    for (const name of ['fleet-bans.json', 'shield.json', 'whitelist.json'])
      rmSync(join(host.agentState, name), { force: true })
    const other = await ban(sources.other)
    await host.startAgent({})
    await held(other.id)
    for (const source of [sources.bad, sources.other]) expect(await neighbours.reachesHost(source), source).toBe(false)
    await lift(id)
    await lift(other.id)
    await passes(() => neighbours.reachesHost(sources.bad), 'the address after its ban')
  })

  test('ends on time, also while the agent is dead', async () => {
    // Longer than a busy host takes to hold it, and to lose its agent.
    const { id } = await ban(sources.bad, { duration: 20 })
    await held(id)
    await host.killAgent()
    await until(() => neighbours.reachesHost(sources.bad), 'the end in the kernel')
    await host.startAgent({})
    const { ended_by } = await server.admin().call('GET /fleet/bans/{id}', { params: { id } })
    expect(ended_by).toBe('expired')
  })
})
