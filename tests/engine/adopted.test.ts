import { afterAll, beforeAll, expect, it } from 'vitest'
import { carriedOut, ended } from './scenarios.ts'
import { aHost, describeHosts, until, type Host } from './host.ts'
import { aRecorder, type Recorder } from './recorder.ts'

/** Restores its bans for good, since the administrator said so. */
const forever = `
[permanent]
enabled = true
filter = sshd
bantime = -1
logpath = /dev/null
`

describeHosts('bans from before the enrolment', () => {
  let host: Host
  let server: Recorder
  let serverId = ''

  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost({ jailLocal: forever })
  })
  afterAll(async () => {
    await host.stop()
    await server.close()
  })

  it('are listed at once as bans that were there already, and their ends are reported', async () => {
    await host.client('set', 'sshd', 'banip', '203.0.113.1', '2001:db8::1')
    await host.client('set', 'permanent', 'banip', '203.0.113.2')
    const added = await server.addServer(host.name)
    serverId = added.serverId
    await host.startAgent({ baseUrl: server.url(host), token: added.token, args: ['--verbose'] })
    await until(() => server.rows.length >= 3, 'the adopted bans')
    expect(server.rows.map(({ ip, jail, ban_duration }) => [ip, jail, ban_duration]).sort()).toEqual([
      ['2001:db8::1', 'sshd', 600],
      ['203.0.113.1', 'sshd', 600],
      ['203.0.113.2', 'permanent', -1],
    ])
    expect(server.adopted.size).toBe(3)
    await host.client('set', 'sshd', 'unbanip', '203.0.113.1')
    await until(
      () => server.rows.some(({ ip, unbanned_at }) => ip === '203.0.113.1' && unbanned_at !== null),
      'the end of a ban',
    )
    expect(server.rows.filter(row => row.serverId === serverId && row.unbanned_at === null)).toHaveLength(2)
  })

  it('are not taken for new ones later, and new ones are not taken for old', async () => {
    await host.attack('203.0.113.7')
    await until(() => server.rows.some(({ ip }) => ip === '203.0.113.7'), 'the report of a new ban')
    expect(server.adopted.size).toBe(3)
    await host.stopAgent()
    await host.startAgent()
    await host.attack('203.0.113.8')
    await until(() => server.rows.some(({ ip }) => ip === '203.0.113.8'), 'the report of a new ban')
    expect(server.rows).toHaveLength(5)
    expect(server.rows.every(({ deliveries }) => deliveries === 1)).toBe(true)
    expect(server.adopted.size).toBe(3)
    expect(server.complaints).toEqual([])
  })

  it('are lifted by an unban that was ordered while fail2ban was down', async () => {
    const ip = '203.0.113.8'
    await host.stopEngine()
    await until(async () => (await server.engineVersion(serverId)) === '', 'the agent to miss fail2ban')
    const { success, output } = await carriedOut({ host, server, serverId }, 'unban-ip', { ip, jail: 'sshd' })
    expect({ success, output }).toMatchObject({
      success: true,
      output: `fail2ban is not running: ${ip} is unbanned in sshd as soon as fail2ban runs again`,
    })
    await host.startEngine()
    await until(() => host.agentLog().includes(`lifted the ban of ${ip} in sshd`), 'the unban')
    expect(await host.bannedInEngine('sshd', ip)).toBe(false)
    await until(async () => !(await host.bannedInNft(ip)), 'the end of the ban in the firewall')
    await until(() => host.bannedInEngine('sshd', '203.0.113.7'), 'the restored ban of another address')
    await ended({ host, server, serverId }, ip)
  })

  it('are made by a command that comes while fail2ban starts', async () => {
    const ip = '203.0.113.9'
    await host.stopEngine()
    await until(async () => (await server.engineVersion(serverId)) === '', 'the agent to miss fail2ban')
    const made = carriedOut({ host, server, serverId }, 'ban-ip', { ip, jail: 'sshd' })
    await host.startEngine()
    expect(await made).toMatchObject({ success: true })
    expect(await host.bannedInEngine('sshd', ip)).toBe(true)
  })
})
