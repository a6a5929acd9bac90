import { request } from 'node:http'
import { Agent } from 'node:http'
import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { aHost, spawnServer } from '@stockade/server/testing'
import { aHeartbeat } from './bans.ts'
import { moveTo } from './programs.ts'
import { say } from './report.ts'

/*
 * `npm run bench -- flood`: what a flood of unknown credentials, 2,000 a second, does to the heartbeats of an agent that has a
 * valid one. Latencies count from the moment at which a request was due, so that a stall is not hidden by waiting for it.
 */

interface Pace {
  readonly port: number
  readonly perSecond: number
  readonly seconds: number
  readonly token: string | null
}
interface Paced {
  readonly asked: number
  readonly statuses: Record<string, number>
  readonly p50: number
  readonly p99: number
}

/** Sends requests at a steady pace, each when it is due, answered or not. */
const pace = ({ port, perSecond, seconds, token }: Pace): Promise<Paced> =>
  new Promise(resolve => {
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    const latencies: number[] = []
    const statuses: Record<string, number> = {}
    const started = performance.now()
    const total = perSecond * seconds
    let asked = 0
    let answered = 0
    const done = (status: string, due: number) => {
      statuses[status] = (statuses[status] ?? 0) + 1
      latencies.push(performance.now() - due)
      if (++answered < total) return
      clearInterval(timer)
      agent.destroy()
      const sorted = latencies.sort((a, b) => a - b)
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
      resolve({ asked, statuses, p50: at(0.5), p99: at(0.99) })
    }
    const ask = (due: number) => {
      const body = aHeartbeat()
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          agent,
          method: 'POST',
          path: '/api/v1/servers/heartbeat',
          headers: {
            authorization: `Bearer ${token ?? `svc_${randomBytes(16).toString('hex')}`}`,
            'content-type': 'application/json',
            'content-length': body.length,
          },
        },
        reply => {
          reply.resume()
          reply.on('end', () => done(String(reply.statusCode), due))
        },
      )
      sent.on('error', () => done('error', due))
      sent.end(body)
    }
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * perSecond))
      while (asked < due) ask(started + (++asked / perSecond) * 1000)
    }, 2)
  })

const child = process.argv[2]
if (child) process.stdout.write(JSON.stringify(await pace(JSON.parse(child) as Pace)))
else {
  const elsewhere = (input: Pace) =>
    new Promise<Paced>((resolve, reject) => {
      const run = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(input)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let text = ''
      run.stdout.on('data', data => (text += String(data)))
      run.once('exit', code =>
        code === 0 ? resolve(JSON.parse(text) as Paced) : reject(new Error('the generator failed')),
      )
    })
  const server = await spawnServer()
  moveTo('server', server.pid)
  try {
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'flooded')
    const beats: Pace = { port: server.port, perSecond: 100, seconds: 10, token: host.key }
    await elsewhere({ ...beats, seconds: 3 })
    const rounds: { quiet: Paced; flooded: Paced; flood: Paced }[] = []
    for (let round = 0; round < 3; round++) {
      const quiet = await elsewhere(beats)
      const [flood, flooded] = await Promise.all([
        elsewhere({ ...beats, perSecond: 2000, seconds: 11, token: null }),
        new Promise(resolve => setTimeout(resolve, 500)).then(() => elsewhere(beats)),
      ])
      rounds.push({ quiet, flooded, flood })
    }
    const middle = (values: number[]) => values.sort((a, b) => a - b)[1] ?? 0
    const p99 = {
      quiet: middle(rounds.map(({ quiet }) => quiet.p99)),
      flooded: middle(rounds.map(({ flooded }) => flooded.p99)),
    }
    for (const { quiet, flooded, flood } of rounds)
      say(
        `heartbeats p50 ${quiet.p50.toFixed(2)} p99 ${quiet.p99.toFixed(2)} ms; with the flood p50 ${flooded.p50.toFixed(2)} p99 ${flooded.p99.toFixed(2)} ms ${JSON.stringify({ heartbeats: flooded.statuses, flood: flood.statuses })}`,
      )
    say(`p99 of heartbeats with the flood, in times of it without: ${(p99.flooded / p99.quiet).toFixed(2)} (at most 2)`)
  } finally {
    await server.close()
  }
}
