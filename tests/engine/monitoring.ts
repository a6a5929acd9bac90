import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { freePort } from '../../packages/server/src/testing/index.ts'
import { loudly } from './host.ts'

/* Debian's Prometheus and Alertmanager with the files of docs/monitoring, for a running server. */

const run = promisify(execFile)
const bin = fileURLToPath(new URL('../../node_modules/.cache/stockade-monitoring/usr/bin', import.meta.url))
export const shippedRules = fileURLToPath(new URL('../../docs/monitoring', import.meta.url))
const isThere = existsSync(`${bin}/prometheus`) && existsSync(`${bin}/prometheus-alertmanager`)
/** An address of this machine that is not the loopback: from there, the key counts. */
export const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find(found => found?.family === 'IPv4' && !found.internal)?.address
export const canMonitor = isThere && ownAddress !== undefined
if (!canMonitor)
  loudly(`SKIPPED: Prometheus: ${isThere ? 'this machine has no address' : 'prometheus or alertmanager is missing'}`)

export interface Alert {
  readonly status: string
  readonly labels: Readonly<Record<string, string>>
  /** When the receiver got it, in milliseconds since 1970. */
  readonly heardAt: number
}

export interface Monitoring {
  /** Everything that Alertmanager sent, oldest first. */
  readonly alerts: readonly Alert[]
  /** Waits for a notice about `server` that came after `since`. */
  hears(status: 'firing' | 'resolved', alertname: string, server: string, since?: number): Promise<Alert>
  /** Runs one of Debian's tools, `promtool` or `amtool`, where the files are. */
  tool(name: 'promtool' | 'amtool', args: readonly string[], input?: string): Promise<string>
  stop(): Promise<void>
}

/**
 * Scrapes `server` each second with a key for metrics, and collects what Alertmanager sends.
 * `rules`: what is replaced in the shipped rules.
 */
export const startMonitoring = async (
  server: { readonly port: number },
  key: string,
  rules: Readonly<Record<string, string>> = {},
): Promise<Monitoring> => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-prometheus-'))
  const alerts: Alert[] = []
  const processes: ChildProcess[] = []
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
    let text = readFileSync(join(shippedRules, name), 'utf8')
    for (const [from, to] of Object.entries(values)) {
      expect(text).toContain(from)
      text = text.replaceAll(from, to)
    }
    writeFileSync(join(folder, name), text)
  }

  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += String(data)))
    request.on('end', () => {
      const notice = JSON.parse(body) as { readonly alerts: readonly Omit<Alert, 'heardAt'>[] }
      for (const { status, labels } of notice.alerts) alerts.push({ status, labels, heardAt: Date.now() })
      response.end()
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const port = (receiver.address() as { readonly port: number }).port
  const [prometheus, alertmanager] = [await freePort(), await freePort()]
  writeFileSync(join(folder, 'stockade.key'), key)
  write('stockade-rules.yml', rules)
  write('prometheus.yml', {
    'scrape_interval: 15s': 'scrape_interval: 1s',
    'evaluation_interval: 15s': 'evaluation_interval: 1s',
    '127.0.0.1:9093': `127.0.0.1:${alertmanager}`,
    'scheme: https': 'scheme: http',
    '/etc/prometheus/stockade.key': 'stockade.key',
    'stockade.example:443': `${ownAddress ?? ''}:${server.port}`,
  })
  write('alertmanager.yml', {
    'group_wait: 5s': 'group_wait: 1s',
    'group_interval: 1m': 'group_interval: 1s',
    'https://chat.example/hooks/stockade': `http://127.0.0.1:${port}/`,
  })
  const listens = (own: number) => `--web.listen-address=127.0.0.1:${own}`
  start('prometheus-alertmanager', [
    '--config.file=alertmanager.yml',
    '--storage.path=alertmanager',
    '--cluster.listen-address=',
    listens(alertmanager),
  ])
  start('prometheus', ['--config.file=prometheus.yml', '--storage.tsdb.path=data', listens(prometheus)])

  return {
    alerts,
    async hears(status, alertname, name, since = 0) {
      const isWanted = (alert: Alert) =>
        alert.status === status &&
        alert.labels['alertname'] === alertname &&
        alert.labels['server'] === name &&
        alert.heardAt >= since
      await expect
        .poll(() => alerts.filter(isWanted).length, {
          interval: 100,
          message: `${alertname} ${status}`,
        })
        .toBeGreaterThan(0)
      const found = alerts.find(isWanted)
      if (!found) throw new Error(`${alertname} is gone`)
      return found
    },
    async tool(name, args, input = '') {
      const done = run(`${bin}/${name}`, args, { cwd: folder })
      done.child.stdin?.end(input)
      const { stdout, stderr } = await done
      return stdout + stderr
    },
    async stop() {
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
      receiver.close()
      receiver.closeAllConnections()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
