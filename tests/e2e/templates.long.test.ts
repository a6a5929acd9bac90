import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeHosts, until } from '../engine/host.ts'
import { outcomeOf, reported } from '../engine/scenarios.ts'
import type { Scene } from '../engine/scenarios.ts'
import type { RealServer } from './real-server.ts'
import { withAgent } from './scene.ts'

/* A template of one's own from the server to a real fail2ban and back: deployed, at work, removed. */
describeHosts('a template, end to end', () => {
  let server: RealServer
  let scene: Scene
  let logs: string
  beforeAll(() => {
    // Templates read logs below a few folders only.
    logs = mkdtempSync('/var/log/stockade-e2e-')
    writeFileSync(join(logs, 'gate.log'), '')
  })
  afterAll(() => rmSync(logs, { recursive: true, force: true }))
  withAgent(made => ({ server } = scene = made))

  const params = { templateId: 'gate' }
  const deploy = async (settings: object = {}) => {
    const { commands } = await server.admin().call('POST /templates/{templateId}/deploy', {
      params,
      body: { server_ids: [scene.serverId], settings },
    })
    return outcomeOf(scene, commands[0]?.command_id ?? '')
  }
  const here = async () => (await server.admin().call('GET /templates/{templateId}/status', { params })).servers[0]

  test('is deployed, bans by its own filter, and is taken away again', async () => {
    await server.admin().call('POST /templates', {
      body: {
        name: 'gate',
        jail_config: `[gate]\nport = 8080\nbackend = auto\nlogpath = ${logs}/*.log\nfindtime = 10m\n`,
        filter_config: '[Definition]\nfailregex = ^\\s*gate: knock from <HOST>$\n',
        settings: { maxretry: 2 },
      },
    })
    expect(await here()).toMatchObject({ deployed: false })
    // Nothing to read: refused there with a sentence, and nothing is left behind.
    expect(await deploy({ logpath: `${logs}/nothing.log` })).toMatchObject({
      success: false,
      output: expect.stringContaining('nothing.log'),
    })
    expect(await deploy({ bantime: 120 })).toMatchObject({ success: true })
    await until(async () => (await here())?.deployed === true, 'the status')
    const gate = async () => {
      const options = { params: { serverId: scene.serverId } }
      const { jails } = await server.admin().call('GET /servers/{serverId}/jails', options)
      return jails.find(jail => jail.name === 'gate')
    }
    // The mark comes with the result, the details with what the host says of its jails next.
    await until(async () => (await gate())?.maxretry === 2, 'the details of the jail')
    expect(await gate()).toMatchObject({ enabled: true, findtime: 600, bantime: 120, template: 'gate' })
    const stamp = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
    appendFileSync(join(logs, 'gate.log'), `${stamp.replace('T', ' ')} gate: knock from 203.0.113.77\n`.repeat(2))
    await reported(scene, '203.0.113.77')
    await until(async () => (await here())?.current_bans === 1, 'the ban in the status')
    await expect(server.admin().call('DELETE /templates/{templateId}', { params })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('is deployed on'),
    })
    const { command_id } = await server.admin().call('DELETE /templates/{templateId}/servers/{serverId}', {
      params: { ...params, serverId: scene.serverId },
    })
    expect(await outcomeOf(scene, command_id)).toMatchObject({ success: true })
    await until(async () => (await here())?.deployed === false, 'the status after')
    await server.admin().call('DELETE /templates/{templateId}', { params })
  })
})
