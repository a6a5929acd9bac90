import { Agent, request } from 'node:http'
import { aHost, spawnServer } from '@stockade/server/testing'
import type { EnrolledHost, TestServer } from '@stockade/server/testing'
import { say } from './report.ts'

/*
 * `npm run bench -- fleet-bans`: seconds from a fleet ban to the last acknowledgement, with simulated agents that poll, fetch and
 * acknowledge as the real one does. `BENCH_HOSTS=100` for that many; 100 and 1,000 unless said. Agents and server share this machine.
 */

const sizes = process.env.BENCH_HOSTS ? [Number(process.env.BENCH_HOSTS)] : [100, 1000]
const rounds = 3
const sockets = new Agent({ keepAlive: true, maxSockets: Infinity })

const ask = (server: TestServer, host: EnrolledHost, method: string, path: string, body?: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${host.key}`,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    }
    const sent = request(`${server.url}/api/v1${path}`, { method, agent: sockets, headers }, reply => {
      let answer = ''
      reply.on('data', (chunk: Buffer) => (answer += chunk.toString('utf8')))
      reply.on('end', () => resolve(JSON.parse(answer || '{}')))
    })
    sent.on('error', reject)
    sent.end(text)
  })

interface State {
  readonly version: string
  readonly whitelist: { readonly version: string }
  readonly shield: { readonly bans: { readonly version: number; readonly count: number; readonly digest: string } }
}

/** What the agent does after each answer of its poll. */
const follow = async (
  server: TestServer,
  host: EnrolledHost,
  isOver: () => boolean,
  acked: (version: number) => void,
) => {
  let fleet = 0
  while (!isOver()) {
    const state = (await ask(server, host, 'GET', '/agent/state')) as State
    const { bans } = state.shield
    if (bans.version !== fleet) await ask(server, host, 'GET', `/agent/shield/bans?since=${fleet}`)
    fleet = bans.version
    const known = state.version
    await ask(server, host, 'POST', '/agent/state/ack', {
      version: known,
      whitelist_version: state.whitelist.version,
      shield: { bans: { version: fleet, held: bans.count, digest: bans.digest, refused: [] } },
    })
    acked(fleet)
    for (let next = known; next === known && !isOver();) {
      const path = `/servers/${host.id}/commands/pending?wait=20&state=${encodeURIComponent(known)}`
      next = ((await ask(server, host, 'GET', path)) as { desired_state: { version: string } }).desired_state.version
    }
  }
}

for (const size of sizes) {
  const server = await spawnServer()
  const { client } = await server.setUp()
  const hosts: EnrolledHost[] = []
  for (let index = 0; index < size; index++) hosts.push(await aHost(server, client, `host-${index}`))
  let isOver = false
  const versions = new Map<string, number>()
  const agents = hosts.map(host =>
    follow(
      server,
      host,
      () => isOver,
      version => void versions.set(host.id, version),
    ),
  )
  const all = async (bound: number) => {
    while (versions.size < size || [...versions.values()].some(version => version < bound))
      await new Promise(resolve => setTimeout(resolve, 5))
  }
  await all(0)
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    const { id, updated_at } = await client.call('POST /fleet/bans', {
      body: { entry: `198.51.100.${round + 1}`, target: { all: true } },
    })
    const answered = performance.now() - startedAt
    await all(Date.parse(updated_at))
    const took = performance.now() - startedAt
    say(
      `${size} hosts, ban ${id}: answered after ${Math.round(answered)} ms, last host after ${(took / 1000).toFixed(2)} s`,
    )
  }
  isOver = true
  await server.close()
  await Promise.allSettled(agents)
}
sockets.destroy()
