import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { aRealServer } from '../tests/e2e/real-server.ts'
import { aHost, launcherFile, sleep, until } from '../tests/engine/host.ts'
import type { DriverRequest } from '../tests/engine/shield-driver.ts'
import { median, say } from './report.ts'

/*
 * `npm run bench -- click`: milliseconds from a request for a ban, and for its end, to the kernel of a host, while the shield of the host holds a
 * blocklist of 10 to 100,000 entries. A real server and a real agent, on this machine. A program in the host's namespace asks the kernel
 * over netlink, every few milliseconds. Needs root, fail2ban and nft. CLICK_LOG=1 prints the agent's log.
 */

const sizes = [10, 1000, 100_000]
const rounds = 6
const goal = 2000
/** Milliseconds. An agent sends at most 80 requests a minute, and each click makes it send three or four. */
const betweenClicks = 5000
let content = ''
const source = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'text/plain' }).end(content))
const listOf = (count: number): string =>
  `${Array.from({ length: count }, (_, i) => `${20 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.1`).join('\n')}\n`

await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
const server = await aRealServer(() => ({ STOCKADE_HEARTBEAT_INTERVAL: '30', STOCKADE_OFFLINE_AFTER: '90' }))
const host = await aHost()

const script = join(import.meta.dirname, '../tests/engine/shield-driver.ts')
const looking = ['/usr/bin/python3', '-I', launcherFile, process.execPath, script, 'netlink', 'stateless']
const looker = spawn('ip', ['netns', 'exec', host.name, ...looking], { stdio: ['pipe', 'pipe', 'inherit'] })
const answers = createInterface({ input: looker.stdout })[Symbol.asyncIterator]()
const isBanned = async (ip: string): Promise<boolean> => {
  const request: DriverRequest = { find: ip }
  looker.stdin.write(`${JSON.stringify(request)}\n`)
  const { value, done } = await answers.next()
  if (done === true || value.includes('"error"')) throw new Error(`the kernel cannot be asked: ${String(value)}`)
  return !value.includes('null')
}
const untilBanned = async (ip: string, isWanted: boolean): Promise<void> => {
  const deadline = Date.now() + 30_000
  while ((await isBanned(ip)) !== isWanted) {
    if (Date.now() > deadline) throw new Error(`${ip} did not reach the kernel`)
    await sleep(2)
  }
}

try {
  const { serverId, token } = await server.addServer(host.name)
  await host.startAgent({ baseUrl: server.url(host), token, args: ['--verbose'] })
  await until(async () => (await server.engineVersion(serverId)) !== null, 'the first heartbeat')
  content = listOf(1)
  const { id } = await server.admin().call('POST /lists', {
    body: {
      name: 'bench',
      source: { kind: 'url', url: `http://127.0.0.1:${(source.address() as AddressInfo).port}/` },
      target: { all: true },
      max_change: 1,
      allow_private: true,
    },
  })
  await server.admin().call('PATCH /lists/{id}', { params: { id }, body: { mode: 'enforce' } })
  for (const size of sizes) {
    content = listOf(size)
    const startedAt = performance.now()
    await server.admin().call('POST /lists/{id}/refresh', { params: { id }, body: {} })
    const isHeld = async (): Promise<boolean> => {
      const list = await server.admin().call('GET /lists/{id}', { params: { id } })
      return list.entries === size && list.held.applied === 1
    }
    await until(isHeld, `a blocklist of ${size} entries`)
    const held = performance.now() - startedAt
    const times = { ban: [] as number[], unban: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      const ip = `198.51.100.${round + 1}`
      const timed = async (kind: 'ban' | 'unban', type: string): Promise<void> => {
        const clickedAt = performance.now()
        await server.order(serverId, type, type === 'ban-ip' ? { ip } : { ip, jail: '*' })
        await untilBanned(ip, kind === 'ban')
        const ms = performance.now() - clickedAt
        times[kind].push(ms)
        if (ms > goal) say(`slow: ${kind} at ${new Date().toISOString()} took ${ms.toFixed(0)} ms`)
        await sleep(betweenClicks)
      }
      await timed('ban', 'ban-ip')
      await timed('unban', 'unban-ip')
    }
    const text = (kind: 'ban' | 'unban'): string =>
      `${median(times[kind]).toFixed(0).padStart(5)} ms, at most ${Math.max(...times[kind]).toFixed(0)} ms`
    say(
      `${size.toLocaleString('en').padStart(7)} entries, held after ${(held / 1000).toFixed(1)} s: ban ${text('ban')}; unban ${text('unban')}`,
    )
    if (Math.max(...times.ban, ...times.unban) > goal) process.exitCode = 1
  }
} finally {
  if (process.env.CLICK_LOG === '1') say(host.agentLog())
  looker.kill('SIGKILL')
  await host.stop()
  await server.close()
  source.closeAllConnections()
  source.close()
}
