import { hour, second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { LicenseService } from '../license/license.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { createEnrolmentTokens } from './enrolment-tokens.ts'
import type { EnrolmentTokens } from './enrolment-tokens.ts'
import { createMetricsHistory } from './metrics-history.ts'
import { removeHoursOf } from './metrics-history.store.ts'
import { levelOf } from './protection.ts'
import { createRegistry } from './registry.ts'
import type { Registry } from './registry.ts'
import { mountEnrolmentTokens, mountServers } from './servers.routes.ts'
import { createServers } from './servers.service.ts'
import type { ServersService } from './servers.service.ts'
import { createServerTags } from './tags.ts'
import type { ServerTags } from './tags.ts'
import { createTargeting } from './targets.ts'
import type { Targeting } from './targets.ts'

export const serversFeature = async (
  needs: Core & {
    users: UsersService
    keys: KeysService
    license: LicenseService
    baseUrl: () => string
    pin: string | null
  },
): Promise<
  Feature<ServersService> & {
    readonly registry: Registry
    readonly tags: ServerTags
    readonly targeting: Targeting
    readonly enrolment: EnrolmentTokens
  }
> => {
  const { db, clock, metrics, isShared } = needs
  const history = createMetricsHistory(needs)
  const registry = await createRegistry(db, clock, history.note)
  const tags = createServerTags({ ...needs, registry })
  const enrolment = createEnrolmentTokens({ ...needs, registry, tags, admit: needs.license.admit })
  const service = createServers({ ...needs, registry, tags, admit: needs.license.admit })
  service.onRemoval(async (change, serverNo) => {
    history.forget(serverNo)
    await removeHoursOf(change.sql, serverNo)
  })
  metrics.gauge({ name: 'stockade_servers', help: 'Servers by state', label: 'status' }, () => {
    const counts = { online: 0, offline: 0, pending: 0 }
    for (const { row } of registry.all()) counts[row.status]++
    return counts
  })
  metrics.gauge({ name: 'stockade_servers_protection', help: 'Servers by level of protection', label: 'level' }, () => {
    const counts = { protected: 0, degraded: 0, unprotected: 0, unknown: 0 }
    for (const server of registry.all()) counts[levelOf(server)]++
    return counts
  })
  return {
    service,
    registry,
    tags,
    targeting: createTargeting(registry),
    enrolment,
    mount: http => {
      mountServers(http, service, tags, history)
      mountEnrolmentTokens(http, enrolment)
    },
    jobs: [
      {
        name: 'heartbeats',
        every: 5 * second,
        everywhere: true,
        async run() {
          await registry.flush()
          // A request may reach a process that never hears of the host: the running step must be in the storage then.
          await history.flush(isShared)
        },
      },
      { name: 'old metrics', every: hour, run: history.sweep },
      ...(isShared ? [{ name: 'sync', every: 2 * second, everywhere: true, run: registry.sync }] : []),
    ],
    follow: {
      on: ['server.*'],
      reload: events =>
        Promise.all([...new Set(events.flatMap(({ serverNo }) => serverNo ?? []))].map(no => registry.refresh(no))),
    },
    async close() {
      await registry.flush()
      await history.flush(true)
    },
  }
}
