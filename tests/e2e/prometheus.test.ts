import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, freePort, startServer } from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, TestServer } from '../../packages/server/src/testing/index.ts'
import { loudly } from '../engine/host.ts'

/* Debian's Prometheus and Alertmanager with the files of docs/monitoring, against a running server. */

const run = promisify(execFile)
const bin = fileURLToPath(new URL('../../node_modules/.cache/stockade-monitoring/usr/bin', import.meta.url))
const shipped = fileURLToPath(new URL('../../docs/monitoring', import.meta.url))
const isThere = existsSync(`${bin}/prometheus`) && existsSync(`${bin}/prometheus-alertmanager`)
/** An address of this machine that is not the loopback: from there, the key counts. */
const address = Object.values(networkInterfaces())
  .flat()
  .find(found => found?.family === 'IPv4' && !found.internal)?.address
if (!isThere || address === undefined)
  loudly(`SKIPPED: Prometheus: ${isThere ? 'this machine has no address' : 'prometheus or alertmanager is missing'}`)

interface Notice {
  readonly status: string
  readonly alerts: readonly {
    readonly status: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }[]
}

describe.runIf(isThere && address !== undefined)('Prometheus and Alertmanager', () => {
  let server: TestServer
  let host: EnrolledHost
  let key: string
  let folder: string
  let receiver: Server
  const processes: ChildProcess[] = []
  const notices: Notice[] = []

  const start = (name: string, args: readonly string[]) => {
    // Debian's Alertmanager reads its own templates below /usr/share, so it gets a view of the file system that has them.
    const view =
      'mount -t tmpfs tmpfs /usr/share && mkdir /usr/share/prometheus && cp -r "$0" /usr/share/prometheus && exec "$@"'
    const command = ['-m', 'sh', '-c', view, join(bin, '../share/prometheus/alertmanager'), join(bin, name), ...args]
    const child = spawn('unshare', command, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (data: Buffer) => (said = `${said}${String(data)}`.slice(-4000)))
    child.on('exit', code => {
      if (code !== null && code !== 0) loudly(`${name} ended with ${code}: ${said}`)
    })
    processes.push(child)
  }
  /** A shipped file with some values replaced; each value to replace must occur in it. */
  const write = (name: string, values: Readonly<Record<string, string>>) => {
    let text = readFileSync(join(shipped, name), 'utf8')
    for (const [from, to] of Object.entries(values)) {
      expect(text).toContain(from)
      text = text.replaceAll(from, to)
    }
    writeFileSync(join(folder, name), text)
  }
  const beat = async (level: 'protected' | 'unprotected') => {
    const since = new Date().toISOString()
    const check = { id: 'engine', subject: null, state: 'bad' as const, since, detail: '' }
    await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'web-01',
        jails: [{ name: 'sshd', enabled: true, current_bans: 3, total_banned: 40, current_failed: 2, total_failed: 5 }],
        protection: {
          level,
          since,
          summary: '',
          checks: level === 'protected' ? [] : [check],
          counted: { ok: 0, not_ok: 0, unknown: 0 },
        },
      },
    })
  }
  const hears = (status: string, alertname: string) =>
    expect
      .poll(
        () =>
          notices
            .flatMap(({ alerts }) => alerts)
            .filter(alert => alert.status === status && alert.labels['alertname'] === alertname),
        { timeout: 20_000, interval: 100 },
      )
      .toContainEqual(expect.objectContaining({ labels: expect.objectContaining({ server: 'web-01' }) }))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stockade-prometheus-'))
    server = await startServer({ env: { STOCKADE_HOST: '0.0.0.0' } })
    const admin = await server.setUp()
    host = await aHost(server, admin.client, 'web-01')
    await beat('protected')
    key = (
      await admin.client.call('POST /keys', { body: { name: 'prometheus', permissions: 'read', scopes: ['metrics'] } })
    ).key
    receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (data: Buffer) => (body += String(data)))
      request.on('end', () => {
        notices.push(JSON.parse(body) as Notice)
        response.end()
      })
    })
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    const port = (receiver.address() as { readonly port: number }).port
    const [prometheus, alertmanager] = [await freePort(), await freePort()]
    writeFileSync(join(folder, 'stockade.key'), key)
    write('stockade-rules.yml', {})
    write('prometheus.yml', {
      'scrape_interval: 15s': 'scrape_interval: 1s',
      'evaluation_interval: 15s': 'evaluation_interval: 1s',
      '127.0.0.1:9093': `127.0.0.1:${alertmanager}`,
      'scheme: https': 'scheme: http',
      '/etc/prometheus/stockade.key': 'stockade.key',
      'stockade.example:443': `${address}:${server.port}`,
    })
    write('alertmanager.yml', {
      'group_wait: 5s': 'group_wait: 1s',
      'group_interval: 1m': 'group_interval: 1s',
      'https://chat.example/hooks/stockade': `http://127.0.0.1:${port}/`,
    })
    const listens = (port: number) => `--web.listen-address=127.0.0.1:${port}`
    start('prometheus-alertmanager', [
      '--config.file=alertmanager.yml',
      '--storage.path=alertmanager',
      '--cluster.listen-address=',
      listens(alertmanager),
    ])
    start('prometheus', ['--config.file=prometheus.yml', '--storage.tsdb.path=data', listens(prometheus)])
  })
  afterAll(async () => {
    await Promise.all(
      processes.map(
        child =>
          new Promise(resolve => {
            if (child.exitCode !== null) return resolve(null)
            child.once('exit', resolve)
            child.kill('SIGKILL')
          }),
      ),
    )
    receiver?.close()
    receiver?.closeAllConnections()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('promtool accepts the metrics, the rules and what the rules promise', async () => {
    const url = `http://${address}:${server.port}/metrics`
    expect((await fetch(url)).status).toBe(403)
    const text = await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text()
    expect(text).toContain('f2b_jail_failed_total{server="web-01",jail="sshd"} 5\n')
    const checked = run(`${bin}/promtool`, ['check', 'metrics'])
    checked.child.stdin?.end(text)
    expect(await checked).toEqual({ stdout: '', stderr: '' })
    await run(`${bin}/promtool`, ['check', 'config', 'prometheus.yml'], { cwd: folder })
    await run(`${bin}/promtool`, ['test', 'rules', 'stockade-rules.test.yml'], { cwd: shipped })
    await run(`${bin}/amtool`, ['check-config', 'alertmanager.yml'], { cwd: folder })
  })

  test('an unprotected server is told of, and when it is protected again', async () => {
    await beat('unprotected')
    await hears('firing', 'StockadeServerUnprotected')
    await hears('firing', 'StockadeEngineDown')
    await beat('protected')
    await hears('resolved', 'StockadeServerUnprotected')
    // The server itself is scraped all the time.
    expect(notices.flatMap(({ alerts }) => alerts).map(({ labels }) => labels['alertname'])).not.toContain(
      'StockadeDown',
    )
  })
})
