import { day, hour } from '../../core/clock.ts'
import type { AuditChain } from '../audit/chain.ts'
import type { Core, Feature } from '../feature.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { mountForget } from './forget.routes.ts'
import { createForget } from './forget.ts'
import { createRetention } from './retention.service.ts'

export const retentionFeature = (needs: Core & { servers: ServersService; audit: AuditChain }): Feature<null> => {
  const { config, clock, audit } = needs
  const { banRetentionDays: banDays, eventRetentionDays: eventDays } = config
  const retention = createRetention({ ...needs, banDays, eventDays })
  return {
    service: null,
    mount: http => mountForget(http, createForget(needs)),
    jobs: [
      {
        name: 'retention',
        every: hour,
        // The audit chain is cut before the events that it covers go, and a little later in time.
        run: () => audit.cut(clock() - eventDays * day + hour).then(retention.run),
      },
    ],
    stop: retention.close,
  }
}
