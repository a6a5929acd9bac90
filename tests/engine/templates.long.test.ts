import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { until, type Host } from './host.ts'
import { carriedOut, online, outcomeOf, reported } from './scenarios.ts'
import { onStage, type RecordedScene } from './stage.ts'

/** Templates read logs below /var/log only. */
const logs = fs.mkdtempSync('/var/log/stockade-test-')
const doorLog = join(logs, 'door.log')
fs.writeFileSync(doorLog, '')

const FILTER = '[Definition]\nfailregex = ^ door: knock from <HOST>$\nignoreregex =\n'
const door = (more: object = {}): Record<string, unknown> => ({
  name: 'door',
  jail_config: `[door]\nport = 8080\nbackend = auto\nmaxretry = 2\nlogpath = ${doorLog}\n`,
  filter_config: FILTER,
  required_files: [],
  settings: {},
  ...more,
})

async function deployed(scene: RecordedScene, template: unknown) {
  return carriedOut(scene, 'deploy-template', { template_id: 7, settings: {}, template })
}

function knock(ip: string): void {
  const stamp = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')
  fs.appendFileSync(doorLog, `${stamp} door: knock from ${ip}\n`.repeat(2))
}

async function jailsOf(host: Host): Promise<string[]> {
  const list = /Jail list:\s*(.*)$/m.exec(await host.client('status'))?.[1] ?? ''
  return list.split(',').map(name => name.trim())
}

const files = ({ host }: RecordedScene): string[] =>
  ['jail.d', 'filter.d'].flatMap(folder =>
    fs
      .readdirSync(join(host.f2bConfig, folder))
      .filter(name => name.includes('door') || name.includes('template'))
      .map(name => fs.readFileSync(join(host.f2bConfig, folder, name), 'utf8')),
  )

afterAll(() => fs.rmSync(logs, { recursive: true, force: true }))

onStage('templates on a real fail2ban', [], scene => {
  it('a template is deployed: its jail bans and has the whitelist, and the server hears of it', async () => {
    const { host, server, serverId } = scene()
    server.whitelist(['203.0.113.99', '2001:db8:99::/48'])
    await until(() => server.agreed() !== null, 'the whitelist')
    expect(await deployed(scene(), door({ settings: { bantime: 1800, maxretry: null } }))).toMatchObject({
      success: true,
      output: 'door is deployed and runs: maxretry 2, findtime 600 s, bantime 1800 s',
    })
    expect(await host.client('get', 'door', 'ignoreip')).toMatch(
      /203\.0\.113\.99[^]*2001:db8:99::\/48|2001:db8:99::\/48[^]*203/,
    )
    for (const ip of ['203.0.113.99', '2001:db8:99::9', '203.0.113.1', '2001:db8::1']) knock(ip)
    for (const ip of ['203.0.113.1', '2001:db8::1']) {
      expect(await reported(scene(), ip)).toMatchObject({ jail: 'door', ban_duration: 1800 })
      await until(() => host.bannedInNft(ip), 'the ban in the firewall')
    }
    expect(await host.client('get', 'door', 'banip')).not.toMatch(/:99|\.99/)
    await until(
      () => server.jailDetails(serverId).some(({ name, template }) => name === 'door' && template === 'door'),
      'the jail with its template',
    )
    expect(server.jailDetails(serverId).filter(({ template }) => template !== null)).toHaveLength(1)
  })

  it('bad updates are refused or rolled back: every jail and every ban stays', async () => {
    const { host, server, serverId } = scene()
    const variables = `[DEFAULT]\ntest_logs = ${logs}/gone\napache_error_log = %(test_logs)s/error.log\n  %(test_logs)s/*.err tail\n`
    fs.writeFileSync(join(host.f2bConfig, 'jail.d', 'logs.local'), variables)
    await host.attack('203.0.113.2')
    await reported(scene(), '203.0.113.2')
    const before = files(scene())
    const jails = await jailsOf(host)
    const bad: [Record<string, unknown>, RegExp][] = [
      [{ filter_config: FILTER.replace('<HOST>', '(<HOST>') }, /failregex/],
      [{ filter_config: FILTER.replace('<HOST>', 'nobody') }, /failregex/],
      [
        { filter_config: '[Definition]\nfailregex = ^(?:a|a)+(?:a|a)+(?:a|a)+(?:a|a)+(?:a|a)+(?:a|aa)+x <HOST>$\n' },
        /take the same text in several ways/,
      ],
      [
        { jail_config: `[door]\nlogpath = ${doorLog}\nbackend = auto\nlogencoding = nosuch\n` },
        /all is as before.*nosuch/,
      ],
      [
        { jail_config: `[door]\nlogpath = ${logs}/nosuch.log\nbackend = auto\n` },
        new RegExp(`none of its logs is on this host: ${logs}/nosuch\\.log does not exist\\. Start the program`),
      ],
      [
        {
          jail_config: `[door]\nlogpath = %(apache_error_log)s\n  %(stockade_error_log)s\n  ${logs}/?.log\nbackend = auto\n`,
        },
        new RegExp(
          `this host: ${logs}/gone/error\\.log \\(apache_error_log of this host's fail2ban\\) does not exist, no file matches ${logs}/gone/\\*\\.err \\(apache_error_log .*\\), this host's fail2ban does not define stockade_error_log, no file matches ${logs}/\\?\\.log\\.`,
        ),
      ],
      [{ required_files: ['filter.d/nosuch.conf'] }, /needs filter\.d\/nosuch\.conf/],
      [
        { filter_config: '', jail_config: `[door]\nlogpath = ${doorLog}\nfilter = nosuch\n` },
        /needs the filter nosuch/,
      ],
      [
        { jail_config: `[door]\nlogpath = ${doorLog}\nbackend = auto\naction = noop\n` },
        /must not set the option "action"/,
      ],
      [{ jail_config: `[door]\nlogpath = ${doorLog}\nbackend = systemd\n` }, /reads the journal, but/],
      [{ settings: { logpath: '/etc/shadow' } }, /logpath \/etc\/shadow is not below \/var\/log/],
      [{ name: 'sshd' }, /one section \[sshd\]/],
    ]
    const ids = await Promise.all(
      bad.map(([more]) =>
        server.order(serverId, 'deploy-template', { template_id: 7, settings: {}, template: door(more) }),
      ),
    )
    for (const [index, [, says]] of bad.entries()) {
      const { success, output } = await outcomeOf(scene(), ids[index] ?? '')
      expect({ success, output }).toEqual({ success: false, output: expect.stringMatching(says) as string })
    }
    expect(files(scene())).toEqual(before)
    expect(await jailsOf(host)).toEqual(jails)
    await until(() => host.bannedInNft('203.0.113.2'), 'the ban in the firewall')
    for (const ip of ['203.0.113.1', '2001:db8::1'])
      await until(() => host.bannedInNft(ip), `the restored ban of ${ip}`)
    expect(await host.client('get', 'door', 'bantime')).toBe('1800\n')
    await host.client('reload')
    expect(await jailsOf(host)).toEqual(jails)
    await online(scene())
  })

  it('an update that is good replaces the old one, with its bans', async () => {
    const { host } = scene()
    const { success, output } = await deployed(
      scene(),
      door({ settings: { maxretry: 1, logpath: `${logs}/do*.log ${logs}/no.log` } }),
    )
    expect({ success, output }).toMatchObject({
      success: true,
      output: expect.stringContaining('maxretry 1') as string,
    })
    expect(await host.client('get', 'door', 'logpath')).toContain(doorLog)
    await until(() => host.bannedInNft('203.0.113.1'), 'the restored ban')
  })

  it('a jail that was disabled stays disabled when its template is deployed again, until it is enabled', async () => {
    const { host } = scene()
    expect(await carriedOut(scene(), 'jail-disable', { jail: 'door' })).toMatchObject({ success: true })
    expect(await deployed(scene(), door())).toMatchObject({
      success: true,
      output: expect.stringContaining('stays disabled') as string,
    })
    expect(await deployed(scene(), door({ filter_config: FILTER.replace('<HOST>', '(') }))).toMatchObject({
      success: false,
    })
    expect(await jailsOf(host)).not.toContain('door')
    await host.client('reload')
    expect(await jailsOf(host)).not.toContain('door')
    expect(await carriedOut(scene(), 'jail-enable', { jail: 'door' })).toMatchObject({ success: true })
    expect(await jailsOf(host)).toContain('door')
  })

  it('a template is removed with all its files, also for the next start', async () => {
    const { host, server, serverId } = scene()
    expect(await carriedOut(scene(), 'remove-template', { template_name: 'door' })).toMatchObject({ success: true })
    expect(await jailsOf(host)).toEqual(expect.arrayContaining(['sshd', 'nginx-http-auth', 'stockade']))
    expect(await jailsOf(host)).not.toContain('door')
    expect(files(scene())).toEqual([])
    await until(async () => !(await host.bannedInNft('203.0.113.1')), 'the end of the ban in the firewall')
    await host.stopEngine()
    await host.startEngine()
    expect(await jailsOf(host)).not.toContain('door')
    await online(scene())
    await until(() => server.jailDetails(serverId).every(({ template }) => template === null), 'the report')
    expect(await carriedOut(scene(), 'remove-template', { template_name: 'door' })).toMatchObject({ success: true })
    expect(await carriedOut(scene(), 'remove-template', { template_name: '../../x' })).toMatchObject({ success: false })
  })
})

/** On a host of their own, since an agent keeps to 80 requests a minute. */
onStage('templates over jails of the host', [], scene => {
  it("a template that reads fail2ban's own log reads it where this host keeps it", async () => {
    const { host } = scene()
    const recidive = door({
      name: 'recidive',
      jail_config:
        '[recidive]\nfilter = recidive[_jailname="(?:recidive|stockade)"]\nbackend = auto\nlogpath = /var/log/fail2ban.log\n',
      filter_config: '',
      required_files: ['filter.d/recidive.conf'],
    })
    expect(await deployed(scene(), recidive)).toMatchObject({ success: true })
    expect(await host.client('get', 'recidive', 'logpath')).toContain(join(host.directory, 'log', 'fail2ban.log'))
    expect(await carriedOut(scene(), 'remove-template', { template_name: 'recidive' })).toMatchObject({ success: true })
    expect(await jailsOf(host)).not.toContain('recidive')
  })

  it('over a jail that the host itself enables, and off again: the own one goes on', async () => {
    const { host, server } = scene()
    await host.attack('203.0.113.2')
    await reported(scene(), '203.0.113.2')
    const sshd = door({
      name: 'sshd',
      jail_config: `[sshd]\nfilter = sshd[_daemon="sshd(?:-session)?"]\nport = ssh\nbackend = auto\nlogpath = ${doorLog}\n`,
      filter_config: '',
      required_files: ['filter.d/sshd.conf'],
      settings: { maxretry: 7, findtime: 900, bantime: 1200 },
    })
    expect(await deployed(scene(), sshd)).toMatchObject({
      success: true,
      output: 'sshd is deployed and runs: maxretry 7, findtime 900 s, bantime 1200 s',
    })
    expect(await host.client('get', 'sshd', 'logpath')).toContain(doorLog)
    await until(() => host.bannedInNft('203.0.113.2'), 'the restored ban')
    expect(await carriedOut(scene(), 'remove-template', { template_name: 'sshd' })).toMatchObject({
      success: true,
      output: "sshd is removed; the host's own configuration goes on with the jail",
    })
    expect(await host.client('get', 'sshd', 'maxretry')).toBe('3\n')
    expect(await host.client('get', 'sshd', 'logpath')).toContain(join(host.directory, 'log', 'auth.log'))
    await until(() => host.bannedInNft('203.0.113.2'), 'the restored ban')
    await host.attack('203.0.113.3')
    await reported(scene(), '203.0.113.3')
    expect(server.complaints).toEqual([])
  })
})
