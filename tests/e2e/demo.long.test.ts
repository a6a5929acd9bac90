import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, freePort } from '@stockade/server/testing'
import { account, startDemo } from '../../demo/demo.ts'
import type { Demo } from '../../demo/demo.ts'

describe('the demo', () => {
  let demo: Demo
  beforeAll(async () => {
    demo = await startDemo({ port: await freePort(), days: 2 })
  })
  afterAll(() => demo?.close())

  test('has twelve servers, and every ban of its history with a place', async () => {
    const { servers } = await demo.admin.call('GET /servers', {})
    expect(servers).toHaveLength(12)
    expect(servers.filter(({ status }) => status === 'pending').map(({ hostname }) => hostname)).toEqual(['edge-01'])
    const { total: bans } = await demo.admin.call('GET /bans', {})
    expect(bans).toBeGreaterThanOrEqual(demo.bans)
    expect(demo.bans).toBeGreaterThan(500)
    const stats = await demo.admin.call('GET /bans/stats', { query: { period: 'week' } })
    expect(stats.bans_by_country.length).toBeGreaterThan(10)
    expect(stats.bans_by_country.map(({ code }) => code)).not.toContain('ZZ')
  })
  test('says that it is one before anybody signs in', async () => {
    const options = (await (await fetch(`${demo.url}/api/v1/auth/options`)).json()) as {
      demo: boolean
      site_name: string
    }
    expect(options).toMatchObject({ demo: true, site_name: 'Stockade demo' })
    expect(account.password.length).toBeGreaterThan(8)
  })
  test('its hosts do what they are told', async () => {
    const serverId = demo.hosts[0]?.id ?? ''
    const ip = '203.0.113.200'
    await demo.admin.call('POST /servers/{serverId}/bans', { params: { serverId }, body: { ip } })
    await eventually(async () => {
      const { active_bans } = await demo.admin.call('GET /bans/lookup/{ip}', { params: { ip } })
      expect(active_bans).toContainEqual(expect.objectContaining({ jail: 'stockade', server_id: serverId }))
    })
    await demo.admin.call('DELETE /servers/{serverId}/bans/{ip}', { params: { serverId, ip } })
    await eventually(async () => {
      const { active_bans } = await demo.admin.call('GET /bans/lookup/{ip}', { params: { ip } })
      expect(active_bans.filter(({ server_id }) => server_id === serverId)).toEqual([])
    })
    await eventually(async () => {
      const { servers } = await demo.admin.call('GET /whitelist/sync-status', {})
      expect(servers.filter(({ sync_status }) => sync_status === 'synced')).toHaveLength(10)
    })
  })
})
