import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JailPreviewResult, SelfTestResult } from '@stockade/contract/command-types/index.ts'
import { until } from '../../packages/server/src/testing/waiting.ts'
import { aContainer } from './containers.ts'
import type { Container } from './containers.ts'
import { stamp } from './host-config.ts'
import { describeHosts } from './host.ts'
import { aRecorder } from './recorder.ts'
import type { Recorder } from './recorder.ts'

/* Commands of the server, for an agent on the host with a map of a fail2ban in a container. The host's Python has none of its classes. */

const filterText = '[Definition]\nfailregex = ^ door: knock from <HOST>$\nignoreregex =\n'
const door = (more: object = {}): Record<string, unknown> => ({
  name: 'door',
  jail_config: '[door]\nport = 8080\nbackend = polling\nmaxretry = 2\nlogpath = /remotelogs/door.log\n',
  filter_config: filterText,
  required_files: [],
  settings: {},
  ...more,
})

describeHosts('commands for a fail2ban in a container', () => {
  let container: Container
  let server: Recorder
  let serverId = ''
  let python = ''

  beforeAll(async () => {
    server = await aRecorder()
    container = await aContainer()
    serverId = (await server.addServer('web-01')).serverId
    python = join(container.directory, 'fail2ban-server')
    // With -S, Python finds no package of the distribution.
    fs.writeFileSync(python, '#!/usr/bin/python3 -S\n')
    fs.mkdirSync(join(container.volume('agent'), 'etc'), { recursive: true })
    fs.writeFileSync(
      join(container.volume('agent'), 'etc/policy.json'),
      JSON.stringify({ version: 1, log_paths: [join(container.volume('log'), '*')] }),
    )
    fs.writeFileSync(join(container.volume('log'), 'door.log'), '')
    await container.startEngine('shared')
    await container.startAgent('host', container.mapped(), ['--f2b-server', python], {
      ...{ base_url: server.url(container), server_id: serverId, api_key: server.key(serverId) },
      insecure_http: true,
    })
    await until(() => isWatched('sshd') && isWatched('stockade'), `the action: ${container.agentLog()}`)
  })
  afterAll(async () => {
    await container.end()
    await server.close()
  })

  const isWatched = (jail: string): boolean => container.client('get', jail, 'actions').includes('stockade')
  const jails = (): string[] =>
    (/Jail list:\s*(.*)$/m.exec(container.client('status'))?.[1] ?? '').split(',').map(name => name.trim())
  const carriedOut = async (type: string, params: Record<string, unknown> = {}) => {
    const id = await server.order(serverId, type, params)
    await until(async () => (await server.outcome(id)) !== null, `the result of ${type}`)
    return server.outcome(id)
  }
  const good = async (type: string, params: Record<string, unknown> = {}): Promise<string> => {
    const outcome = await carriedOut(type, params)
    expect(outcome).toEqual({ success: true, output: expect.any(String) })
    return outcome?.output ?? ''
  }
  const deploy = (template: unknown) => carriedOut('deploy-template', { template_id: 7, settings: {}, template })

  it('bans and lifts in a jail of the container, and reports both', async () => {
    expect(await good('ban-ip', { jail: 'sshd', ip: '203.0.113.21', duration: 300 })).toContain('is banned in sshd')
    expect(container.client('get', 'sshd', 'banned', '203.0.113.21').trim()).toBe('1')
    await until(() => server.rows.some(({ ip }) => ip === '203.0.113.21'), 'the report')
    await good('unban-ip', { jail: 'sshd', ip: '203.0.113.21' })
    await until(() => server.rows.every(({ unbanned_at }) => unbanned_at !== null), 'the end')
  })

  it('says how a jail is, stops it and starts it, also for the next start', async () => {
    expect(JSON.parse(await good('jail-status', { jail: 'sshd' }))).toMatchObject({ filter: 'sshd', maxretry: 3 })
    await good('jail-disable', { jail: 'sshd' })
    expect(jails()).not.toContain('sshd')
    const state = join(container.volume('etc'), 'jail.d/zz-stockade-50-state-sshd.local')
    expect(fs.readFileSync(state, 'utf8')).toContain('enabled = false')
    await good('jail-enable', { jail: 'sshd' })
    expect(jails()).toContain('sshd')
  })

  it("reloads one jail and all of them as the container's own files say, and bans stay", async () => {
    await good('ban-ip', { jail: 'sshd', ip: '203.0.113.22', duration: 300 })
    const settings = join(container.volume('etc'), 'jail.d/of-the-administrator.local')
    fs.writeFileSync(settings, '[sshd]\nmaxretry = 7\n')
    expect(await good('jail-reload', { jail: 'sshd' })).toBe('sshd is reloaded')
    expect(container.client('get', 'sshd', 'maxretry').trim()).toBe('7')
    fs.rmSync(settings)
    expect(await good('reload-all')).toMatch(/all is reloaded; running: .*sshd/)
    expect(container.client('get', 'sshd', 'maxretry').trim()).toBe('3')
    expect(container.client('get', 'sshd', 'banned', '203.0.113.22').trim()).toBe('1')
    expect([isWatched('sshd'), isWatched('stockade')]).toEqual([true, true])
    fs.writeFileSync(settings, '[sshd]\nfailregex = ^(<HOST> never closed\n')
    expect(await carriedOut('reload-all')).toMatchObject({
      success: false,
      output: expect.stringMatching(/nothing was done[^]*sshd: failregex/),
    })
    fs.rmSync(settings)
    expect(await carriedOut('service-restart')).toMatchObject({
      success: false,
      output: expect.stringContaining('restart the container with the program that started it'),
    })
  })

  it('keeps the whitelist in its jails, and in the file for its next start', async () => {
    server.whitelist(['203.0.113.99'])
    await until(() => server.agreed() !== null, `the whitelist: ${container.agentLog()}`)
    expect(container.client('get', 'sshd', 'ignoreip')).toContain('203.0.113.99')
    const file = join(container.volume('etc'), 'jail.d/zz-stockade-70-whitelist.local')
    expect(fs.readFileSync(file, 'utf8')).toContain('203.0.113.99')
    expect(container.report().checks?.filter(({ id }) => id === 'config')).toEqual([])
  })

  it('deploys a template whose log is in a shared folder, refuses a bad one, and removes it', async () => {
    expect(await deploy(door())).toMatchObject({
      success: true,
      output: 'door is deployed and runs: maxretry 2, findtime 600 s, bantime 600 s',
    })
    expect(container.client('get', 'door', 'logpath')).toContain('/remotelogs/door.log')
    const line = `${stamp()} door: knock from 203.0.113.31\n`
    fs.appendFileSync(join(container.volume('log'), 'door.log'), line + line)
    await until(() => server.rows.some(({ jail, ip }) => jail === 'door' && ip === '203.0.113.31'), 'the report')

    const endless = filterText.replace('door: knock', '(?:\\w+\\s?)+ knock')
    expect(await deploy(door({ filter_config: endless }))).toMatchObject({
      success: false,
      output: expect.stringContaining('one line can stop fail2ban'),
    })
    const hidden = door({
      jail_config: String(door()['jail_config']).replace('/remotelogs/door.log', '/var/log/hidden.log'),
    })
    expect(await deploy(hidden)).toMatchObject({
      success: false,
      output: expect.stringContaining('/var/log/hidden.log'),
    })
    expect(jails()).toContain('door')
    expect(await good('remove-template', { template_name: 'door' })).toContain('door is removed')
    expect(jails()).not.toContain('door')
  })

  it('says what a jail would have banned, from the log in the shared folder, and reads no other', async () => {
    const failed = (ip: string): string =>
      `${stamp(-7200)} host sshd[77]: Failed password for invalid user secretname from ${ip} port 40001 ssh2\n`
    fs.appendFileSync(join(container.volume('log'), 'auth.log'), failed('203.0.113.41').repeat(5))
    const output = await good('jail-preview', { jail: 'sshd', maxretry: 4 })
    const { addresses } = JSON.parse(output) as JailPreviewResult
    expect(addresses.map(({ ip, failures }) => [ip, failures])).toEqual([['203.0.113.41', 5]])
    expect(output).not.toContain('secretname')
    expect(await carriedOut('jail-preview', { jail: 'hidden' })).toMatchObject({
      success: false,
      output: expect.stringContaining('lies in the container of fail2ban'),
    })
  })

  it('tests itself with fail2ban: a line, its ban, packets, and the end', async () => {
    const { steps } = JSON.parse(await good('self-test', { level: 'engine' })) as SelfTestResult
    expect(steps.filter(({ ok }) => ok === false)).toEqual([])
    expect(steps.map(({ step }) => step)).toEqual(expect.arrayContaining(['engine-jail', 'engine-ban', 'engine-lift']))
    await until(() => !jails().some(name => /^stockade-(?:probe|helper)$/.test(name)), 'the end of its jails')
  })

  it('finds itself whole without a fail2ban on the host, and leaves nothing when it is removed', async () => {
    const found = container.command('--self-test', '--f2b-server', python)
    expect(found).toContain("ok    fail2ban's Python: fail2ban's own Python, in its container: fail2ban ")
    expect(found).toContain('enabled jails are sound')
    expect(found).not.toMatch(/^(?:FAIL|warn) {2}(?!server)/m)
    await container.stopAgent()
    container.command('clean', '--purge', '--f2b-server', python)
    expect(jails()).toEqual(expect.arrayContaining(['hidden', 'sshd']))
    expect(jails()).not.toContain('stockade')
    const left = fs.readdirSync(container.volume('etc'), { recursive: true, encoding: 'utf8' })
    expect(left.filter(name => name.includes('stockade'))).toEqual([])
  })
})
