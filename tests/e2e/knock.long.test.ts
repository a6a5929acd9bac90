import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../packages/client/src/index.ts'
import { aHost, describeHosts, loudly, sleep, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { online } from '../engine/scenarios.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'

/* Port knocking from the server's API to a port of a real host and back. The test machine is the laptop that knocks. */
describeHosts('port knocking, end to end', () => {
  const PORT = 2201
  const OTHER = 2202
  const KNOCKS = [7001, 9003, 8002]
  let server: RealServer
  let host: Host
  let service: ChildProcess
  let serverId = ''
  let untouched = ''
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    server = await aRealServer()
    host = await aHost()
    untouched = await host.inside('nft', 'list', 'ruleset')
    const echo = `for (const port of [${PORT}, ${OTHER}]) require('net').createServer(s => s.on('error', () => {}).pipe(s)).listen(port)`
    service = spawn('ip', ['netns', 'exec', host.name, process.execPath, '-e', echo], { stdio: 'ignore' })
    const added = await server.addServer(host.name)
    serverId = added.serverId
    await host.startAgent({ baseUrl: server.url(host), token: added.token, args: ['--verbose'] })
    await online({ host, server, serverId })
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG']) loudly(host?.agentLog() ?? '')
    service?.kill('SIGKILL')
    await host?.stop()
    await server?.close()
  })

  const api = () => server.admin()
  const sequence = async (name: string) =>
    (await api().call('GET /portknock/sequences', {})).sequences.find(each => each.name === name)
  const stateOf = async (name: string) => (await sequence(name))?.servers[0]?.state
  const openings = async () => (await api().call('GET /portknock/active', {})).openings
  const history = async (status?: 'success' | 'failed' | 'blocked') =>
    (await api().call('GET /portknock/history', { query: { limit: 100, ...(status ? { status } : {}) } })).history
  const address6 = () => host.gateway6.replace(/1$/, '2')

  const knock = async (ports: readonly number[], to = host.address): Promise<void> => {
    for (const port of ports) {
      const socket = connect({ host: to, port })
      socket.on('error', () => undefined)
      await sleep(40)
      socket.destroy()
    }
  }
  const dial = (port: number, to = host.address): Promise<Socket | null> =>
    new Promise(resolve => {
      const socket = connect({ host: to, port })
      const give = (answer: Socket | null) => {
        clearTimeout(timer)
        if (!answer) socket.destroy()
        resolve(answer)
      }
      const timer = setTimeout(() => give(null), 700)
      socket.once('connect', () => give(socket)).on('error', () => give(null))
    })
  const reaches = async (port: number, to = host.address): Promise<boolean> => {
    const socket = await dial(port, to)
    socket?.destroy()
    return socket !== null
  }
  const echoes = (socket: Socket): Promise<boolean> =>
    new Promise(resolve => {
      const timer = setTimeout(() => resolve(false), 1000)
      socket
        .once('data', () => (clearTimeout(timer), resolve(true)))
        .once('close', () => (clearTimeout(timer), resolve(false)))
      socket.write('hello')
    })
  const add = async (name: string, more: object) => {
    const made = await api().call('POST /portknock/sequences', {
      // What is open stays open for all of the tests that follow.
      body: { name, protected_port: PORT, knock_ports: KNOCKS, server_ids: [serverId], timeout: 3600, ...more },
    })
    ids[name] = made.id
    const at = Date.now()
    await until(async () => (await stateOf(name)) === 'enforced', `${name} to be in force`)
    return Date.now() - at
  }

  test('a sequence closes the port, once the host has confirmed it', async () => {
    await until(() => reaches(PORT), 'an open port')
    loudly(`from a new sequence to its confirmation: ${await add('ssh', {})} ms`)
    expect(await reaches(PORT)).toBe(false)
    expect(await reaches(PORT, address6())).toBe(false)
    await until(() => reaches(OTHER), 'an open port')
  })

  test('a knock opens it, for that address, and the server hears of it', async () => {
    await knock(KNOCKS)
    const at = Date.now()
    await until(() => reaches(PORT), 'an open port')
    expect(await reaches(PORT, address6())).toBe(false)
    await until(async () => (await openings()).length === 1, 'the opening')
    loudly(`from a knock to its opening in the API: ${Date.now() - at} ms`)
    expect(await openings()).toMatchObject([{ ip: host.gateway, protected_port: PORT, sequence_name: 'ssh' }])
    expect(await history()).toMatchObject([{ ip: host.gateway, status: 'success', reason: null }])
  })

  test('closing closes, connections stay; cutting cuts them', async () => {
    const sockets: Socket[] = []
    await until(async () => {
      const socket = await dial(PORT)
      if (socket) sockets.push(socket)
      return socket !== null
    }, 'the open port')
    const [held] = sockets
    if (!held) throw new Error('unreachable: it was there')
    const close = async (cut: boolean): Promise<void> => {
      const [opening] = await openings()
      if (!opening) throw new Error('nothing is open')
      await api().call('DELETE /portknock/active/{openingId}', { params: { openingId: opening.id }, query: { cut } })
      await until(async () => !(await reaches(PORT)), 'the end of the opening')
    }
    await close(false)
    await until(() => echoes(held), 'an echo on the open connection')
    await knock(KNOCKS)
    await until(async () => (await openings()).length === 1, 'the opening')
    const at = Date.now()
    await close(true)
    await until(async () => !(await echoes(held)), 'the cut')
    loudly(`from the order to cut to a dead connection: ${Date.now() - at} ms`)
    held.destroy()
    expect(await openings()).toEqual([])
  })

  test('a web knock opens at once, for the address it came from', async () => {
    const here = createClient({ baseUrl: server.url(host), token: server.token() })
    const at = Date.now()
    const answer = await here.call('POST /portknock/knock', { body: { server_id: serverId, sequence_name: 'ssh' } })
    const took = Date.now() - at
    loudly(`a web knock: ${took} ms`)
    expect(answer).toMatchObject({ ip: host.gateway, protected_port: PORT })
    // On a busy machine the host may confirm it after the answer, which then says so.
    if (answer.confirmed) await until(() => reaches(PORT), 'an open port')
    await until(() => reaches(PORT), 'the opening')
    await until(async () => (await openings())[0]?.confirmed === true, 'its confirmation')
    expect(await openings()).toMatchObject([{ ip: host.gateway }])
  })

  test('wrong knocks block, which is told; unblocking lets in again', async () => {
    await add('database', {
      protected_port: OTHER,
      knock_ports: [7101, 9103, 8102],
      protocol: 'udp',
      max_attempts: 2,
      block_duration: 600,
    })
    const udp = async (ports: readonly number[]): Promise<void> => {
      const socket = createSocket('udp4')
      for (const port of ports) {
        await new Promise(resolve => socket.send('k', port, host.address, resolve))
        await sleep(20)
      }
      socket.close()
    }
    await udp([8102])
    await udp([9103])
    await udp([7101, 9103, 8102])
    expect(await reaches(OTHER)).toBe(false)
    const blocked = async () => (await api().call('GET /portknock/blocked', {})).blocked
    await until(async () => (await blocked()).length === 1, 'the block')
    expect(await blocked()).toMatchObject([{ ip: host.gateway, sequence_name: 'database', failed_attempts: 2 }])
    await until(async () => (await history('blocked')).length === 2, 'the knock while blocked')
    expect((await history('failed')).map(({ reason }) => reason)).toEqual(['wrong order', 'wrong order'])
    await api().call('DELETE /portknock/blocked/{ip}', { params: { ip: host.gateway } })
    const set = ['list', 'set', 'inet', 'stockade_knock', `k${ids['database']}_block_4`]
    await until(async () => !(await host.inside('nft', ...set)).includes(host.gateway), 'the host to hear of it')
    await udp([7101, 9103, 8102])
    await until(() => reaches(OTHER), 'an open port')
    await until(async () => (await openings()).length === 2, 'the opening')
  })

  test('agent killed, firewall emptied: all is as before, and nothing is told twice', async () => {
    const before = (await history()).length
    await host.killAgent()
    await host.inside('nft', 'flush', 'ruleset')
    await until(() => reaches(PORT, address6()), 'an open port')
    await host.startAgent()
    await until(async () => !(await reaches(PORT, address6())), 'the rules')
    await until(() => reaches(OTHER), 'an open port')
    await sleep(2500)
    expect(await history()).toHaveLength(before)
  })

  test('without the sequences the firewall is byte for byte what it was', async () => {
    await host.client('unban', '--all')
    const own = async () => (await host.inside('nft', 'list', 'ruleset')).includes('stockade_knock')
    for (const id of Object.values(ids))
      await api().call('DELETE /portknock/sequences/{sequenceId}', { params: { sequenceId: id } })
    await until(async () => !(await own()), 'our table to go')
    await until(() => reaches(PORT, address6()), 'an open port')
    // fail2ban makes its own rules at the first ban; here there was none, and the flush above took nothing of its.
    const withoutShield = (await host.inside('nft', 'list', 'ruleset')).replace(
      /^table inet stockade_shield [^]*?^\}\n/m,
      '',
    )
    expect(withoutShield).toBe(untouched)
  })
})
