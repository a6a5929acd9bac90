import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import WebSocket from 'ws'
import { guideBlocks } from '../src/testing/guides.ts'
import { aHost, engine, eventually, freePort, freshDatabase, spawnServer, until, within } from '../src/testing/index.ts'
import type { Options } from '../src/testing/index.ts'
import { hasProxy, startProxy } from '../src/testing/proxy.ts'

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders } | 'refused' | 'broken'
/** One request on a connection of its own, as a load balancer checks. */
const ask = (url: string, token?: string): Promise<Answer> =>
  new Promise(resolve => {
    const headers = token ? { authorization: `Bearer ${token}` } : {}
    const agent = new Agent({ keepAlive: true })
    get(url, { agent, headers }, reply => {
      reply.resume()
      reply.on('end', () => {
        agent.destroy()
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers })
      })
    }).on('error', error => resolve((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'broken'))
  })
/** As callers take one: without it they use the processor until the test ends. */
const pause = () => setTimeout(100)
/** A folder and a database, which servers of a test share or come back to. */
const aPlace = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-drain-'))
  const database = await freshDatabase()
  const options = (seconds: number, port?: number): Options => ({
    dataDir,
    ...(port ? { port } : {}),
    ...(database ? { databaseUrl: database.url } : {}),
    env: { STOCKADE_DRAIN_SECONDS: String(seconds) },
  })
  return {
    dataDir,
    options,
    async remove() {
      rmSync(dataDir, { recursive: true, force: true })
      await database?.drop()
    },
  }
}

test('a server that drains says so, goes on answering, and refuses nobody before its time', async () => {
  const place = await aPlace()
  const seconds = 10
  const server = await spawnServer(place.options(seconds))
  try {
    const admin = await server.setUp()
    const host = await aHost(server, admin.client)
    const poll = fetch(`${server.url}/api/v1/servers/${host.id}/commands/pending?wait=50`, {
      headers: { authorization: `Bearer ${host.key}` },
    })
    const feed = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { authorization: `Bearer ${admin.token}` },
    })
    await within(new Promise(resolve => feed.once('open', resolve)), 'the live feed')
    const farewell = new Promise<number>(resolve => feed.once('close', resolve))
    expect(await ask(`${server.url}/api/v1/ready`)).toMatchObject({
      status: 200,
      headers: { connection: 'keep-alive' },
    })

    const readiness: Answer[] = []
    const others: Answer[] = []
    server.terminate()
    const signalledAt = performance.now()
    while (readiness.at(-1) !== 'refused') {
      await pause()
      readiness.push(await ask(`${server.url}/api/v1/ready`))
      if (readiness.at(-1) !== 'refused') others.push(await ask(`${server.url}/api/v1/servers`, admin.token))
    }
    // The wait is at least as long as it was set, however busy this machine is.
    expect(performance.now() - signalledAt).toBeGreaterThanOrEqual(seconds * 1000)
    const states = readiness.map(answer => (typeof answer === 'string' ? answer : answer.status))
    const told = states.indexOf(503)
    expect(told).toBeGreaterThanOrEqual(0)
    expect(states.slice(0, told).every(state => state === 200)).toBe(true)
    // The one before the refused may fall into the moment in which the server closes.
    expect(new Set(states.slice(told, -2))).toEqual(new Set([503]))
    expect(others.slice(told, -1).every(answer => typeof answer === 'object' && answer.status === 200)).toBe(true)
    expect(others.at(told + 1)).toMatchObject({ headers: { connection: 'close' } })

    const ended = await poll
    expect(ended.status).toBe(200)
    expect(ended.headers.get('connection')).toBe('close')
    expect(await ended.json()).toMatchObject({ commands: [] })
    expect(await within(farewell, 'the farewell of the live feed')).toBe(1001)
    expect(await server.exited).toBe(0)
  } finally {
    await server.close()
    await place.remove()
  }
})

test('a second signal ends the draining, and the process ends as ever', async () => {
  const place = await aPlace()
  // Longer than a test may take.
  const server = await spawnServer(place.options(300))
  try {
    server.terminate()
    await eventually(async () => expect(await ask(`${server.url}/api/v1/ready`)).toMatchObject({ status: 503 }))
    server.terminate()
    expect(await server.exited).toBe(0)
  } finally {
    await server.close()
    await place.remove()
  }
})

test('the unit waits for the longest draining and the time-out of closing', () => {
  const unit = readFileSync(fileURLToPath(new URL('../../../packaging/stockade.service', import.meta.url)), 'utf8')
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(300 + 25)
})

test.runIf(engine === 'postgres' && hasProxy())(
  'behind HAProxy two servers are restarted one after the other, and no request fails',
  async () => {
    const place = await aPlace()
    const ports = [await freePort(), await freePort()] as const
    const [settings = ''] = guideBlocks('high-availability', 'ini')
    const seconds = Number(/^STOCKADE_DRAIN_SECONDS=(\d+)$/m.exec(settings)?.[1])
    const start = (port: number) => spawnServer(place.options(seconds, port))
    const first = await start(ports[0])
    const admin = await first.setUp()
    const host = await aHost(first, admin.client)
    const servers = [first, await start(ports[1])]
    const proxyPort = await freePort()
    // As the guide has it, but for https and the addresses.
    const [guide = ''] = guideBlocks('high-availability', 'haproxy')
    const config = guide
      .replace(/bind .*/, `bind 127.0.0.1:${proxyPort}`)
      .replace('192.0.2.11:8420', `127.0.0.1:${ports[0]}`)
      .replace('192.0.2.12:8420', `127.0.0.1:${ports[1]}`)
    expect(config).not.toContain('192.0.2.')
    const proxy = await startProxy(place.dataDir, proxyPort, ports, config)
    const url = `http://127.0.0.1:${proxyPort}`
    try {
      await eventually(async () => expect((await fetch(`${url}/api/v1/ready`)).status).toBe(200))
      let isOver = false
      let succeeded = 0
      const failures: string[] = []
      const request = async (path: string, init: RequestInit) => {
        const outcome = await fetch(url + path, init)
          .then(async reply => ({ isDone: reply.ok, told: `${reply.status} ${await reply.text()}` }))
          .catch((error: Error) => ({ isDone: false, told: error.message }))
        if (outcome.isDone) succeeded++
        else failures.push(`${path}: ${outcome.told}`)
      }
      const callers = Array.from({ length: 4 }, async (_, caller) => {
        for (let n = 0; !isOver; n++) {
          await pause()
          await request('/api/v1/servers', { headers: { authorization: `Bearer ${admin.token}` } })
          await request('/api/v1/bans', {
            method: 'POST',
            headers: { authorization: `Bearer ${host.key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ ip: `10.${caller}.${n >> 8}.${n & 255}`, jail: 'sshd' }),
          })
        }
      })
      for (const [at, port] of ports.entries()) {
        expect(await servers[at]?.stop()).toBe(0)
        servers[at] = await start(port)
        // The proxy uses it again before the next one leaves.
        await eventually(async () =>
          expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toMatch(
            /^stockade_http_requests_total\{endpoint="POST \/bans",status="201"\} [1-9]/m,
          ),
        )
      }
      await until(() => succeeded > 300, 'requests enough to tell')
      isOver = true
      await Promise.all(callers)
      expect(failures).toEqual([])
      expect((await servers[0]?.client(admin.token).call('GET /bans'))?.total).toBeGreaterThan(100)
    } finally {
      await proxy.close()
      for (const server of servers) await server.close()
      await place.remove()
    }
  },
)
