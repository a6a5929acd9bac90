import { second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import { createBackups } from './backups.service.ts'
import type { Backups } from './backups.service.ts'
import type { BackupRunner } from './task.ts'

const gauge = (metrics: Core['metrics'], name: string, help: string, read: () => number) =>
  metrics.gauge({ name: `stockade_backup_${name}`, help }, read)

/** Scheduled backups, where the configuration asks for them. */
export const backupsFeature = (needs: Core & { readonly backupRunner: BackupRunner }): Feature<Backups | null> => {
  const { config, metrics, backupRunner: runner } = needs
  if (config.backups === null) return { service: null }
  const service = createBackups({ ...needs, config: config.backups, runner })
  const { state } = service
  const last = 'last_success_timestamp_seconds'
  gauge(metrics, last, 'When the last scheduled backup began; 0: never', () => state().savedAt / second)
  gauge(metrics, 'bytes', 'Size of the last scheduled backup', () => state().bytes ?? 0)
  gauge(metrics, 'duration_seconds', 'How long the last scheduled backup took', () => state().seconds ?? 0)
  const verified = 'verified_timestamp_seconds'
  gauge(
    metrics,
    verified,
    'When a scheduled backup was last restored on trial; 0: never',
    () => state().verifiedAt / second,
  )
  return {
    service,
    jobs: [{ name: 'backups', every: 10 * second, everywhere: true, run: service.turn }],
    stop: runner.stop,
  }
}
