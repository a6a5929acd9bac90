import { expect } from 'vitest'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { createEngineSocket } from '../../packages/agent/src/engine/socket.ts'
import { sleep, until, type Host } from './host.ts'
import type { ReportedBan, ServerUnderTest } from './server.ts'

/** What a scenario plays with: a host with its agent enrolled and running, and the server that it reports to. */
export interface Scene {
  readonly host: Host
  readonly server: ServerUnderTest
  readonly serverId: string
}

export async function bansOf({ server, serverId }: Scene, ip: string): Promise<ReportedBan[]> {
  return (await server.bans(serverId)).filter(ban => ban.ip === ip)
}

/** Waits for the ban, and answers it. */
export async function reported(scene: Scene, ip: string): Promise<ReportedBan> {
  await until(async () => (await bansOf(scene, ip)).length > 0, `the report of ${ip}`)
  const [ban] = await bansOf(scene, ip)
  if (!ban) throw new Error('unreachable: it was there')
  return ban
}

/** Waits until every ban of the address has ended; one whose report is still under way has not. */
export async function ended(scene: Scene, ip: string): Promise<void> {
  const isOver = async (): Promise<boolean> => {
    const bans = await bansOf(scene, ip)
    return bans.length > 0 && bans.every(ban => ban.unbanned_at !== null)
  }
  await until(isOver, `the end of ${ip}`)
}

/** Orders a command and waits for its result. */
export async function carriedOut(scene: Scene, type: string, params: Record<string, unknown> = {}) {
  const id = await scene.server.order(scene.serverId, type, params)
  return outcomeOf(scene, id)
}

export async function outcomeOf(scene: Scene, id: string): Promise<{ id: string; success: boolean; output: string }> {
  await until(async () => (await scene.server.outcome(id)) !== null, 'the result of the command')
  const outcome = await scene.server.outcome(id)
  if (!outcome) throw new Error('unreachable: it was there')
  return { id, ...outcome }
}

/** Only what goes wrong counts as a failure: everything after this has settled. */
export async function online({ host, server, serverId }: Scene): Promise<void> {
  await until(async () => Boolean(await server.engineVersion(serverId)), `the first heartbeat of ${host.name}`)
  await until(async () => (await host.client('get', 'sshd', 'actions')).includes('stockade'), 'the action in jail sshd')
}

export const scenarios = {
  'an IPv4 attack is reported once, with its log lines': async (scene: Scene) => {
    const attackedAt = Date.now()
    await scene.host.attack('203.0.113.7', { user: 'mallory' })
    const ban = await reported(scene, '203.0.113.7')
    expect(ban).toMatchObject({ jail: 'sshd', ban_duration: 600, unbanned_at: null })
    expect(ban.log_lines.split('\n')).toHaveLength(3)
    expect(ban.log_lines).toContain('Failed password for invalid user mallory0 from 203.0.113.7 port 40000 ssh2')
    // In whole seconds, and of the attack, whenever the report comes.
    expect(Date.parse(ban.banned_at)).toBeGreaterThanOrEqual(attackedAt - 1000)
    expect(Date.parse(ban.banned_at)).toBeLessThanOrEqual(ban.received_at)
    await until(() => scene.host.bannedInNft('203.0.113.7'), 'the ban in the firewall')
  },

  'an IPv6 attack is reported once': async (scene: Scene) => {
    await scene.host.attack('2001:db8:0:0:0:0:0:7')
    expect(await reported(scene, '2001:db8::7')).toMatchObject({ jail: 'sshd', unbanned_at: null })
    await until(() => scene.host.bannedInNft('2001:db8::7'), 'the ban in the firewall')
  },

  'bans that fail2ban lifts all at once end at the server': async (scene: Scene) => {
    const addresses = ['203.0.113.130', '203.0.113.131', '2001:db8::130']
    await scene.host.client('set', 'sshd', 'banip', ...addresses)
    for (const ip of addresses) await reported(scene, ip)
    await scene.host.client('unban', '--all')
    for (const ip of addresses) await ended(scene, ip)
  },

  'hostile log lines arrive cleaned and cut': async (scene: Scene) => {
    const line = (ip: string, user: Buffer): Buffer =>
      Buffer.concat([
        Buffer.from(stampedLine('Failed password for invalid user ')),
        user,
        Buffer.from(` from ${ip} port 4 ssh2\n`),
      ])
    const wild = Buffer.concat([
      Buffer.from('a\x1b[31m\x07\x00'),
      Buffer.from([0xff, 0xfe, 0xc3]),
      Buffer.from('<script>"\\u0000'),
      Buffer.alloc(9000, 'é'),
    ])
    await scene.host.writeLog(Buffer.concat([1, 2, 3].map(() => line('203.0.113.8', wild))))
    const ban = await reported(scene, '203.0.113.8')
    expect(Buffer.byteLength(ban.log_lines)).toBeLessThanOrEqual(4 * 1024)
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(ban.log_lines).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    // Each line keeps its beginning and its end.
    const lines = ban.log_lines.split('\n').filter(text => text.endsWith('from 203.0.113.8 port 4 ssh2'))
    expect(lines.filter(text => text.includes('Failed password for invalid user'))).toHaveLength(3)
  },

  'an unban by command leaves the firewall and is told': async (scene: Scene) => {
    await scene.host.attack('203.0.113.9')
    await reported(scene, '203.0.113.9')
    const { success, output } = await carriedOut(scene, 'unban-ip', { jail: 'sshd', ip: '203.0.113.9' })
    expect({ success, output }).toEqual({ success: true, output: '203.0.113.9 is no longer banned in sshd' })
    await until(async () => !(await scene.host.bannedInNft('203.0.113.9')), 'the end of the ban in the firewall')
    await ended(scene, '203.0.113.9')
  },

  'an unban without a jail lifts it everywhere': async (scene: Scene) => {
    await scene.host.client('set', 'sshd', 'banip', '203.0.113.10')
    await scene.host.client('set', 'nginx-http-auth', 'banip', '203.0.113.10')
    await until(async () => (await bansOf(scene, '203.0.113.10')).length === 2, 'both reports')
    expect((await carriedOut(scene, 'unban-ip', { jail: '*', ip: '203.0.113.10' })).success).toBe(true)
    await until(async () => !(await scene.host.bannedInNft('203.0.113.10')), 'the end of the ban in the firewall')
    await ended(scene, '203.0.113.10')
  },

  'a ban lifted within milliseconds is told with its end, and a reused row number does no harm': async (
    scene: Scene,
  ) => {
    const socket = createEngineSocket({ path: scene.host.f2bSocket, onLost: () => undefined })
    try {
      for (const last of [11, 12, 13]) {
        await Promise.all([
          socket.call(['set', 'sshd', 'banip', `203.0.113.${last}`]),
          socket.call(['set', 'sshd', 'unbanip', `203.0.113.${last}`]),
        ])
      }
    } finally {
      socket.close()
    }
    for (const last of [11, 12, 13]) {
      await reported(scene, `203.0.113.${last}`)
      await ended(scene, `203.0.113.${last}`)
    }
  },

  'the end of a ban by its own time is told': async (scene: Scene) => {
    await scene.host.client('set', 'nginx-http-auth', 'bantime', '3')
    await scene.host.client('set', 'nginx-http-auth', 'banip', '203.0.113.14')
    const { banned_at } = await reported(scene, '203.0.113.14')
    await ended(scene, '203.0.113.14')
    const [ban] = await bansOf(scene, '203.0.113.14')
    const lasted = Date.parse(ban?.unbanned_at ?? '') - Date.parse(banned_at)
    // The time of a ban is that of the failure, rounded to whole seconds.
    expect(lasted).toBeGreaterThanOrEqual(2400)
    expect(Date.parse(ban?.unbanned_at ?? '')).toBeLessThanOrEqual(Date.now())
    await scene.host.client('set', 'nginx-http-auth', 'bantime', '600')
  },

  'ends that fail2ban moves are told': async (scene: Scene) => {
    const { host } = scene
    // Banned again while it is banned: fail2ban moves the end, and tells no action and no table of it.
    await host.client('set', 'sshd', 'banip', '203.0.113.23')
    const { banned_at } = await reported(scene, '203.0.113.23')
    await until(() => Date.now() >= Date.parse(banned_at) + 3000, 'three seconds of the ban')
    await host.client('set', 'sshd', 'banip', '203.0.113.23')
    // Another ban time moves all bans of the jail.
    await host.client('set', 'nginx-http-auth', 'banip', '203.0.113.24')
    await reported(scene, '203.0.113.24')
    await host.client('set', 'nginx-http-auth', 'bantime', '7200')
    const lasts = async (ip: string) => (await bansOf(scene, ip)).map(ban => ban.ban_duration)
    await until(async () => Number((await lasts('203.0.113.23'))[0]) > 600, 'the end of the prolonged ban')
    await until(async () => (await lasts('203.0.113.24'))[0] === 7200, 'the end of the ban with another ban time')
    const held = await host.client('get', 'sshd', 'banip', '--with-time')
    expect(held).toContain(`203.0.113.23 \t`)
    expect(held).toMatch(new RegExp(`203\\.0\\.113\\.23 .* \\+ ${(await lasts('203.0.113.23'))[0]} = `))
    expect([await lasts('203.0.113.23'), await lasts('203.0.113.24')].map(all => all.length)).toEqual([1, 1])
    await host.client('set', 'nginx-http-auth', 'bantime', '600')
  },

  'restart and reload of fail2ban are not reported': async (scene: Scene) => {
    await scene.host.attack('203.0.113.15')
    await reported(scene, '203.0.113.15')
    const before = (await scene.server.bans(scene.serverId)).length
    await scene.host.client('reload')
    await scene.host.stopEngine()
    await scene.host.startEngine()
    await until(() => scene.host.bannedInNft('203.0.113.15'), 'the restored ban')
    await online(scene)
    await scene.host.attack('203.0.113.16')
    await reported(scene, '203.0.113.16')
    const now = await scene.server.bans(scene.serverId)
    expect(now).toHaveLength(before + 1)
    expect((await bansOf(scene, '203.0.113.15'))[0]?.unbanned_at).toBeNull()
  },

  'the action is put back after a reload by hand': async (scene: Scene) => {
    // Held while the engine is asked: the agent may be faster than the question.
    const agent = scene.host.agentPid() ?? 0
    expect(agent).toBeGreaterThan(0)
    process.kill(agent, 'SIGSTOP')
    try {
      await scene.host.client('reload')
      expect(await scene.host.client('get', 'sshd', 'actions')).not.toContain('stockade')
    } finally {
      process.kill(agent, 'SIGCONT')
    }
    await until(async () => (await scene.host.client('get', 'sshd', 'actions')).includes('stockade'), 'the action')
    await until(async () => (await scene.host.client('get', 'dbpurgeage')).includes('691200'), 'eight days of history')
  },

  'bans and unbans while the agent is down are told once it is back': async (scene: Scene) => {
    await scene.host.attack('203.0.113.17')
    await reported(scene, '203.0.113.17')
    await scene.host.stopAgent()
    await scene.host.attack('203.0.113.18')
    await until(() => scene.host.bannedInEngine('sshd', '203.0.113.18'), 'the ban')
    await scene.host.client('set', 'sshd', 'unbanip', '203.0.113.17')
    await scene.host.startAgent()
    await reported(scene, '203.0.113.18')
    await ended(scene, '203.0.113.17')
    await online(scene)
    expect(await bansOf(scene, '203.0.113.18')).toHaveLength(1)
    expect(await bansOf(scene, '203.0.113.17')).toHaveLength(1)
  },

  'a ban while the server is down arrives once': async (scene: Scene) => {
    await scene.server.down()
    await scene.host.attack('198.51.100.20')
    await until(() => scene.host.bannedInEngine('sshd', '198.51.100.20'), 'the ban')
    await sleep(3000)
    await scene.server.up()
    await reported(scene, '198.51.100.20')
    await sleep(2000)
    expect(await bansOf(scene, '198.51.100.20')).toHaveLength(1)
  },

  'a storm of 300 bans with the agent killed again and again: none lost, none doubled': async (scene: Scene) => {
    const before = (await scene.server.bans(scene.serverId)).length
    const ips = Array.from({ length: 300 }, (_, i) => `198.18.${Math.floor(i / 250)}.${(i % 250) + 1}`)
    const storm = (async () => {
      for (let i = 0; i < ips.length; i += 20) {
        await Promise.all(ips.slice(i, i + 20).map(ip => scene.host.attack(ip)))
        await sleep(200)
      }
    })()
    for (let kills = 0; kills < 5; kills += 1) {
      await sleep(700 + 300 * kills)
      await scene.host.killAgent()
      await scene.host.startAgent()
    }
    await storm
    await until(async () => (await scene.server.bans(scene.serverId)).length >= before + 300, 'all 300 reports')
    await sleep(3000)
    const bans = (await scene.server.bans(scene.serverId)).filter(ban => ban.ip.startsWith('198.18.'))
    expect(bans).toHaveLength(300)
    expect(new Set(bans.map(ban => ban.ip)).size).toBe(300)
  },

  'a ban by command has its own duration, kept over a restart of the agent': async (scene: Scene) => {
    // The short one may be over before anybody looks for it in the firewall, so that the long one shows what is there.
    const durations = [
      ['203.0.113.30', 7],
      ['203.0.113.31', 7200],
    ] as const
    for (const [ip, duration] of durations)
      expect(await carriedOut(scene, 'ban-ip', { ip, duration })).toMatchObject({ success: true })
    await until(() => scene.host.bannedInNft('203.0.113.31'), 'the ban in the firewall')
    await scene.host.killAgent()
    expect(await scene.host.bannedInNft('203.0.113.31')).toBe(true)
    await scene.host.startAgent()
    for (const [ip, duration] of durations)
      expect(await reported(scene, ip)).toMatchObject({ jail: 'stockade', ban_duration: duration })
    await ended(scene, '203.0.113.30')
    // The server knows the end by the clock, maybe a moment before the host acts on it.
    await until(async () => !(await scene.host.bannedInNft('203.0.113.30')), 'the address to leave the firewall')
    expect(await scene.host.bannedInNft('203.0.113.31')).toBe(true)
    expect(await bansOf(scene, '203.0.113.30')).toHaveLength(1)
    expect(await bansOf(scene, '203.0.113.31')).toMatchObject([{ unbanned_at: null }])
  },

  "a ban by command longer than the jail's goes on, as one ban": async (scene: Scene) => {
    const isBanned = () => scene.host.bannedInEngine('nginx-http-auth', '2001:db8::31')
    const log = join(scene.host.directory, 'log', 'fail2ban.log')
    await scene.host.client('set', 'nginx-http-auth', 'bantime', '2')
    try {
      await carriedOut(scene, 'ban-ip', { jail: 'nginx-http-auth', ip: '2001:db8::31', duration: 12 })
      await reported(scene, '2001:db8::31')
      await ended(scene, '2001:db8::31')
      // fail2ban ends the ban each two seconds; for a moment it is not there, until the agent has renewed it.
      const bans = fs.readFileSync(log, 'utf8').match(/\[nginx-http-auth\] Ban 2001:db8::31$/gm)
      expect(bans?.length).toBeGreaterThan(1)
      await until(async () => !(await isBanned()), 'the end of the ban')
      const rows = await bansOf(scene, '2001:db8::31')
      expect(rows).toHaveLength(1)
      expect(Date.parse(rows[0]?.unbanned_at ?? '') - Date.parse(rows[0]?.banned_at ?? '')).toBeGreaterThan(10_000)
    } finally {
      await scene.host.client('set', 'nginx-http-auth', 'bantime', '600')
    }
  },

  'an order that would cut the host off is refused, with force too': async (scene: Scene) => {
    const ips = ['127.0.0.1', '::1', scene.host.address, scene.host.gateway, '::ffff:127.0.0.1']
    for (const more of [{}, { force: true }]) {
      const ids = await Promise.all(ips.map(ip => scene.server.order(scene.serverId, 'ban-ip', { ip, ...more })))
      for (const [index, ip] of ips.entries())
        expect(await outcomeOf(scene, ids[index] ?? ''), ip).toMatchObject({ success: false })
    }
    expect(await scene.host.client('get', 'stockade', 'banip')).toBe('\n')
  },

  'orders with bad parameters fail with a sentence': async (scene: Scene) => {
    const bad: [string, Record<string, unknown>, RegExp][] = [
      ['ban-ip', { ip: '010.0.0.1' }, /must be an IP address/],
      ['ban-ip', { ip: '203.0.113.1; reboot' }, /must be an IP address/],
      ['ban-ip', { ip: '203.0.113.0/24', jail: 'sshd' }, /cannot ban ranges/],
      ['ban-ip', { ip: '203.0.0.0/15' }, /too wide/],
      ['ban-ip', { ip: '203.0.113.1', jail: '../etc' }, /must be the name of a jail/],
      ['ban-ip', { ip: '203.0.113.1', jail: 'nosuch' }, /not running/],
      ['ban-ip', { ip: '203.0.113.1', duration: 1.5 }, /"duration"/],
      ['jail-enable', { jail: 'nosuch' }, /nosuch/],
      ['jail-enable', { jail: 'squid' }, /log file/],
      ['deploy-template', { template_id: 1, settings: {} }, /came without its template/],
      ['format-disk', {}, /does not know/],
    ]
    const ids = await Promise.all(bad.map(([type, params]) => scene.server.order(scene.serverId, type, params)))
    for (const [index, [type, , says]] of bad.entries()) {
      const outcome = await outcomeOf(scene, ids[index] ?? '')
      expect(outcome.success, type).toBe(false)
      expect(outcome.output).toMatch(says)
    }
  },

  'a jail is disabled and enabled, also for the next start, with its bans': async (scene: Scene) => {
    await scene.host.client('set', 'nginx-http-auth', 'banip', '203.0.113.40')
    await reported(scene, '203.0.113.40')
    expect((await carriedOut(scene, 'jail-disable', { jail: 'nginx-http-auth' })).success).toBe(true)
    await until(async () => !(await scene.host.bannedInNft('203.0.113.40')), 'the end of the ban in the firewall')
    expect(await jailsOf(scene)).not.toContain('nginx-http-auth')
    await scene.host.client('reload')
    expect(await jailsOf(scene)).not.toContain('nginx-http-auth')
    await until(
      async () =>
        (await scene.server.jails(scene.serverId)).some(jail => jail.name === 'nginx-http-auth' && !jail.enabled),
      'the jail as disabled',
    )
    expect((await carriedOut(scene, 'jail-enable', { jail: 'nginx-http-auth' })).success).toBe(true)
    expect(await jailsOf(scene)).toContain('nginx-http-auth')
    await until(() => scene.host.bannedInNft('203.0.113.40'), 'the restored ban')
    expect(await jailsOf(scene)).toContain('sshd')
  },

  'the state of a jail, its reload, a reload of all and a restart': async (scene: Scene) => {
    const status = await carriedOut(scene, 'jail-status', { jail: 'sshd' })
    expect(JSON.parse(status.output)).toMatchObject({
      name: 'sshd',
      enabled: true,
      filter: 'sshd',
      maxretry: 3,
      bantime: 600,
    })
    expect(await carriedOut(scene, 'jail-reload', { jail: 'sshd' })).toMatchObject({
      success: true,
      output: 'sshd is reloaded',
    })
    expect(await carriedOut(scene, 'reload-all')).toMatchObject({ success: true })
    expect(await scene.host.client('get', 'sshd', 'actions')).toContain('stockade')
    expect(await carriedOut(scene, 'service-restart')).toMatchObject({ success: true })
    expect(await jailsOf(scene)).toEqual(expect.arrayContaining(['sshd', 'nginx-http-auth', 'stockade']))
  },

  'a reload of a broken configuration is refused, and every jail stays': async (scene: Scene) => {
    const file = join(scene.host.f2bConfig, 'jail.d', 'broken.local')
    fs.writeFileSync(
      file,
      '[nginx-botsearch]\nenabled = true\nlogpath = /dev/null\nfailregex = ^(<HOST> never closed\n',
    )
    try {
      const outcome = await carriedOut(scene, 'reload-all')
      expect(outcome.success).toBe(false)
      expect(outcome.output).toMatch(/nothing was done[^]*nginx-botsearch: failregex/)
      expect((await carriedOut(scene, 'service-restart')).success).toBe(false)
      expect(await jailsOf(scene)).toEqual(expect.arrayContaining(['sshd', 'nginx-http-auth', 'stockade']))
    } finally {
      fs.rmSync(file)
    }
  },

  'fail2ban stopped and started again is a state, not a crash': async (scene: Scene) => {
    await scene.host.stopEngine()
    await until(async () => (await scene.server.engineVersion(scene.serverId)) === '', 'a heartbeat without an engine')
    expect(await carriedOut(scene, 'ban-ip', { ip: '203.0.113.50', jail: 'sshd' })).toMatchObject({ success: false })
    await scene.host.startEngine()
    await online(scene)
    await scene.host.attack('203.0.113.51')
    await reported(scene, '203.0.113.51')
    expect(scene.host.agentRunning()).toBe(true)
  },
}

async function jailsOf({ host }: Scene): Promise<string[]> {
  const list = /Jail list:\s*(.*)$/m.exec(await host.client('status'))?.[1] ?? ''
  return list.split(',').map(name => name.trim())
}

export function stampedLine(text: string): string {
  const now = new Date()
  const month =
    ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][now.getMonth()] ?? ''
  return `${month} ${String(now.getDate()).padStart(2)} ${now.toTimeString().slice(0, 8)} host sshd[9]: ${text}`
}
