import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, startServer } from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, TestServer } from '../../packages/server/src/testing/index.ts'
import { canMonitor, ownAddress, shippedRules, startMonitoring } from '../engine/monitoring.ts'
import type { Monitoring } from '../engine/monitoring.ts'

/* Prometheus and Alertmanager against a running server. What each damage to a host leads to: `npm run check -- prometheus`. */

describe.runIf(canMonitor)('Prometheus and Alertmanager', () => {
  let server: TestServer
  let host: EnrolledHost
  let key: string
  let monitoring: Monitoring

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

  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_HOST: '0.0.0.0' } })
    const admin = await server.setUp()
    host = await aHost(server, admin.client, 'web-01')
    await beat('protected')
    key = (
      await admin.client.call('POST /keys', { body: { name: 'prometheus', permissions: 'read', scopes: ['metrics'] } })
    ).key
    monitoring = await startMonitoring(server, key)
  })
  afterAll(async () => {
    await monitoring?.stop()
    await server?.close()
  })

  test('promtool accepts the metrics, the rules and what the rules promise', async () => {
    const url = `http://${ownAddress ?? ''}:${server.port}/metrics`
    expect((await fetch(url)).status).toBe(403)
    const text = await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text()
    expect(text).toContain('f2b_jail_failed_total{server="web-01",jail="sshd"} 5\n')
    expect(await monitoring.tool('promtool', ['check', 'metrics'], text)).toBe('')
    await monitoring.tool('promtool', ['check', 'config', 'prometheus.yml'])
    await monitoring.tool('promtool', ['test', 'rules', join(shippedRules, 'stockade-rules.test.yml')])
    await monitoring.tool('amtool', ['check-config', 'alertmanager.yml'])
  })

  test('an unprotected server is told of, and when it is protected again', async () => {
    await beat('unprotected')
    await monitoring.hears('firing', 'StockadeServerUnprotected', 'web-01')
    await monitoring.hears('firing', 'StockadeEngineDown', 'web-01')
    await beat('protected')
    await monitoring.hears('resolved', 'StockadeServerUnprotected', 'web-01')
    // The server itself is scraped all the time.
    expect(monitoring.alerts.map(({ labels }) => labels['alertname'])).not.toContain('StockadeDown')
  })
})
