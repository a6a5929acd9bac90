import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { ownFilesystem } from '../engine/own-filesystem.ts'
import type { OwnFilesystem } from '../engine/own-filesystem.ts'
import { bansOf } from '../engine/scenarios.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

/* The README's quick start, word for word: the command that the dashboard shows, pasted on a host. */
describeHosts('the quick start', () => {
  let server: RealServer
  let host: Host
  let files: OwnFilesystem | null = null
  beforeAll(async () => {
    host = await aHost()
    server = await aRealServer(port => ({ STOCKADE_BASE_URL: `http://${host.gateway}:${port}` }))
    const own = await ownFilesystem(host)
    if ('cannot' in own) loudly(`SKIPPED: the quick start: ${own.cannot}`)
    else files = own
  })
  afterAll(async () => {
    files?.end()
    await host?.stop()
    await server?.close()
  })

  test('the command that is shown installs an agent that reports the first ban', async context => {
    if (!files) return context.skip()
    const made = await server.admin().call('POST /servers', { body: { hostname: 'my-first-host' } })
    // Only `sudo` is stood in for: whoever tests is root already.
    const { stdout } = await files.run(`sudo() { "$@"; }; ${made.install_command}`)
    expect(stdout).toContain(`enrolled as server ${made.id}`)
    const read = () => server.admin().call('GET /servers/{serverId}', { params: { serverId: made.id } })
    expect((await read()).install).toMatchObject({
      script_fetched_at: expect.any(String),
      token_used_at: expect.any(String),
      token_used_from: host.address,
      first_heartbeat_at: null,
    })
    // There is no init system here, which starts it on a host.
    const agent = files.background('/opt/stockade-agent/stockade-agent run')
    try {
      await until(async () => (await read()).status === 'online', 'the host to be online')
      await until(async () => (await read()).jails.some(jail => jail.name === 'sshd'), 'the jails')
      await host.attack('203.0.113.210')
      await until(
        async () => (await bansOf({ host, server, serverId: made.id }, '203.0.113.210')).length === 1,
        'the first ban',
      )
      // It is written after the ban itself.
      await until(async () => (await read()).install?.first_ban_at !== null, 'the time of the first ban')
      expect((await read()).install).toMatchObject({ first_heartbeat_at: expect.any(String) })
      // The key is in one place, for root alone, and the token is good for nothing any more.
      expect((await files.run('stat -c %a /etc/stockade-agent/agent.json')).stdout.trim()).toBe('600')
      await expect(files.run(`sudo() { "$@"; }; ${made.install_command}`)).rejects.toThrow()
    } finally {
      const over = new Promise(resolve => agent.once('exit', resolve))
      agent.kill('SIGTERM')
      await within(over, 'the end of the agent')
    }
  })
})
