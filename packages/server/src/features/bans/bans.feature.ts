import { hour, minute, second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { GuardBan } from '../whitelist/mirror.feature.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { createAttackers } from './attackers.ts'
import { createBanFilterReader } from './ban-filters.ts'
import { createBanComparison } from './comparison.ts'
import { removeOldBanChanges } from './bans.store.ts'
import { createBanReasons } from './ban-reasons.ts'
import type { BanReasons } from './ban-reasons.ts'
import { createBanColumns } from './columns/columns.ts'
import { wordsOfManualBans } from './manual-reasons.ts'
import { mountBans } from './bans.routes.ts'
import { createBans } from './bans.service.ts'
import type { BansService } from './bans.service.ts'
import { createQuotas } from './quotas.ts'
import type { Quotas } from './quotas.ts'
import { countSearch } from './search.store.ts'
import { createBanStats } from './stats.ts'
import { createTopBans } from './top.ts'

/** Fewer bans are read while the page loads. */
const worthWarmUp = 100_000

export const bansFeature = async (
  needs: Core & {
    servers: ServersService
    registry: Registry
    commands: CommandsService
    ipinfo: IpInfo
    mirror: Mirror
    guardBan: GuardBan
  },
): Promise<
  Feature<BansService> & { readonly quotas: Quotas; readonly reasons: BanReasons; warmUp(): Promise<void> }
> => {
  const { config, metrics, servers, mirror } = needs
  const quotas = await createQuotas({
    ...needs,
    limits: { reports: config.quotaRows, bytes: config.quotaBytes, endless: config.quotaEndless },
    fail(error) {
      if (!needs.isStorageError(error)) needs.log.error({ err: error }, 'recording an exhausted quota failed')
    },
  })
  const { db } = needs
  const reasons = createBanReasons(db.read, wordsOfManualBans(db))
  const filters = createBanFilterReader(db, servers)
  const columns = createBanColumns(
    config.databaseUrl === null ? { file: db.file ?? '' } : { databaseUrl: config.databaseUrl },
    error => needs.log.error({ err: error }, 'bans in columns failed; SQL answers'),
  )
  const service = createBans({
    ...needs,
    filters,
    reasons,
    quotas,
    logLines: config.logLines,
    isListed: ip => mirror.covers(ip) !== null,
    onReported: metrics.bansReported,
    onFirstBan: servers.noteFirstBan,
  })
  /** Somebody will open the dashboard: the list of attackers comes next, and reading a million bans for it takes a second. */
  const warmUp = async () => {
    try {
      const bans = await countSearch(db.read, { servers: 'all' }, filters.contextAt(needs.clock()))
      if (bans >= worthWarmUp) columns.warmUp()
    } catch (error) {
      if (!needs.isStorageError(error)) needs.log.error({ err: error }, 'reading bans ahead failed')
    }
  }
  await warmUp()
  return {
    service,
    quotas,
    reasons,
    warmUp,
    mount: http =>
      mountBans(
        http,
        service,
        createBanStats({ ...needs, columns }),
        createTopBans(needs),
        createAttackers({ ...needs, filters, reasons, columns }),
        createBanComparison({ ...needs, drain: service.drain }),
      ),
    jobs: [
      { name: 'quotas', every: 2 * second, everywhere: true, run: quotas.flush },
      { name: 'bans without an end', every: minute, everywhere: true, run: quotas.recount },
      { name: 'old quotas', every: hour, run: quotas.sweep },
      ...(db.engine === 'postgres'
        ? [{ name: 'old changes of bans', every: hour, run: () => removeOldBanChanges(db.write) }]
        : []),
      { name: 'ban expiry', every: 5 * second, run: service.expire },
      { name: 'sums of bans', every: second, run: service.sumUp },
    ],
    async close() {
      await service.drain()
      await columns.close()
      await quotas.flush()
    },
  }
}
