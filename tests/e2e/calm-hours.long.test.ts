import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, describeHosts, loudly, sleep, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { authLog } from '../engine/protection.ts'
import { online } from '../engine/scenarios.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'
import { testMs } from '../../packages/server/src/testing/waiting.ts'

/** `npm run check -- calm`: this number of ordinary rounds, a minute apart. In `npm test`, `calm-day.long.test.ts` is the short form. */
const rounds = Number(process.env['CALM_MINUTES'] ?? 0)
const pause = 60_000
const each = (count: number, round: number): boolean => round % count === count - 1
/** As without settings. */
const realIntervals = { STOCKADE_HEARTBEAT_INTERVAL: '30', STOCKADE_OFFLINE_AFTER: '90' }

const ordinaryHours = (): void => {
  let server: RealServer
  const members: { host: Host; serverId: string }[] = []
  beforeAll(async () => {
    server = await aRealServer(() => realIntervals)
    for (let index = 0; index < 3; index += 1) {
      const host = await aHost()
      const { serverId, token } = await server.addServer(host.name)
      members.push({ host, serverId })
      await host.startAgent({ baseUrl: server.url(host), token, args: ['--verbose'] })
      await online({ host, server, serverId })
    }
  })
  afterAll(async () => {
    // A run that was cut off says what it saw until then.
    loudly(`alerts of the calm time: ${JSON.stringify(await alerts().catch(String))}`)
    if (process.env['STOCKADE_TEST_LOG']) for (const { host } of members) loudly(host.agentLog())
    for (const { host } of members) await host.stop()
    await server?.close()
  })

  const alerts = async (): Promise<string[]> => {
    const found = await server.admin().call('GET /alerts', { query: { limit: 100 } })
    return found.alerts
      .filter(({ fired_at }) => fired_at !== null)
      .map(({ rule, title, detail, fired_at }) => `${fired_at ?? ''} ${rule}: ${title} ${detail}`)
  }
  const levelOf = async (serverId: string) => {
    const { protection } = await server.admin().call('GET /servers/{serverId}', { params: { serverId } })
    return protection.level
  }
  const order = async (serverId: string, type: string, params: Record<string, unknown> = {}): Promise<void> => {
    const id = await server.order(serverId, type, params)
    await until(async () => (await server.outcome(id)) !== null, `the result of ${type}`)
    expect(await server.outcome(id)).toMatchObject({ success: true })
  }

  /** The kernel forgets its rules, then fail2ban and the agent start side by side. */
  const reboot = async (host: Host): Promise<void> => {
    await host.stopAgent()
    await host.stopEngine()
    await host.inside('nft', 'flush', 'ruleset')
    await Promise.all([host.startAgent({}), host.startEngine()])
  }
  /** Attacks, bans, log rotation, reloads, restarts of fail2ban and of the agent, and reboots, as ordinary hours have them. */
  const ordinaryRound = async ({ host, serverId }: (typeof members)[number], round: number): Promise<void> => {
    await host.attack(`198.51.100.${round % 250}`)
    await order(serverId, 'ban-ip', { ip: `203.0.113.${round % 250}`, duration: 90 })
    if (round % 2 === 1) await order(serverId, 'unban-ip', { ip: `203.0.113.${round % 250}`, jail: 'stockade' })
    if (each(5, round)) {
      fs.renameSync(authLog(host), `${authLog(host)}.1`)
      fs.writeFileSync(authLog(host), '')
      await host.client('flushlogs')
      await host.client('reload')
    }
    if (each(10, round)) await order(serverId, 'service-restart')
    if (each(12, round)) await reboot(host)
    if (each(15, round)) {
      await host.stopAgent()
      await host.startAgent({})
    }
  }
  const fleetRound = async (round: number): Promise<void> => {
    const { id } = await server
      .admin()
      .call('POST /fleet/bans', { body: { entry: `198.18.0.${round % 250}`, target: { all: true }, duration: 300 } })
    if (round % 2 === 1) await server.admin().call('DELETE /fleet/bans/{id}', { params: { id } })
    if (each(20, round)) {
      await server.down()
      await server.up()
    }
  }

  test(
    'give no alert and leave every server protected, and then a fail2ban that is stopped gives one',
    async () => {
      for (const { serverId } of members)
        await until(async () => (await levelOf(serverId)) === 'protected', 'the level "protected"')
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(members.map(member => ordinaryRound(member, round)))
        await fleetRound(round)
        await sleep(pause)
      }
      for (const { serverId } of members)
        await until(async () => (await levelOf(serverId)) === 'protected', 'the level "protected"')
      expect(await alerts()).toEqual([])
      await members[0]?.host.stopEngine()
      await until(async () => (await alerts()).some(text => text.includes('engine-down')), 'the alert')
    },
    testMs + 2 * rounds * pause,
  )
}
describe.runIf(rounds > 0)('a calm time', () => describeHosts('ordinary hours', ordinaryHours))
