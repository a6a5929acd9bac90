import { createMetrics } from '../packages/server/src/http/metrics.ts'
import { addHostSeries } from '../packages/server/src/features/monitoring/host-series.ts'
import { silentHost, withReport } from '../packages/server/src/features/servers/host-state.ts'
import type { Server } from '../packages/server/src/features/servers/registry.ts'
import type { ServerRow } from '../packages/server/src/features/servers/servers.store.ts'

/*
 * CPU of a scrape of the series by server and jail. Between two scrapes half of the servers report, as with heartbeats every 30 s and scrapes
 * every 15 s. `npm run bench -- metrics 3000 5`
 */
const [hosts = 3000, jails = 5] = process.argv.slice(2).map(Number)
const names = ['sshd', 'nginx-http-auth', 'recidive', 'postfix-sasl', 'dovecot']

/** @param busy jails that count more with each report */
const server = (no: number, report: number, busy = jails): Server => {
  const row = {
    no,
    id: `01890000-0000-7000-8000-${String(no).padStart(12, '0')}`,
    hostname: `web-${no}.dc1.example`,
    status: 'online',
    tags: '["web"]',
  } as ServerRow
  const state = withReport(silentHost, {
    version: { boot: 'a', number: report },
    receivedAt: Date.now(),
    metrics: null,
    jails: Array.from({ length: jails }, (_, index) => ({
      name: names[index] ?? `jail-${index}`,
      enabled: true,
      current_bans: 10 + index,
      total_banned: 1000 + (index < busy ? report : 0),
      current_failed: 3,
      total_failed: 5000 + (index < busy ? report : 0),
    })),
  })
  const details = { maxretry: 5, bantime: 600, findtime: 600 }
  return { ...state, jails: state.jails.map(jail => ({ ...jail, ...details })), row }
}

const servers = Array.from({ length: hosts }, (_, index) => server(index + 1, 1))
const metrics = createMetrics()
addHostSeries(metrics, { all: () => servers }, hosts * jails)

const scrape = async () => {
  const before = process.cpuUsage()
  const text = await metrics.text({ isOpenMetrics: true, sees: () => true })
  const { user, system } = process.cpuUsage(before)
  return { ms: (user + system) / 1000, bytes: text.length, text }
}
const first = await scrape()
const ms = (value: number | undefined) => `${(value ?? 0).toFixed(1)} ms`
process.stdout.write(
  `${hosts} servers, ${jails} jails each: ${first.text.toString().split('\n').length} lines, ` +
    `${(first.bytes / 1e6).toFixed(1)} MB\nCPU of the first scrape: ${ms(first.ms)}\n`,
)
for (const busy of [1, jails]) {
  const later: number[] = []
  for (let round = 0; round < 30; round++) {
    for (let index = round % 2; index < hosts; index += 2) servers[index] = server(index + 1, round + 2, busy)
    later.push((await scrape()).ms)
  }
  later.sort((one, other) => one - other)
  process.stdout.write(
    `CPU of 30 later ones, ${busy} jails with attempts on each server: median ${ms(later[15])}, most ${ms(later.at(-1))}\n`,
  )
}
metrics.close()
