import { describe, expect, it } from 'vitest'
import { ordersOf } from './batch-orders.ts'
import type { Ordered } from './batch-orders.ts'

const on = (id: string, type: Ordered['type'], params: Ordered['params']): Ordered => ({
  type,
  params,
  server: { id, hostname: id },
})

describe('what failed is ordered again', () => {
  it('as one order for all servers where they were asked the same', () => {
    const rows = ['a', 'b', 'a'].map(id => on(id, 'jail-reload', { jail: 'sshd' }))
    expect(ordersOf(rows)).toEqual([{ type: 'jail-reload', server_ids: ['a', 'b'], params: { jail: 'sshd' } }])
  })
  it('as one target each where they were not', () => {
    const rows = [
      on('a', 'unban-ip', { ip: '192.0.2.1', jail: 'sshd' }),
      on('a', 'unban-ip', { ip: '192.0.2.2', jail: '*' }),
    ]
    expect(ordersOf(rows)).toEqual([
      { type: 'unban-ip', targets: rows.map(({ params }) => ({ server_id: 'a', params })) },
    ])
  })
  it('in as many batches as it takes, with none left out', () => {
    const rows = Array.from({ length: 10_001 }, (_, n) => on('a', 'jail-status', { jail: `j${n}` }))
    const made = ordersOf(rows)
    expect(made.map(order => ('targets' in order ? order.targets.length : 0))).toEqual([5000, 5000, 1])
    const jails = made.flatMap(order => ('targets' in order ? order.targets.map(({ params }) => params.jail) : []))
    expect(new Set(jails).size).toBe(10_001)
  })
  it('as a deployment by what was asked, not by what was frozen for it', () => {
    const params = { template_id: 3, template_name: 'sshd', settings: { maxretry: 4 } }
    expect(ordersOf([on('a', 'deploy-template', params), on('b', 'deploy-template', params)])).toEqual([
      { type: 'deploy-template', server_ids: ['a', 'b'], params: { template_id: 3, settings: { maxretry: 4 } } },
    ])
  })
  it('not at all where nothing has', () => expect(ordersOf([])).toEqual([]))
})
