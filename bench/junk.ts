import { randomUUID } from 'node:crypto'
import { endpoints, bounds } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { aHost, raw, spawnServer } from '@stockade/server/testing'
import type { Signed } from '@stockade/server/testing'
import { measureAnswers } from './junk-answers.ts'
import { watchHealth } from './health.ts'
import { moveTo } from './programs.ts'
import { say } from './report.ts'

/*
 * `npm run bench -- junk`: bodies of junk, as large as each endpoint takes them, and how long the server's event loop stands still
 * meanwhile: the longest answer of `/health`, asked every few milliseconds on connections of its own. What is beyond the goal is sent
 * again, three times in all, and the shortest counts. Hosts also send what is meant, as much as they may, once. `BENCH=short` sends two kinds. Then sources of blocklists answer junk; `-- answers` is that alone.
 */

const goal = 100
const filled = (size: number, head: string, value: string, tail: string) =>
  head + `${value},`.repeat(Math.floor((size - head.length - tail.length) / (value.length + 1)) - 1) + value + tail
const keys = (size: number, per: number) => {
  const objects: string[] = []
  for (let [n, length] = [0, 0]; length < size - 40 * per;) {
    const text = `{${Array.from({ length: per }, () => `"k${++n}":1`).join(',')}}`
    objects.push(text)
    length += text.length + 1
  }
  return objects.join(',')
}
type Kind = (size: number, field: string) => string
const kinds: Readonly<Record<string, Kind>> = {
  objects: (size, field) => filled(size, `{"${field}":[`, '{}', ']}'),
  keys: (size, field) => `{"${field}":[${keys(size - 100, 20)}]}`,
  numbers: (size, field) => filled(size, `{"${field}":[`, '1', ']}'),
  depth: size => '['.repeat(size / 2) + ']'.repeat(size / 2),
  nul: (size, field) => `{"${field}":"${'\\u0000'.repeat(Math.floor(size / 6) - 10)}"}`,
  'unknown fields': size =>
    `{${Array.from({ length: Math.floor(size / 13) }, (_, n) => `"f${n}":0`).join(',')}}`.slice(0, size),
}
/** What no check refuses, as many of it as the contract takes. */
const bansOf = (count: number, fields: object) =>
  Array.from({ length: count }, (_, n) => ({
    event_id: randomUUID(),
    ip: `198.18.${n >> 8}.${n & 255}`,
    jail: 'sshd',
    ...fields,
  }))
const meant: Readonly<Record<string, () => object>> = {
  'PUT /agent/active': () => ({ as_of: new Date().toISOString(), bans: bansOf(bounds.activeBansPerHost, {}) }),
  'POST /bans/batch': () => ({ bans: bansOf(bounds.batch, { ban_duration: 600 }) }),
}
const chosen = Object.entries(kinds).slice(0, process.env.BENCH === 'short' ? 2 : undefined)

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const fieldOf = ({ body }: Endpoint) =>
  Object.keys((body as { properties?: object } | undefined)?.properties ?? {})[0] ?? 'x'
const settle = () => new Promise(resolve => setTimeout(resolve, 30))

const measureBodies = async (
  server: Awaited<ReturnType<typeof spawnServer>>,
  admin: Signed,
  pings: ReturnType<typeof watchHealth>,
): Promise<boolean> => {
  const host = await aHost(server, admin.client, 'junk')
  const rows: { name: string; kind: string; size: number; stall: number; status: number }[] = []
  for (const endpoint of endpoints.filter(({ body }) => body)) {
    const size = endpoint.bodyLimit ?? bounds.body
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      /server|command|job|session|opening/i.test(name) ? (name === 'serverId' ? host.id : randomUUID()) : '1',
    )
    for (const [kind, make] of chosen) {
      const body = make(size, fieldOf(endpoint))
      const token = endpoint.access === 'agent' ? host.key : admin.token
      const row = { name: nameOf(endpoint), kind, size, stall: Infinity, status: 0 }
      // Other programs take time, too: a stall of the server's own comes again.
      for (let tries = 0; tries < 3 && row.stall > goal; tries++) {
        await settle()
        pings.take()
        row.status = (await raw(server, endpoint.method, `/api/v1${path}`, { token, body })).status
        await settle()
        row.stall = Math.min(row.stall, pings.take())
      }
      rows.push(row)
    }
    const take = meant[nameOf(endpoint)]
    if (take) {
      const body = JSON.stringify(take())
      pings.take()
      const { status } = await raw(server, endpoint.method, `/api/v1${path}`, { token: host.key, body })
      await settle()
      rows.push({ name: nameOf(endpoint), kind: 'what is meant', size: body.length, stall: pings.take(), status })
    }
  }
  for (const name of new Set(rows.map(row => row.name))) {
    const [worst] = rows.filter(row => row.name === name).sort((a, b) => b.stall - a.stall)
    if (worst)
      say(
        `${name}: ${worst.stall.toFixed(0)} ms (${worst.kind}, ${(worst.size / 1024).toFixed(0)} KiB, ${worst.status})`,
      )
  }
  const worst = Math.max(...rows.map(({ stall }) => stall))
  const unexpected = rows.filter(({ status }) => status >= 500)
  for (const { name, kind, status } of unexpected) say(`${name} answered ${status} to ${kind}`)
  const isHeld = worst <= goal && unexpected.length === 0
  say(`longest stall: ${worst.toFixed(0)} ms, goal ${goal} ms: ${isHeld ? 'held' : 'MISSED'}`)
  return isHeld
}

const server = await spawnServer()
moveTo('server', server.pid)
moveTo('generator', process.pid)
const pings = watchHealth(server.port)
try {
  const admin = await server.setUp()
  const areHeld = process.argv.includes('answers') || (await measureBodies(server, admin, pings))
  const isHeld = await measureAnswers({ pid: server.pid, admin: admin.client, takeStall: pings.take })
  if (!areHeld || !isHeld) process.exitCode = 1
} finally {
  pings.stop()
  await server.close()
}
