import { expect, test } from 'vitest'
import { createMetrics } from '../../http/metrics.ts'
import { silentHost, withReport } from '../servers/host-state.ts'
import type { Server } from '../servers/registry.ts'
import type { ServerRow } from '../servers/servers.store.ts'
import { addHostSeries } from './host-series.ts'
import { jsonText } from '../../core/json-text.ts'

const server = (no: number, hostname: string, jails: readonly string[], tags: readonly string[] = []): Server => ({
  ...withReport(silentHost, {
    version: { boot: 'a', number: 1 },
    receivedAt: 1_700_000_000_000,
    metrics: null,
    jails: jails.map(name => ({ name, enabled: true, current_bans: no, total_banned: 10 * no, total_failed: null })),
  }),
  row: {
    no,
    id: `01890000-0000-7000-8000-${String(no).padStart(12, '0')}`,
    hostname,
    status: 'online',
    tags: JSON.stringify(tags),
  } as ServerRow,
})
const open = (servers: readonly Server[], most: number) => {
  const metrics = createMetrics()
  addHostSeries(metrics, { all: () => servers }, most)
  const lines = async (family: string, sees: (no: number) => boolean = () => true) => {
    const text = String(await metrics.text({ isOpenMetrics: false, sees }))
    return text.split('\n').filter(line => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
  }
  return { metrics, lines }
}

test('hosts of one name and text of an attacker make series of their own', async () => {
  const { lines } = open(
    [
      server(1, 'vm', ['a"} 1\nf2b_up{server="x']),
      server(2, 'vm', ['sshd'], ['web', 'db']),
      server(3, 'vm/000000000002', ['sshd']),
    ],
    10,
  )
  expect(await lines('f2b_jail_banned_current')).toEqual([
    String.raw`f2b_jail_banned_current{server="vm",jail="a\"} 1\nf2b_up{server=\"x"} 1`,
    'f2b_jail_banned_current{server="vm/000000000002",jail="sshd"} 2',
    'f2b_jail_banned_current{server="vm/000000000002/000000000003",jail="sshd"} 3',
  ])
  expect(await lines('stockade_server_tag')).toEqual([
    'stockade_server_tag{server="vm",tag=""} 1',
    'stockade_server_tag{server="vm/000000000002",tag="web"} 1',
    'stockade_server_tag{server="vm/000000000002",tag="db"} 1',
    'stockade_server_tag{server="vm/000000000002/000000000003",tag=""} 1',
  ])
  expect(await lines('f2b_jail_failed_total')).toEqual([])
})

test('beyond the limit stands one sum, and sums over all series stay right', async () => {
  const servers = [server(3, 'c', ['sshd']), server(1, 'a', ['sshd', 'nginx']), server(2, 'b', ['sshd', 'nginx'])]
  const { lines } = open(servers, 3)
  expect(await lines('f2b_jail_banned_total')).toEqual([
    'f2b_jail_banned_total{server="a",jail="sshd"} 10',
    'f2b_jail_banned_total{server="a",jail="nginx"} 10',
    'f2b_jail_banned_total{server="c",jail="sshd"} 30',
    'f2b_jail_banned_total{server="(other)",jail="(other)"} 40',
  ])
  expect(await lines('stockade_metrics_jails_left_out')).toEqual(['stockade_metrics_jails_left_out 2'])
  expect(await lines('stockade_server_jails', no => no === 2)).toEqual(['stockade_server_jails{server="b"} 2'])
  expect(await open(servers, 0).lines('f2b_up')).toEqual([])
})

test('a later report changes the lines in place', async () => {
  const servers = [server(1, 'a', ['sshd'], ['web'])]
  const { lines } = open(servers, 9)
  expect(await lines('f2b_jail_banned_current')).toEqual(['f2b_jail_banned_current{server="a",jail="sshd"} 1'])
  const [known] = servers.splice(0, 1)
  const report = { version: { boot: 'a', number: 2 }, receivedAt: 1_700_000_030_000, metrics: null }
  if (known)
    servers.push({
      ...withReport(known, { ...report, jails: [{ name: 'sshd', enabled: true, current_bans: 7, total_failed: 3 }] }),
      row: { ...known.row, tags: jsonText([]), status: 'offline' },
    })
  expect(await lines('f2b_jail_banned_current')).toEqual(['f2b_jail_banned_current{server="a",jail="sshd"} 7'])
  expect(await lines('f2b_jail_failed_total')).toEqual(['f2b_jail_failed_total{server="a",jail="sshd"} 3'])
  // The agent of this report does not know the number any more.
  expect(await lines('f2b_jail_banned_total')).toEqual([])
  expect(await lines('f2b_up')).toEqual(['f2b_up{server="a"} 0'])
  expect(await lines('stockade_server_tag')).toEqual(['stockade_server_tag{server="a",tag=""} 1'])
})

test('OpenMetrics names families of counters without their suffix, and ends', async () => {
  const { metrics } = open([server(1, 'a', ['sshd'])], 9)
  metrics.observe('GET /servers/{serverId}', 200, 0.002)
  metrics.observe('GET /servers/{serverId}', 404, 7)
  const text = String(await metrics.text({ isOpenMetrics: true, sees: () => true }))
  expect(text).toContain('# TYPE f2b_jail_banned counter\nf2b_jail_banned_total{server="a",jail="sshd"} 10\n')
  expect(text).toContain('_bucket{endpoint="GET /servers/{serverId}",code="2xx",le="0.005"} 1\n')
  expect(text).toContain('_bucket{endpoint="GET /servers/{serverId}",code="4xx",le="5.0"} 0\n')
  expect(text).toContain('_bucket{endpoint="GET /servers/{serverId}",code="4xx",le="+Inf"} 1\n')
  expect(text.endsWith('# EOF\n')).toBe(true)
  metrics.close()
})
