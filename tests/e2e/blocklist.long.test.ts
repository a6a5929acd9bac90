import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { neighboursOf, passes, sources } from '../engine/neighbours.ts'
import type { Neighbours } from '../engine/neighbours.ts'
import type { RealServer } from './real-server.ts'
import { withAgent } from './scene.ts'

/* A blocklist from its source over the server to the kernel of a host, with real packets. */
describeHosts('a blocklist, end to end', () => {
  let server: RealServer
  let host: Host
  let neighbours: Neighbours
  /** What the source answers; null: an error. */
  let content: string | null = ''
  const source = createServer((_, reply) =>
    content === null
      ? reply.writeHead(503).end()
      : reply.writeHead(200, { 'content-type': 'text/plain' }).end(`# a list\n${content}`),
  )
  beforeAll(() => new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    source.closeAllConnections()
    source.close()
  })
  withAgent(async made => {
    ;({ server, host } = made)
    neighbours = await neighboursOf(host)
  })
  afterAll(() => neighbours?.end())

  const params = (id: number) => ({ params: { id } })
  const held = (id: number, version?: number) =>
    until(async () => {
      const list = await server.admin().call('GET /lists/{id}', params(id))
      return list.version > (version ?? 0) && list.held.applied === 1
    }, `list ${id} held by the host`)
  const dropped = (address: string) =>
    until(async () => !(await neighbours.reachesHost(address)), `packets of ${address} dropped`)
  const whitelist = (ip: string) => server.admin().call('POST /whitelist', { body: { ip, description: 'ours' } })

  test('is observed, enforced, cut out where the whitelist says so, changed and taken out again', async () => {
    content = `${sources.bad}\n192.0.2.8/30\n10.0.0.0/8\nnonsense\n`
    const { id } = await server.admin().call('POST /lists', {
      body: {
        name: 'drop',
        source: { kind: 'url', url: `http://127.0.0.1:${(source.address() as AddressInfo).port}/drop.txt` },
        target: { all: true },
        max_change: 1,
        allow_private: true,
      },
    })
    await held(id)
    expect(await server.admin().call('GET /lists/{id}', params(id))).toMatchObject({
      mode: 'observe',
      entries: 2,
      left_out: { private: 1, invalid: 1 },
    })
    for (const address of [sources.bad, sources.other]) await passes(() => neighbours.reachesHost(address), address)

    const enforcedAt = Date.now()
    await server.admin().call('PATCH /lists/{id}', { ...params(id), body: { mode: 'enforce' } })
    await dropped(sources.bad)
    loudly(`from the click on "enforce" to the first dropped packet: ${Date.now() - enforcedAt} ms at most`)
    await dropped(sources.other)
    await passes(() => neighbours.reachesHost(sources.good), 'an address that is not on it')

    const { id: entry } = await whitelist(sources.other)
    await passes(() => neighbours.reachesHost(sources.other), 'a whitelisted address of a listed range')
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    await server.admin().call('DELETE /whitelist/{id}', { params: { id: entry } })
    await dropped(sources.other)

    // A source that fails leaves the last good version in force.
    const before = await server.admin().call('GET /lists/{id}', params(id))
    content = null
    expect((await server.admin().call('POST /lists/{id}/refresh', { ...params(id), body: {} })).last_error).toContain(
      '503',
    )
    expect(await neighbours.reachesHost(sources.bad)).toBe(false)

    content = `${sources.good}\n`
    await server.admin().call('POST /lists/{id}/refresh', { ...params(id), body: {} })
    await held(id, before.version)
    await dropped(sources.good)
    await passes(() => neighbours.reachesHost(sources.bad), 'an address that is off the list')

    // The kernel goes on without the agent, and the agent puts back what somebody flushed.
    await host.killAgent()
    expect(await neighbours.reachesHost(sources.good)).toBe(false)
    await host.inside('nft', 'flush', 'ruleset')
    await host.startAgent({})
    await dropped(sources.good)

    await server.admin().call('DELETE /lists/{id}', params(id))
    await passes(() => neighbours.reachesHost(sources.good), 'an address of a list that is gone')
  })
})
