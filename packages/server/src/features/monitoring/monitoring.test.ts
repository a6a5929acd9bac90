import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, engine, eventually, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let backups: string
beforeAll(async () => {
  backups = mkdtempSync(join(tmpdir(), 'stockade-backups-'))
  // Its metrics are there only where backups are made.
  server = await startServer({ env: { STOCKADE_BACKUP_DIR: backups, STOCKADE_BACKUP_AT: '00:00' } })
  admin = await server.setUp()
})
afterAll(async () => {
  await server?.close()
  rmSync(backups, { recursive: true, force: true })
})

/** As from another machine, with a key. */
const scrape = async (token: string, headers: Record<string, string> = {}) =>
  raw(server, 'GET', '/metrics', { token, headers: { 'x-forwarded-for': '203.0.113.9', ...headers } })

test('servers, jails and the installation, each to whom may see it', async () => {
  const { call } = admin.client
  const [web, db] = [await aHost(server, admin.client, 'web-01'), await aHost(server, admin.client, 'db-01')]
  for (const host of [web, db])
    await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'vm',
        agent_version: '1.2.3',
        jails: [
          { name: 'sshd', enabled: true, current_bans: 3, total_banned: 40, current_failed: 2, total_failed: 500 },
        ],
      },
    })
  const { key } = await call('POST /keys', { body: { name: 'prometheus', scopes: ['metrics'], permissions: 'read' } })
  const { text, headers } = await scrape(key)
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const all = text.split('\n')
  expect(all).toEqual(
    expect.arrayContaining([
      'f2b_up{server="web-01"} 1',
      'f2b_jail_failed_total{server="db-01",jail="sshd"} 500',
      'stockade_agents{version="1.2.3"} 2',
      'stockade_bans_current 6',
      'stockade_commands{status="pending"} 0',
      'stockade_queue_length{queue="siem"} 0',
    ]),
  )
  expect(text).toMatch(/^stockade_database_size_bytes [1-9]/m)
  // Events reach each process soon after their commit.
  await eventually(async () =>
    expect((await scrape(key)).text).toMatch(/^stockade_events_total\{event="server\.create"\} 2$/m),
  )
  expect(text).toContain(`engine="${engine}"} 1\n`)
  // A request's path may hold a token, its route does not.
  await raw(server, 'GET', '/feeds/feed_not-a-real-token')
  const open = await scrape(key, { accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' })
  expect(open.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/)
  expect(open.text.endsWith('# EOF\n')).toBe(true)
  expect(open.text).not.toContain('not-a-real-token')
  // The key is for this alone.
  expect((await raw(server, 'GET', '/api/v1/servers', { token: key })).status).toBe(403)

  const vera = await aUser(server, admin.client, 'vera', 'Viewer', [db.id])
  const seen = (await scrape(vera.token)).text
  expect(seen).toContain('f2b_up{server="db-01"} 1')
  expect(seen).not.toContain('web-01')
})

// Which metrics there are is the same with either engine, but for those of the storage, which none of the files names.
describe.runIf(engine === 'sqlite')('what docs/monitoring ships', () => {
  const shipped = (name: string) =>
    readFileSync(join(import.meta.dirname, '../../../../../docs/monitoring', name), 'utf8')
  const namesIn = (text: string) => [...new Set(text.match(/\b(?:f2b|stockade|nodejs|process)_[a-z0-9_]+/g))]
  const served = async () => {
    const { text } = await raw(server, 'GET', '/metrics')
    return new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    )
  }
  interface Panel {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly datasource?: { readonly uid: string }
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
    readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[]
  }
  interface Board {
    readonly panels: readonly Panel[]
    readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
  }

  test('asks only for metrics that are served', async () => {
    const names = await served()
    const missing = (text: string) => namesIn(text).filter(name => !names.has(name))
    const { panels, templating } = JSON.parse(shipped('stockade-board.json')) as Board
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets)
        expect([title, namesIn(expr).length > 0, missing(expr)]).toEqual([title, true, []])
    expect(templating.list.flatMap(({ definition = '' }) => missing(definition))).toEqual([])
    // A comment may name a file.
    const rules = shipped('stockade-rules.yml').replaceAll(/^\s*#.*$/gm, '')
    const recorded = [...rules.matchAll(/record: (\w+)/g)].map(([, name = '']) => name)
    expect(missing(rules)).toEqual(recorded)
    expect(missing(shipped('stockade-rules.test.yml'))).toEqual(recorded)
    expect(namesIn(rules).length).toBeGreaterThan(10)
  })

  test('has a board whose panels stand beside each other, with a data source that is chosen', () => {
    const { panels, templating } = JSON.parse(shipped('stockade-board.json')) as Board
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const variables = new Set(templating.list.map(({ name }) => name))
    expect([...variables]).toEqual(['datasource', 'job', 'tag', 'server', 'jail'])
    const taken = new Map<string, string>()
    for (const { title, type, datasource, gridPos, targets = [] } of panels) {
      const { x, y, w, h } = gridPos
      expect([title, x + w <= 24]).toEqual([title, true])
      for (let column = x; column < x + w; column++)
        for (let line = y; line < y + h; line++) {
          expect([title, taken.get(`${column},${line}`)]).toEqual([title, undefined])
          taken.set(`${column},${line}`, title)
        }
      if (type === 'row') continue
      for (const { uid } of [datasource ?? { uid: '' }, ...targets.map(target => target.datasource)])
        expect([title, uid]).toEqual([title, '${datasource}'])
      const used = targets.flatMap(({ expr }) => [...expr.matchAll(/\$(?!__)(\w+)/g)].map(([, name = '']) => name))
      expect([title, used.filter(name => !variables.has(name))]).toEqual([title, []])
    }
  })
})
