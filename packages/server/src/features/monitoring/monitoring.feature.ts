import { second } from '../../core/clock.ts'
import type { Sample } from '../../http/exposition.ts'
import type { Reading } from '../../http/metrics.ts'
import type { Core, Feature } from '../feature.ts'
import type { LicenseService } from '../license/license.service.ts'
import type { Registry } from '../servers/registry.ts'
import { createFigures } from './figures.ts'
import type { Figures } from './figures.ts'
import { addHostSeries } from './host-series.ts'

/** Hosts name their agents' versions, so the number of series has a bound. */
const mostVersions = 20
/** Servers by version of their agent; rare versions beyond the bound together. */
const agentsByVersion = (registry: Pick<Registry, 'all'>): Sample[] => {
  const counts = new Map<string, number>()
  for (const { row } of registry.all())
    if (row.agent_version) counts.set(row.agent_version, (counts.get(row.agent_version) ?? 0) + 1)
  const sorted = [...counts].sort(([, one], [, other]) => other - one)
  const others = sorted.slice(mostVersions).reduce((sum, [, count]) => sum + count, 0)
  const samples = sorted.slice(0, mostVersions).map(([version, count]): Sample => [[version], count])
  return others === 0 ? samples : [...samples, [['(other)'], others]]
}

const addFigures = (metrics: Core['metrics'], figures: () => Figures | null) => {
  const gauge = (name: string, help: string, labels: readonly string[], read: (known: Figures) => Reading) =>
    metrics.gauge({ name: `stockade_${name}`, help, labels }, () => {
      const figuresNow = figures()
      return figuresNow && read(figuresNow)
    })
  gauge('commands', 'Commands that are not over, by state', ['status'], ({ commands }) => commands)
  gauge('alerts', 'Alerts that are not over, by severity and state', ['severity', 'state'], ({ alerts }) =>
    alerts.map(({ severity, state, n }): Sample => [[severity, state], Number(n)]),
  )
  gauge('bans_stored', 'Bans in the database', [], ({ bans }) => bans)
  gauge('fleet_bans', 'Fleet bans in force, by what made them', ['source'], ({ fleetBans }) => fleetBans)
  gauge('rules', 'Sharing rules by state', ['state'], ({ rules }) => rules)
  gauge('feed_last_use_timestamp_seconds', 'When a feed was last fetched; 0: never', ['feed'], ({ feeds }) =>
    feeds.map(({ name, used_at }): Sample => [[name], (used_at ?? 0) / second]),
  )
  gauge('queue_length', 'What waits to leave Stockade, by queue', ['queue'], ({ queues }) =>
    [...queues].map(([queue, { waiting }]): Sample => [[queue], waiting]),
  )
  gauge('queue_oldest_timestamp_seconds', 'When the oldest of a queue was added', ['queue'], ({ queues }) =>
    [...queues].flatMap(([queue, { oldest }]): Sample[] => (oldest === null ? [] : [[[queue], oldest / second]])),
  )
  gauge('queue_failing_since_timestamp_seconds', 'Since when deliveries of a queue fail', ['queue'], ({ queues }) =>
    [...queues].flatMap(([queue, { failingSince }]): Sample[] =>
      failingSince === null ? [] : [[[queue], failingSince / second]],
    ),
  )
  gauge('database_ping_seconds', 'Time of an empty query of the storage', [], ({ ping }) => ping)
  gauge('database_size_bytes', 'Size of the database', [], ({ bytes }) => bytes)
  const ends = (at: number | null) => at && at / second
  gauge('license_expiry_timestamp_seconds', 'When the licence ends', [], ({ licenceEnds }) => ends(licenceEnds))
  gauge('certificate_expiry_timestamp_seconds', "When the server's certificate ends", [], ({ certificateEnds }) =>
    ends(certificateEnds),
  )
}

/** Metrics of servers, and of what the whole installation holds. */
export const monitoringFeature = (needs: Core & { registry: Registry; license: LicenseService }): Feature<null> => {
  const { metrics, registry, events, config, log, isStorageError } = needs
  const { figures, readAt, refresh } = createFigures({
    ...needs,
    fail(error) {
      metrics.failed('metrics')
      if (!isStorageError(error)) log.error({ err: error }, "figures of the metrics can't be read")
    },
  })
  metrics.before(refresh)
  metrics.gauge(
    {
      name: 'stockade_figures_timestamp_seconds',
      help: 'When figures of the database were read; scrapes read them again after 10 s',
    },
    () => {
      const at = readAt()
      return at && at / second
    },
  )
  addFigures(metrics, figures)
  metrics.gauge({ name: 'stockade_agents', help: 'Servers by version of their agent', label: 'version' }, () =>
    agentsByVersion(registry),
  )
  metrics.gauge({ name: 'stockade_bans_current', help: 'Addresses that all jails ban now' }, () =>
    registry.all().reduce((sum, { jails }) => sum + jails.reduce((all, jail) => all + jail.current_bans, 0), 0),
  )
  const happened = new Map<string, number>()
  const unsubscribe = events.subscribe(told => {
    for (const { name } of told) happened.set(name, (happened.get(name) ?? 0) + 1)
  })
  metrics.counter({ name: 'stockade_events_total', help: 'Events by name', label: 'event' }, () =>
    Object.fromEntries(happened),
  )
  addHostSeries(metrics, registry, config.metricsJails)
  return { service: null, stop: unsubscribe }
}
