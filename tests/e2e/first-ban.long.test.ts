import { execFile } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import WebSocket from 'ws'
import type { LiveMessage } from '@stockade/contract'
import { describeHosts, loudly, sleep, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { bansOf, ended, outcomeOf, reported, scenarios } from '../engine/scenarios.ts'
import type { Scene } from '../engine/scenarios.ts'
import type { RealServer } from './real-server.ts'
import { withAgent } from './scene.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

/* The main job from end to end: the real server, the real agent, a real fail2ban, a real nftables set. */
describeHosts('the first ban, end to end', () => {
  let server: RealServer
  let host: Host
  let scene: Scene
  withAgent(made => ({ server, host } = scene = made))

  test('the host is online, with its engine, metrics and jails', async () => {
    await until(async () => (await server.jails(scene.serverId)).some(jail => jail.name === 'sshd'), 'the jails')
    const read = { params: { serverId: scene.serverId } }
    expect(await server.admin().call('GET /servers/{serverId}', read)).toMatchObject({
      status: 'online',
      os: expect.stringContaining('Debian'),
      engine_version: expect.stringMatching(/^\d+\.\d+/),
      agent_version: expect.any(String),
      metrics: { cpu_percent: expect.anything(), memory_percent: expect.any(Number), disk_percent: expect.any(Number) },
    })
    await until(async () => {
      const { jails } = await server.admin().call('GET /servers/{serverId}/jails', read)
      return jails.some(
        jail => jail.name === 'sshd' && jail.filter === 'sshd' && jail.maxretry === 3 && jail.bantime === 600,
      )
    }, 'the jails in detail')
  })

  test('an attack shows up live, with its log lines', async () => {
    const heard: { message: LiveMessage; at: number }[] = []
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v1/ws`, ['stockade.v1', `bearer.${server.token()}`])
    socket.on('message', data => heard.push({ message: JSON.parse(String(data)) as LiveMessage, at: Date.now() }))
    await within(new Promise(resolve => socket.once('open', resolve)), 'the live feed')
    await host.attack('203.0.113.201', { user: 'mallory' })
    const find = () => heard.find(({ message }) => message.type === 'ban' && message.data.ip === '203.0.113.201')
    await until(() => find() !== undefined, 'the live message')
    const told = find()
    if (told?.message.type !== 'ban') throw new Error('unreachable: it was there')
    expect(told.message.data).toMatchObject({
      jail: 'sshd',
      active: true,
      server: { id: scene.serverId },
    })
    expect(told.message.data.log_lines).toContain('Failed password for invalid user mallory0 from 203.0.113.201')
    const decision = await decidedAt('203.0.113.201')
    loudly(`from the engine's decision to the live message: ${told.at - decision} ms`)
    socket.close()
  })

  /** When fail2ban wrote that it bans the address, epoch milliseconds. */
  const decidedAt = async (ip: string): Promise<number> => {
    const log = await host.inside('cat', `${host.directory}/log/fail2ban.log`)
    const [, date = '', time = '', fraction = ''] =
      new RegExp(`^(\\S+) (\\S+),(\\d+) .*NOTICE +\\[sshd\\] Ban ${ip}$`, 'm').exec(log) ?? []
    return new Date(`${date}T${time}.${fraction}`).getTime()
  }

  test('an IPv6 attack is reported, and lifted through the API it leaves the nftables set', async () => {
    await host.attack('2001:db8::201')
    await reported(scene, '2001:db8::201')
    await until(() => host.bannedInNft('2001:db8::201'), 'the ban in the firewall')
    const { command_id } = await server
      .admin()
      .call('DELETE /servers/{serverId}/bans/{ip}', { params: { serverId: scene.serverId, ip: '2001:db8::201' } })
    expect(await outcomeOf(scene, command_id)).toMatchObject({ success: true })
    await until(async () => !(await host.bannedInNft('2001:db8::201')), 'the end of the ban in the firewall')
    await ended(scene, '2001:db8::201')
    expect((await server.admin().call('GET /bans', { query: { ip: '2001:db8::201', active: true } })).total).toBe(0)
  })

  test("a manual ban reaches the firewall and bears the operator's name", async () => {
    const { command_id } = await server.admin().call('POST /servers/{serverId}/bans', {
      params: { serverId: scene.serverId },
      body: { ip: '203.0.113.202', duration: 3600, reason: 'abuse' },
    })
    expect(await outcomeOf(scene, command_id)).toMatchObject({ success: true })
    await until(() => host.bannedInNft('203.0.113.202'), 'the ban in the firewall')
    await reported(scene, '203.0.113.202')
    const { bans } = await server.admin().call('GET /bans', { query: { ip: '203.0.113.202' } })
    expect(bans).toMatchObject([{ jail: 'stockade', banned_by: 'admin', ban_duration: 3600, active: true }])
  })

  test('the plug is pulled, an attack comes, the plug is put back: the ban arrives, once', async () => {
    await server.down()
    const attackedAt = Date.now()
    await host.attack('203.0.113.203')
    await host.attack('2001:db8::203')
    await until(() => host.bannedInEngine('sshd', '203.0.113.203'), 'the ban')
    await sleep(3000)
    const upAt = Date.now()
    await server.up()
    await reported(scene, '203.0.113.203')
    await reported(scene, '2001:db8::203')
    await sleep(3000)
    expect(await bansOf(scene, '203.0.113.203')).toHaveLength(1)
    const [ban] = await bansOf(scene, '203.0.113.203')
    // It bears the time of the attack, not that of its report.
    expect(Date.parse(ban?.banned_at ?? '')).toBeGreaterThanOrEqual(attackedAt - 1000)
    expect(Date.parse(ban?.banned_at ?? '')).toBeLessThan(upAt)
  })

  test('the host has proved by itself that a ban stops packets', async () => {
    const lastTest = async () => {
      const params = { serverId: scene.serverId }
      return (await server.admin().call('GET /servers/{serverId}', { params })).last_self_test
    }
    await until(async () => (await lastTest()) !== null, 'the self-test after the enrolment')
    expect(await lastTest()).toMatchObject({ result: 'proved' })
  })

  test('the command line proves each hop of a ban, down to the packet', async () => {
    const { key } = await server.admin().call('POST /keys', { body: { name: 'tester', permissions: 'write' } })
    const env = { PATH: process.env.PATH, STOCKADE_URL: `http://127.0.0.1:${server.port}`, STOCKADE_API_KEY: key }
    const launcher = fileURLToPath(new URL('../../scripts/stockade.cjs', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [launcher, 'test', scene.serverId], { env })
    for (const hop of ['server to host', 'IPv4 control', 'IPv4 ban', 'IPv4 drop', 'IPv4 lift', 'IPv6 drop'])
      expect(stdout).toMatch(new RegExp(`^${hop} +ok `, 'm'))
    expect(stdout).toContain('Proved: a packet of a banned address is dropped on this host')
    // The test is in no list of bans.
    expect((await server.admin().call('GET /bans', { query: { ip: '192.0.2.0/24' } })).total).toBe(0)
  })

  /** The same scenarios are played before the recorder (`tests/engine`); here again what the real server does its part in. */
  const played: (keyof typeof scenarios)[] = [
    'hostile log lines arrive cleaned and cut',
    'an unban without a jail lifts it everywhere',
    'bans and unbans while the agent is down are told once it is back',
    'a jail is disabled and enabled, also for the next start, with its bans',
    'a storm of 300 bans with the agent killed again and again: none lost, none doubled',
  ]
  const inWholeRuns: typeof played = [
    'restart and reload of fail2ban are not reported',
    'a ban by command has its own duration, kept over a restart of the agent',
    'fail2ban stopped and started again is a state, not a crash',
  ]
  for (const name of process.env['STOCKADE_TEST_WHOLE'] === '1' ? [...played, ...inWholeRuns] : played)
    test(name, async () => {
      await scenarios[name](scene)
      expect(host.agentRunning()).toBe(true)
    })

  test('a ban that returns within its first second is listed', async () => {
    // The agent was killed before: it follows fail2ban again once it reports this ban.
    await host.client('set', 'sshd', 'banip', '203.0.113.243')
    await reported(scene, '203.0.113.243')
    const addresses = ['203.0.113.240', '203.0.113.241', '203.0.113.242']
    const commands = addresses.flatMap(ip =>
      ['banip', 'unbanip', 'banip'].map(command => `set sshd ${command} ${ip}\n`),
    )
    // One client for all, so that they happen within the same second.
    const client = `printf '${commands.join('')}exit\\n' | fail2ban-client -c '${host.f2bConfig}' -i`
    await host.inside('sh', '-c', client)
    // Told after them, so that the server has heard of their first ends.
    await host.client('set', 'sshd', 'banip', '203.0.113.244')
    await reported(scene, '203.0.113.244')
    for (const ip of addresses) {
      expect(await host.bannedInEngine('sshd', ip)).toBe(true)
      const isListed = async (): Promise<boolean> =>
        (await bansOf(scene, ip)).filter(ban => ban.unbanned_at === null).length === 1
      await until(isListed, `the ban of ${ip}`).catch(async (error: unknown) => {
        const bans = JSON.stringify(await bansOf(scene, ip), null, 1)
        throw new Error(`listed: ${bans}\n${host.agentLog().slice(-4000)}`, { cause: error })
      })
    }
  })

  test('a server that was set back to a backup learns what it has lost, in both directions', async () => {
    const [before, after] = ['203.0.113.230', '203.0.113.231']
    const backup = `${server.dataDir}-backup`
    const isActive = async (ip: string) => (await bansOf(scene, ip)).some(ban => ban.unbanned_at === null)
    try {
      await host.client('set', 'sshd', 'banip', before)
      const { received_at } = await reported(scene, before)
      await server.down()
      cpSync(server.dataDir, backup, { recursive: true })
      await server.up()
      await host.client('set', 'sshd', 'unbanip', before)
      await host.client('set', 'sshd', 'banip', after)
      await ended(scene, before)
      await reported(scene, after)
      // A comparison leaves bans of the last minute alone.
      await sleep(received_at + 61_000 - Date.now())
      await server.down()
      rmSync(server.dataDir, { recursive: true })
      cpSync(backup, server.dataDir, { recursive: true })
      // Held while the server is asked: the agent may be faster than the question.
      const agent = host.agentPid() ?? 0
      expect(agent).toBeGreaterThan(0)
      process.kill(agent, 'SIGSTOP')
      try {
        await server.up()
        expect(await isActive(before)).toBe(true)
        expect(await bansOf(scene, after)).toEqual([])
      } finally {
        process.kill(agent, 'SIGCONT')
      }
      await until(() => isActive(after), 'the ban that the backup does not know')
      await until(async () => !(await isActive(before)), 'the end that the backup does not know')
      expect(await bansOf(scene, after)).toHaveLength(1)
    } finally {
      rmSync(backup, { recursive: true, force: true })
    }
  })
})
