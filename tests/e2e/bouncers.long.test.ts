import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { aHost, startServer, within } from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../packages/server/src/testing/index.ts'
import { describeHosts, loudly } from '../engine/host.ts'

/* CrowdSec's own bouncers, as Debian has them, read a feed in a network namespace of the test. */

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../../node_modules/.cache/stockade-bouncers/usr/bin', import.meta.url))
const program = (name: string): string | null => [join(cache, name), `/usr/bin/${name}`].find(existsSync) ?? null
const programs = { firewall: program('crowdsec-firewall-bouncer'), custom: program('crowdsec-custom-bouncer') }
for (const [name, path] of Object.entries(programs))
  if (path === null) loudly(`SKIPPED: a feed in crowdsec-${name}-bouncer: the program is missing`)

const bad = '198.51.100.7'
const bad6 = '2001:db8:1::5'
const good = '198.51.100.200'
const own = { 4: '203.0.113.1', 6: '2001:db8:ffff::1' } as const

describeHosts('a bouncer', () => {
  let server: TestServer
  let admin: Signed
  let web: EnrolledHost
  let folder: string
  let apiUrl: string
  const id = randomBytes(3).toString('hex')
  const namespace = `skbounce${id}`
  const [outer, inner] = [`skbo${id}`, `skbi${id}`]
  const link = `198.18.${randomInt(256)}`
  const inside = (...command: string[]) => run('ip', ['netns', 'exec', namespace, ...command])
  const children: ChildProcess[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stockade-bouncers-'))
    await run('ip', ['netns', 'add', namespace])
    await run('ip', ['link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', namespace])
    await run('ip', ['addr', 'add', `${link}.1/30`, 'dev', outer])
    await run('ip', ['link', 'set', outer, 'up'])
    await inside('ip', 'addr', 'add', `${link}.2/30`, 'dev', inner)
    for (const name of [inner, 'lo']) await inside('ip', 'link', 'set', name, 'up')
    for (const address of [bad, good, own[4]]) await inside('ip', 'addr', 'add', `${address}/32`, 'dev', 'lo')
    for (const address of [bad6, own[6]]) await inside('ip', 'addr', 'add', `${address}/128`, 'dev', 'lo', 'nodad')
    server = await startServer({ env: { STOCKADE_HOST: '0.0.0.0' } })
    apiUrl = `http://${link}.1:${server.port}/api/v1/crowdsec/`
    admin = await server.setUp()
    web = await aHost(server, admin.client, 'web-01')
    await ban(bad, bad6)
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

  const ban = (...ips: string[]) =>
    web.client.call('POST /bans/batch', { body: { bans: ips.map(ip => ({ ip, jail: 'sshd', ban_duration: 86_400 })) } })
  const unban = (ip: string) => web.client.call('POST /bans/batch', { body: { unbans: [{ ip, jail: 'sshd' }] } })
  const start = (...command: readonly string[]) => {
    const child = spawn('ip', ['netns', 'exec', namespace, ...command], { stdio: 'ignore' })
    children.push(child)
  }
  const tokenOf = async (name: string) => (await admin.client.call('POST /fleet/feeds', { body: { name } })).token
  const common = (token: string) => `api_url: ${apiUrl}
api_key: ${token}
update_frequency: 1s
daemonize: false
log_mode: stdout
log_level: info
prometheus:
  enabled: false
`
  /** The status that a request from an address gets; 0: no answer. */
  const statusFrom = async (source: string): Promise<number> => {
    const target = source.includes(':') ? `[${own[6]}]` : own[4]
    const asked = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', '1', '--interface', source]
    const { stdout } = await inside('curl', ...asked, `http://${target}:8000/`).catch(
      error => error as { stdout: string },
    )
    return Number(stdout)
  }

  test.skipIf(programs.firewall === null)(
    'of the firewall drops the packets of a banned address, and lets them pass after the ban',
    async () => {
      start('python3', '-m', 'http.server', '8000', '--bind', '::', '--directory', folder)
      for (const source of [good, bad, bad6]) await expect.poll(() => statusFrom(source), { message: source }).toBe(200)
      const config = join(folder, 'firewall.yaml')
      writeFileSync(
        config,
        `${common(await tokenOf('firewall'))}mode: nftables
pid_dir: ${folder}
disable_ipv6: false
deny_action: DROP
supported_decisions_types: [ban]
blacklists_ipv4: crowdsec-blacklists
blacklists_ipv6: crowdsec6-blacklists
nftables:
  ipv4: { enabled: true, set-only: false, table: crowdsec, chain: crowdsec-chain }
  ipv6: { enabled: true, set-only: false, table: crowdsec6, chain: crowdsec6-chain }
`,
      )
      start(programs.firewall ?? '', '-c', config)
      // A slow answer looks like none, so the kernel is asked first.
      const isTold = (source: string) =>
        expect.poll(async () => (await inside('nft', 'list', 'ruleset')).stdout, { message: source }).toContain(source)
      for (const source of [bad, bad6]) {
        await isTold(source)
        await expect.poll(() => statusFrom(source), { message: source }).toBe(0)
      }
      await expect.poll(() => statusFrom(good)).toBe(200)
      await unban(bad)
      await expect.poll(() => statusFrom(bad)).toBe(200)
      expect(await statusFrom(bad6)).toBe(0)
      await ban(bad)
      await isTold(bad)
      await expect.poll(() => statusFrom(bad)).toBe(0)
    },
  )

  test.skipIf(programs.custom === null)('of a program of its own is told what begins and what ends', async () => {
    const told = join(folder, 'told')
    const script = join(folder, 'tell')
    writeFileSync(script, `#!/bin/sh\necho "$1 $2" >> ${told}\n`)
    chmodSync(script, 0o755)
    const config = join(folder, 'custom.yaml')
    const token = await tokenOf('custom')
    writeFileSync(config, `${common(token)}bin_path: ${script}\npiddir: ${folder}\ncache_retention_duration: 1s\n`)
    await ban('203.0.113.77')
    start(programs.custom ?? '', '-c', config)
    const lines = () => (existsSync(told) ? readFileSync(told, 'utf8').split('\n') : [])
    await expect.poll(lines).toContain('add 203.0.113.77')
    await unban('203.0.113.77')
    await expect.poll(lines).toContain('del 203.0.113.77')
    expect(lines()).not.toContain(`del ${bad6}`)
  })
})
