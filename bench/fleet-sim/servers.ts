import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { spawnServer, startPostgres } from '@stockade/server/testing'
import type { Signed, SpawnedServer } from '@stockade/server/testing'
import type { Enrolment } from './sim-host.ts'

/** One server process on SQLite, or two on one PostgreSQL. */
export interface Service {
  admin(): Signed['client']
  urlFor(index: number): string
  /** Kills one process and starts it again on the same port. */
  restart(): Promise<void>
  /** Of all processes together, megabytes: now, and at most. */
  memory(): { readonly now: number; readonly most: number }
  enrol(hostname: string): Promise<Enrolment>
  signIn(): Promise<void>
  close(): Promise<void>
}

const quiet = { STOCKADE_LOG_LEVEL: process.env.STOCKADE_TEST_LOG ?? 'error', STOCKADE_HEARTBEAT_INTERVAL: '10' }

export const startService = async (hasPostgres: boolean): Promise<Service> => {
  const postgres = hasPostgres ? await startPostgres() : null
  const shared = postgres ? { databaseUrl: postgres.url } : {}
  const first = await spawnServer({ ...shared, env: quiet })
  const processes: SpawnedServer[] = [first]
  let signed = await first.setUp()
  if (postgres) processes.push(await spawnServer({ ...shared, env: { ...quiet, STOCKADE_BASE_URL: `${first.url}/` } }))
  let asked = 0
  let restarted = 0
  /** Requests of administrators go to each process in turn. */
  const next = (): SpawnedServer => processes[asked++ % processes.length] ?? first
  const status = (name: string): number =>
    processes.reduce((sum, { pid }) => {
      const found = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      return sum + Number(found) / 1024
    }, 0)
  return {
    admin: () => next().client(signed.token),
    urlFor: index => (processes[index % processes.length] ?? first).url,
    async restart() {
      const at = restarted++ % processes.length
      const old = processes[at]
      if (!old) return
      await old.kill()
      const { port, dataDir } = old
      processes[at] = await spawnServer({ ...shared, port, dataDir, env: quiet })
      signed = await (processes[at] ?? first).signIn()
    },
    memory: () => ({ now: status('VmRSS'), most: status('VmHWM') }),
    async enrol(hostname) {
      const server = next()
      const made = await server.client(signed.token).call('POST /servers', { body: { hostname } })
      const agentId = randomUUID()
      const token = made.install_command.split(' ').at(-1) ?? ''
      const { api_key } = await server
        .client()
        .call('POST /agent/enroll', { body: { token, hostname, agent_id: agentId } })
      return { id: made.id, key: api_key, agentId }
    },
    async signIn() {
      signed = await next().signIn()
    },
    async close() {
      for (const server of processes) await server.close()
      await postgres?.stop()
    },
  }
}

/** Where blocklists come from: a text for each path. */
export const startSource = async () => {
  const texts = new Map<string, string>()
  const server = createServer((request, reply) => {
    const text = texts.get(request.url ?? '')
    reply.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    texts,
    urlOf: (path: string) => `${base}${path}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
export type Source = Awaited<ReturnType<typeof startSource>>
