import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { neighboursOf, passes, sources } from '../engine/neighbours.ts'
import type { Neighbours } from '../engine/neighbours.ts'
import { online } from '../engine/scenarios.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'

interface Member {
  readonly host: Host
  readonly neighbours: Neighbours
  readonly serverId: string
}

/* One fleet ban on three real hosts, in every state that the contract has, with real packets. */
describeHosts('the states of a fleet ban', () => {
  let server: RealServer
  const hosts: Host[] = []
  const members: Member[] = []
  const member = (index: number): Member => {
    const found = members[index]
    if (!found) throw new Error(`there is no host ${index}`)
    return found
  }
  /** On this host the nft program fails while the file is there. */
  const failing = (host: Host) => join(host.directory, 'nft-fails')
  const joinHost = async (index: number): Promise<void> => {
    const host = await aHost()
    hosts.push(host)
    const added = await server.addServer(host.name)
    // The last host has no netlink socket, so all that its shield does goes through the nft program.
    const isLast = index === 2
    if (isLast) {
      const programs = join(host.directory, 'programs')
      mkdirSync(programs, { recursive: true })
      const script = `#!/bin/sh\nif [ -e '${failing(host)}' ]; then echo 'Error: Could not process rule: Cannot allocate memory' >&2; exit 1; fi\nPATH=/usr/sbin:/sbin:/usr/bin:/bin exec nft "$@"\n`
      writeFileSync(join(programs, 'nft'), script)
      chmodSync(join(programs, 'nft'), 0o755)
    }
    await host.startAgent({ baseUrl: server.url(host), token: added.token, hasLauncher: !isLast, args: ['--verbose'] })
    await online({ host, server, serverId: added.serverId })
    members[index] = { host, serverId: added.serverId, neighbours: await neighboursOf(host) }
  }
  beforeAll(async () => {
    server = await aRealServer()
    await Promise.all([0, 1, 2].map(joinHost))
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG']) for (const host of hosts) loudly(host.agentLog())
    for (const { neighbours } of members.filter(Boolean)) await neighbours.end()
    for (const host of hosts) await host.stop()
    await server?.close()
  })

  const ban = (entry: string) =>
    server.admin().call('POST /fleet/bans', { body: { entry, target: { all: true }, reason: 'scanner' } })
  const stateOn = async (id: number, index: number) => {
    const { servers } = await server.admin().call('GET /fleet/bans/{id}/servers', { params: { id }, query: {} })
    return servers.find(row => row.server.id === member(index).serverId)
  }
  const reaches = (id: number, index: number, state: string) =>
    until(async () => (await stateOn(id, index))?.state === state, `${state} on host ${index}`)
  const counts = async (id: number) => (await server.admin().call('GET /fleet/bans/{id}', { params: { id } })).state
  const drops = async (index: number) =>
    expect(await member(index).neighbours.reachesHost(sources.bad), `host ${index}`).toBe(false)
  const lets = (index: number) => passes(() => member(index).neighbours.reachesHost(sources.bad), `host ${index}`)

  test('are held, pending while a host is away, refused by a kernel that fails, and not covered', async () => {
    await Promise.all([0, 1, 2].map(lets))
    await member(1).host.killAgent()
    writeFileSync(failing(member(2).host), '')
    const { id } = await ban(sources.bad)
    await Promise.all([reaches(id, 0, 'held'), reaches(id, 2, 'refused')])
    expect((await stateOn(id, 1))?.state).toBe('pending')
    expect((await stateOn(id, 2))?.reason).toContain('the kernel of this host did not take it')
    expect((await stateOn(id, 2))?.reason).toContain('Cannot allocate memory')
    expect(await counts(id)).toEqual({ applied: 1, in_jail: 0, pending: 1, failed: 1, not_covered: 0 })
    await drops(0)
    await Promise.all([lets(1), lets(2)])

    await member(0).host.agentCommand('shield', 'off')
    await member(1).host.startAgent({})
    rmSync(failing(member(2).host))
    await Promise.all([reaches(id, 0, 'not_covered'), reaches(id, 1, 'held'), reaches(id, 2, 'held')])
    expect(await counts(id)).toEqual({ applied: 2, in_jail: 0, pending: 0, failed: 0, not_covered: 1 })
    expect((await stateOn(id, 0))?.reason).toBe('the shield is switched off on this server')
    await lets(0)
    await Promise.all([drops(1), drops(2)])

    await member(0).host.agentCommand('shield', 'on')
    await reaches(id, 0, 'held')
    await drops(0)

    // A host on which nftables does not work for the agent: fail2ban holds the ban, and says so; then the shield again.
    await member(1).host.stopAgent()
    await member(1).host.inside('nft', 'flush', 'ruleset')
    await member(1).host.startAgent({ args: ['--verbose', '--nft', '/nonexistent/nft'] })
    await until(async () => (await counts(id)).in_jail === 1, 'the ban in the jail')
    expect(await stateOn(id, 1)).toMatchObject({
      state: 'held',
      reason: 'fail2ban holds it, since there is no shield: the program nft (nftables) is not installed on this host',
    })
    expect(await member(1).host.bannedInEngine('stockade', sources.bad)).toBe(true)
    await until(async () => !(await member(1).neighbours.reachesHost(sources.bad)), 'the action of fail2ban')
    expect(await server.bans(member(1).serverId)).toEqual([])
    await member(1).host.stopAgent()
    await member(1).host.startAgent({ args: ['--verbose'] })
    await until(async () => {
      const row = await stateOn(id, 1)
      return row?.state === 'held' && row.reason === null
    }, 'the ban in the shield')
    expect((await counts(id)).in_jail).toBe(0)
    await until(async () => !(await member(1).host.bannedInEngine('stockade', sources.bad)), 'its end in the jail')
    expect(await server.bans(member(1).serverId)).toEqual([])
    await drops(1)
    await server.admin().call('DELETE /fleet/bans/{id}', { params: { id } })
    await Promise.all([0, 1, 2].map(lets))
  })
})
