import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { until, within } from '../../packages/server/src/testing/waiting.ts'
import { aRealServer } from '../e2e/real-server.ts'
import type { RealServer } from '../e2e/real-server.ts'
import { stamp } from '../engine/host-config.ts'
import { aHost } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { neighboursOf, sources } from '../engine/neighbours.ts'
import type { Neighbours } from '../engine/neighbours.ts'
import { bansOf, carriedOut, outcomeOf, reported } from '../engine/scenarios.ts'

/*
 * The agent's image beside a fail2ban in a container, both run by runc with the rights and volumes of the compose file, in the network of a test host.
 * Needs root, buildah and runc.
 */

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../', import.meta.url))
const missing = [
  ...(process.getuid?.() === 0 ? [] : ['root']),
  ...['/usr/bin/buildah', '/usr/sbin/runc', '/usr/sbin/nft'].filter(path => !fs.existsSync(path)),
]
if (missing.length > 0) process.stderr.write(`\n!!! SKIPPED: the agent's image: needs ${missing.join(', ')}\n`)

interface Service {
  readonly image: string
  readonly cap_add: readonly string[]
  readonly volumes: readonly string[]
}
const services = (
  parse(fs.readFileSync(join(checkout, 'packaging/oci/compose-crazymax.yaml'), 'utf8')) as {
    services: { fail2ban: Service; 'stockade-agent': Service }
  }
).services
/** What an engine gives every container. */
const usualRights = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_RAW',
  'SETGID',
  'SETUID',
  'SETPCAP',
]
const settings = `[Definition]
dbfile = /data/db/fail2ban.sqlite3
logtarget = /data/fail2ban.log
`
const jails = `[DEFAULT]
banaction = nftables
ignoreip =
usedns = no
[sshd]
enabled = true
backend = polling
logpath = /var/log/auth.log
maxretry = 3
port = 0:65535
`

describe.skipIf(missing.length > 0)("the agent's image, beside a fail2ban in a container", () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'stockade-agent-image-'))
  const storage = ['--root', join(folder, 'store'), '--runroot', join(folder, 'runroot'), '--storage-driver', 'vfs']
  const buildah = async (...args: string[]) => (await run('buildah', [...storage, ...args])).stdout.trim()
  const runcRoot = ['--root', join(folder, 'runc')]
  const volume = (name: string) => join(folder, 'volumes', name)
  const containers = new Map<string, { child: ChildProcess; log: () => string }>()
  let server: RealServer
  let host: Host
  let neighbours: Neighbours
  let serverId = ''
  let token = ''
  let root = ''

  /** The folder of the test that stands for a volume of the compose file. */
  const mountOf = (text: string) => {
    const [source = '', destination = '', mode] = text.split(':')
    const place = volume(source.replace(/^.*\//, ''))
    fs.mkdirSync(place, { recursive: true })
    return { destination, type: 'bind', source: place, options: ['bind', mode === 'ro' ? 'ro' : 'rw'] }
  }
  /** The root of fail2ban's container: programs of this machine, since the agent's image has no more than the agent needs. */
  const engineRoot = (): string => {
    const place = join(folder, 'engine')
    fs.rmSync(place, { recursive: true, force: true })
    for (const name of ['etc', 'var']) fs.mkdirSync(join(place, name), { recursive: true })
    for (const name of ['bin', 'sbin', 'lib', 'lib64']) fs.symlinkSync(`usr/${name}`, join(place, name))
    fs.symlinkSync('/run', join(place, 'var/run'))
    return place
  }
  const ofMachine = ['/usr', '/etc/alternatives'].map(path => ({
    ...{ destination: path, type: 'bind', source: path, options: ['rbind', 'ro'] },
  }))
  const start = async (name: string, service: Service, args: readonly string[], more: Record<string, unknown>) => {
    const bundle = join(folder, name)
    fs.rmSync(bundle, { recursive: true, force: true })
    fs.mkdirSync(bundle)
    await run('runc', ['spec', '--bundle', bundle])
    const spec = JSON.parse(fs.readFileSync(join(bundle, 'config.json'), 'utf8'))
    const rights = (more['rights'] as string[]).map(right => `CAP_${right}`)
    const kinds = ['bounding', 'effective', 'permitted']
    spec.root = { path: name === 'agent' ? root : engineRoot(), readonly: true }
    spec.process = {
      ...spec.process,
      ...{ terminal: false, user: { uid: 0, gid: 0 }, args, cwd: '/', noNewPrivileges: true, rlimits: [] },
      env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...((more['env'] as string[] | undefined) ?? [])],
      capabilities: Object.fromEntries(kinds.map(kind => [kind, rights])),
    }
    const temporary = { type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] }
    spec.mounts.push(
      ...[
        { destination: '/tmp', ...temporary },
        { destination: '/run', ...temporary },
      ],
      ...(name === 'agent' ? [] : ofMachine),
      ...service.volumes.map(mountOf),
    )
    spec.linux.devices = [{ path: '/dev/net/tun', type: 'c', major: 10, minor: 200, fileMode: 0o666, uid: 0, gid: 0 }]
    spec.linux.resources = { devices: [{ allow: true, access: 'rwm' }] }
    spec.linux.namespaces = spec.linux.namespaces
      .filter(({ type }: { type: string }) => type !== 'network')
      .concat({ type: 'network', path: `/run/netns/${host.name}` })
    fs.writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
    let output = ''
    const child = spawn('runc', [...runcRoot, 'run', '--bundle', bundle, `${host.name}-${name}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (output += String(part)))
    containers.set(name, { child, log: () => output })
  }
  const end = async (name: string) => {
    const container = containers.get(name)
    containers.delete(name)
    if (!container) return
    const over = container.child.exitCode === null ? once(container.child, 'exit') : Promise.resolve([])
    await run('runc', [...runcRoot, 'kill', `${host.name}-${name}`, 'KILL']).catch(() => undefined)
    await within(over, `the end of ${name}`, container.log)
    await run('runc', [...runcRoot, 'delete', '--force', `${host.name}-${name}`]).catch(() => undefined)
  }
  const startEngine = () =>
    start('fail2ban', services.fail2ban, ['/usr/bin/python3', '/usr/bin/fail2ban-server', '-f', '-x', 'start'], {
      rights: [...usualRights, ...services.fail2ban.cap_add],
    })
  const startAgent = () =>
    start('agent', services['stockade-agent'], ['/usr/bin/stockade-agent'], {
      rights: services['stockade-agent'].cap_add,
      env: [`STOCKADE_BASE_URL=${server.url(host)}`, `STOCKADE_TOKEN=${token}`, 'STOCKADE_INSECURE_HTTP=yes'],
    })
  const inContainer = async (name: string, ...words: string[]) =>
    (await run('runc', [...runcRoot, 'exec', `${host.name}-${name}`, ...words])).stdout
  const client = (...words: string[]) => inContainer('fail2ban', 'python3', '/usr/bin/fail2ban-client', ...words)
  const attack = (ip: string) => {
    const line = (n: number) =>
      `${stamp()} host sshd[${4000 + n}]: Failed password for root from ${ip} port 4000${n} ssh2\n`
    fs.appendFileSync(join(volume('log'), 'auth.log'), [1, 2, 3].map(line).join(''))
  }
  const scene = () => ({ host, server, serverId })
  const level = async () => (await server.admin().call('GET /servers/{serverId}', { params: { serverId } })).protection
  const watches = () =>
    until(
      async () => /\bstockade\b/.test(await client('get', 'sshd', 'actions').catch(() => '')),
      'the action in the jail',
      () => [...containers].map(([name, { log }]) => `${name}: ${log()}`),
    )

  beforeAll(async () => {
    const release = inject('shipped').folder
    const archive = fs.readdirSync(release).find(name => /^stockade-agent-.*-image-/.test(name)) ?? ''
    await buildah('from', '--name', 'one', `docker-archive:${join(release, archive)}`)
    root = await buildah('mount', 'one')
    server = await aRealServer()
    host = await aHost()
    await host.stopEngine()
    neighbours = await neighboursOf(host)
    ;({ serverId, token } = await server.addServer(host.name))
    fs.cpSync('/etc/fail2ban', volume('etc'), { recursive: true })
    for (const file of fs.readdirSync(join(volume('etc'), 'jail.d'))) fs.rmSync(join(volume('etc'), 'jail.d', file))
    fs.writeFileSync(join(volume('etc'), 'fail2ban.local'), settings)
    fs.writeFileSync(join(volume('etc'), 'jail.local'), jails)
    for (const name of ['log', 'data/db']) fs.mkdirSync(volume(name), { recursive: true })
    fs.writeFileSync(join(volume('log'), 'auth.log'), '')
    await startEngine()
    await startAgent()
    await watches()
  })
  afterAll(async () => {
    await end('agent')
    await end('fail2ban')
    await neighbours?.end()
    await host?.stop()
    await server?.close()
    await buildah('rm', '--all').catch(() => undefined)
    fs.rmSync(folder, { recursive: true, force: true })
  })

  it('is what the compose files name', () => {
    const { version } = JSON.parse(fs.readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }
    expect(services['stockade-agent'].image).toBe(`stockade-agent:${version}`)
  })

  it('reports a ban, which a packet proves, and its end', async () => {
    await until(() => neighbours.reachesHost(sources.bad), 'the attacker before the ban')
    attack(sources.bad)
    expect(await reported(scene(), sources.bad)).toMatchObject({ jail: 'sshd', unbanned_at: null })
    await until(async () => !(await neighbours.reachesHost(sources.bad)), 'the ban in the kernel')
    await until(async () => (await level()).level === 'protected', 'a protected host', level)
    await client('unban', sources.bad)
    await until(async () => (await bansOf(scene(), sources.bad))[0]?.unbanned_at !== null, 'the end of the ban')
  })

  it('carries out commands, or says in words why not', async () => {
    expect(await carriedOut(scene(), 'ban-ip', { ip: sources.other })).toMatchObject({ success: true })
    expect(await neighbours.reachesHost(sources.other)).toBe(false)
    expect(await carriedOut(scene(), 'unban-ip', { ip: sources.other, jail: 'stockade' })).toMatchObject({
      success: true,
    })
    await until(() => neighbours.reachesHost(sources.other), 'the end of the ban')
    expect(await carriedOut(scene(), 'ban-ip', { ip: sources.other, jail: 'sshd' })).toMatchObject({ success: true })
    await until(async () => !(await neighbours.reachesHost(sources.other)), 'the ban of the jail')
    expect(await carriedOut(scene(), 'unban-ip', { ip: sources.other, jail: 'sshd' })).toMatchObject({ success: true })
    expect(await carriedOut(scene(), 'jail-reload', { jail: 'sshd' })).toMatchObject({ success: true })
    await watches()
    const refused = await carriedOut(scene(), 'service-restart')
    expect(refused).toMatchObject({ success: false, output: expect.stringMatching(/container/) })
    const tested = await carriedOut(scene(), 'self-test', { level: 'engine' })
    expect(tested, tested.output).toMatchObject({ success: true })
  })

  it('keeps the whitelist in the jails of the container', async () => {
    await server.admin().call('POST /whitelist', { body: { ip: sources.good, description: 'office' } })
    await until(async () => (await client('get', 'sshd', 'ignoreip')).includes(sources.good), 'the whitelist')
    attack(sources.good)
    attack(sources.bad)
    await until(async () => !(await neighbours.reachesHost(sources.bad)), 'the ban of another address')
    expect(await neighbours.reachesHost(sources.good)).toBe(true)
  })

  it('deploys a template, which bans by its own filter, and takes it away', async () => {
    fs.writeFileSync(join(volume('log'), 'gate.log'), '')
    const params = { templateId: 'gate' }
    const body = {
      name: 'gate',
      jail_config: '[gate]\nport = 0:65535\nbackend = polling\nlogpath = /var/log/gate.log\n',
      filter_config: '[Definition]\nfailregex = ^\\s*gate: knock from <HOST>$\n',
      settings: { maxretry: 2 },
    }
    await server.admin().call('POST /templates', { body })
    const { commands } = await server
      .admin()
      .call('POST /templates/{templateId}/deploy', { params, body: { server_ids: [serverId], settings: {} } })
    const outcome = await outcomeOf(scene(), commands[0]?.command_id ?? '')
    expect(outcome, outcome.output).toMatchObject({ success: true })
    const time = `${stamp()} `
    fs.appendFileSync(join(volume('log'), 'gate.log'), `${time}gate: knock from ${sources.talking}\n`.repeat(2))
    expect(await reported(scene(), sources.talking)).toMatchObject({ jail: 'gate' })
    await until(async () => !(await neighbours.reachesHost(sources.talking)), 'the ban of the template')
    const { command_id } = await server.admin().call('DELETE /templates/{templateId}/servers/{serverId}', {
      params: { ...params, serverId },
    })
    expect(await outcomeOf(scene(), command_id)).toMatchObject({ success: true })
    await until(() => neighbours.reachesHost(sources.talking), 'the end of the template')
  })

  it('goes on after both containers were made anew, and enrols no second time', async () => {
    await end('fail2ban')
    await end('agent')
    await startEngine()
    await startAgent()
    await watches()
    expect((await server.admin().call('GET /servers', { query: {} })).total).toBe(1)
    await until(async () => !(await neighbours.reachesHost(sources.bad)), 'the ban of before')
    attack(sources.other)
    await until(async () => (await bansOf(scene(), sources.other)).some(ban => ban.unbanned_at === null), 'the report')
  })

  it('says what is missing where it is started without an address or a token', async () => {
    const said = run('/usr/sbin/chroot', [root, '/usr/bin/stockade-agent'], { env: {} })
    await expect(said).rejects.toMatchObject({
      stderr: expect.stringContaining('set STOCKADE_BASE_URL and STOCKADE_TOKEN'),
    })
  })
})
