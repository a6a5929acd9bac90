import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnServer } from '@stockade/server/testing'
import type { Load } from './load.ts'
import { applyLoad, coresApart, moveTo, startEcho } from './programs.ts'
import { lineOf, say } from './report.ts'
import { seed } from './seed.ts'

/*
 * `npm run bench -- admission`: what a request costs before its own work begins, CPU of the server in microseconds. Each endpoint is asked
 * without a credential (headers, routing, refusal), with a credential for something that is refused as invalid (credential, budgets, reading and validation
 * as well), and as it should be. Beside it a bare Fastify that answers a body of the same size.
 */

interface Endpoint {
  readonly method: Load['method']
  readonly path: string
  /** One that is refused as invalid, where no body can be. */
  readonly invalidPath?: string
  readonly body: Load['body']
  readonly tokens: readonly string[]
  readonly ok: number
}

const seconds = process.env.BENCH === 'short' ? 1 : 4
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-admission-'))
const cells = (values: readonly string[]) =>
  values.map((value, index) => (index === 0 ? value.padEnd(38) : value.padStart(12))).join('')

try {
  const { dataDir, hostKeys, hostIds, readKey } = await seed(folder, 20, 10_000)
  // Budgets are counted, and too large to be used up.
  const budgets = { STOCKADE_RATE_LIMIT: '1000000', STOCKADE_RATE_LIMIT_SENSITIVE: '1000000' }
  const server = await spawnServer({ dataDir, env: { ...budgets, STOCKADE_LOG_LEVEL: 'fatal' } })
  const echo = await startEcho()
  moveTo('server', server.pid)
  try {
    const timing = { connections: 16, seconds, warmUp: 1, spin: coresApart }
    const cpu = async (
      load: Pick<Load, 'method' | 'body' | 'paths' | 'tokens' | 'expect'>,
      at: { readonly port: number; readonly pid: number } = server,
    ) => {
      const { cpu: microseconds, firstError } = lineOf('', [
        await applyLoad({ ...timing, ...load, port: at.port, pid: at.pid }),
      ])
      if (firstError) say(`    first error: ${firstError.replace(/\s+/g, ' ')}`)
      if (Number.isNaN(microseconds)) process.exitCode = 1
      return microseconds
    }
    const orders = `/api/v1/servers/${hostIds[0] ?? ''}/commands/pending?wait=`
    const endpoints: readonly Endpoint[] = [
      { method: 'POST', path: '/api/v1/bans', body: 'report', tokens: hostKeys, ok: 201 },
      { method: 'POST', path: '/api/v1/servers/heartbeat', body: 'heartbeat', tokens: hostKeys, ok: 200 },
      {
        method: 'GET',
        path: `${orders}0`,
        invalidPath: `${orders}x`,
        body: null,
        tokens: hostKeys.slice(0, 1),
        ok: 200,
      },
      {
        method: 'GET',
        path: '/api/v1/bans',
        invalidPath: '/api/v1/bans?limit=x',
        body: null,
        tokens: [readKey],
        ok: 200,
      },
    ]
    // A server that has just started compiles its hot code.
    for (const { method, body, path, tokens, ok } of endpoints)
      await cpu({ method, body, paths: [path], tokens, expect: ok })
    say(cells(['CPU of the server, us', 'bare echo', 'nobody', 'invalid', 'answered']))
    for (const { method, path, invalidPath = path, body, tokens, ok } of endpoints) {
      const bare = await cpu({ method: 'POST', body: body ?? 'empty', paths: ['/'], tokens: [], expect: 201 }, echo)
      const nobody = await cpu({ method, body, paths: [path], tokens: [], expect: 401 })
      const invalid = body === null ? null : 'empty'
      const refused = await cpu({ method, body: invalid, paths: [invalidPath], tokens, expect: 400 })
      const answered = await cpu({ method, body, paths: [path], tokens, expect: ok })
      const name = `${method} ${path.replace(hostIds[0] ?? '', '{id}').replace('/api/v1', '')}`
      say(cells([name, ...[bare, nobody, refused, answered].map(microseconds => microseconds.toFixed(1))]))
    }
  } finally {
    echo.stop()
    await server.stop()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
