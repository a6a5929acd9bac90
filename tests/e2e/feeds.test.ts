import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { aHost, startServer, within } from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../packages/server/src/testing/index.ts'
import { describeHosts, loudly } from '../engine/host.ts'

/*
 * Programs that consume a feed: Debian's nftables, ipset, nginx and HAProxy, each in a network namespace of the test, with requests from
 * a banned address and from another one.
 */

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../../node_modules/.cache/stockade-syslog', import.meta.url))
const program = (name: string): string | null =>
  [`/usr/sbin/${name}`, `/sbin/${name}`, `${cache}/usr/sbin/${name}`, `${cache}/sbin/${name}`].find(existsSync) ?? null
const programs = { nginx: program('nginx'), haproxy: program('haproxy'), ipset: program('ipset') }
for (const [name, path] of Object.entries(programs))
  if (path === null) loudly(`SKIPPED: a feed in ${name}: ${name} is missing`)
/** Libraries of programs that were only unpacked. */
const libraries = [`${cache}/usr/lib`, `${cache}/lib`].flatMap(folder =>
  existsSync(folder) ? [folder, ...readdirSync(folder).map(name => join(folder, name))] : [],
)
const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') }

const bad = '198.51.100.7'
const inRange = '203.0.113.70'
const bad6 = '2001:db8:1::5'
const good = '192.0.2.200'
const own = { 4: '192.0.2.1', 6: '2001:db8:ffff::1' } as const

describeHosts('a feed', () => {
  let server: TestServer
  let admin: Signed
  let web: EnrolledHost
  let token: string
  let folder: string
  const namespace = `skfeed${randomBytes(3).toString('hex')}`
  const inside = (...command: string[]) => run('ip', ['netns', 'exec', namespace, ...command], { env })
  const children: ChildProcess[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stockade-feeds-'))
    await run('ip', ['netns', 'add', namespace])
    await inside('ip', 'link', 'set', 'lo', 'up')
    for (const address of [bad, inRange, good, own[4]]) await inside('ip', 'addr', 'add', `${address}/32`, 'dev', 'lo')
    for (const address of [bad6, own[6]]) await inside('ip', 'addr', 'add', `${address}/128`, 'dev', 'lo', 'nodad')
    server = await startServer()
    admin = await server.setUp()
    web = await aHost(server, admin.client, 'web-01')
    await web.client.call('POST /bans/batch', {
      body: { bans: [bad, bad6].map(ip => ({ ip, jail: 'sshd', ban_duration: 86_400 })) },
    })
    await admin.client.call('POST /fleet/bans', { body: { entry: '203.0.113.64/26', target: { all: true } } })
  })
  // Each test has a feed of its own, since a feed may be read 60 times a minute.
  beforeEach(async context => {
    ;({ token } = await admin.client.call('POST /fleet/feeds', { body: { name: context.task.name } }))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      const ended = new Promise(resolve => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await within(ended, 'the end of the program')
    }
  })
  afterAll(async () => {
    execFileSync('ip', ['netns', 'del', namespace])
    rmSync(folder, { recursive: true, force: true })
    await server.close()
  })

  const fetched = async (query: string): Promise<string> => {
    const reply = await fetch(`${server.url}/api/v1/feeds/${token}?${query}`)
    expect(reply.status).toBe(200)
    return reply.text()
  }
  const saved = async (name: string, query: string): Promise<string> => {
    const path = join(folder, name)
    writeFileSync(path, await fetched(query))
    return path
  }
  const start = (command: readonly string[]) => {
    const child = spawn('ip', ['netns', 'exec', namespace, ...command], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    children.push(child)
    return child
  }
  /** The status that a request from an address gets; 0: no answer. */
  const statusFrom = async (source: string, port: number): Promise<number> => {
    const target = source.includes(':') ? `[${own[6]}]` : own[4]
    const asked = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', '2', '--interface', source]
    const { stdout } = await inside('curl', ...asked, `http://${target}:${port}/`).catch(
      error => error as { stdout: string },
    )
    return Number(stdout)
  }
  const listening = (port: number) => expect.poll(() => statusFrom(good, port)).toBe(200)
  const pages = () => start(['python3', '-m', 'http.server', '8000', '--bind', '::', '--directory', folder])

  test('is a script for nft, which takes a changed one as well', async () => {
    pages()
    await listening(8000)
    const file = await saved('feed.nft', 'format=nft')
    await inside('nft', '-f', file)
    await inside('nft', 'add chain inet stockade-feed input { type filter hook input priority -10; }')
    await inside('nft', 'add rule inet stockade-feed input ip saddr @banned4 drop')
    await inside('nft', 'add rule inet stockade-feed input ip6 saddr @banned6 drop')
    for (const source of [bad, inRange, bad6]) expect([source, await statusFrom(source, 8000)]).toEqual([source, 0])
    await expect.poll(() => statusFrom(good, 8000)).toBe(200)
    await web.client.call('POST /bans/batch', { body: { unbans: [{ ip: bad, jail: 'sshd' }] } })
    await expect.poll(() => fetched('format=plain'), { interval: 1000 }).not.toContain(bad)
    await inside('nft', '-f', await saved('feed.nft', 'format=nft'))
    await expect.poll(() => statusFrom(bad, 8000)).toBe(200)
    expect(await statusFrom(inRange, 8000)).toBe(0)
    await web.client.call('POST /bans/batch', { body: { bans: [{ ip: bad, jail: 'sshd', ban_duration: 86_400 }] } })
    await expect.poll(() => fetched('format=plain'), { interval: 1000 }).toContain(bad)
    await inside('nft', 'delete', 'table', 'inet', 'stockade-feed')
  })

  test.skipIf(programs.ipset === null)('is a file for ipset, which takes it again and again', async () => {
    const ipset = programs.ipset ?? ''
    const file = await saved('feed.ipset', 'format=ipset&set=feed')
    for (let times = 0; times < 2; times++) await inside(ipset, 'restore', '-exist', '-file', file)
    const holds = (set: string, ip: string) =>
      inside(ipset, 'test', set, ip).then(
        () => true,
        () => false,
      )
    expect(await holds('feed4', bad)).toBe(true)
    expect(await holds('feed4', inRange)).toBe(true)
    expect(await holds('feed4', good)).toBe(false)
    expect(await holds('feed6', bad6)).toBe(true)
    expect((await inside(ipset, 'list', '-n')).stdout.trim().split('\n').sort()).toEqual(['feed4', 'feed6'])
  })

  test.skipIf(programs.nginx === null)('is included by nginx', async () => {
    const deny = await saved('deny.conf', 'format=nginx')
    mkdirSync(join(folder, 'page'))
    writeFileSync(join(folder, 'page', 'index.html'), 'hello')
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `user root; daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  server { listen [::]:8001 ipv6only=off; root ${folder}/page; include ${deny}; }
}
`,
    )
    start([programs.nginx ?? '', '-c', config, '-p', folder])
    await listening(8001)
    for (const source of [bad, inRange, bad6])
      await expect.poll(() => statusFrom(source, 8001), { message: source }).toBe(403)
  })

  test.skipIf(programs.haproxy === null)('is a map for HAProxy', async () => {
    const map = await saved('feed.map', 'format=haproxy')
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(
      config,
      `defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend web
  bind :::8002 v4v6
  http-request deny deny_status 403 if { src,map_ip(${map}) -m found }
  http-request return status 200
`,
    )
    start([programs.haproxy ?? '', '-db', '-q', '-f', config])
    await listening(8002)
    for (const source of [bad, inRange, bad6])
      await expect.poll(() => statusFrom(source, 8002), { message: source }).toBe(403)
  })
})
