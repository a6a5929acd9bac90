import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { LicenseService } from '../license/license.service.ts'
import {
  databaseBytes,
  feedUses,
  openAlerts,
  openCommands,
  queueFigures,
  rulesByState,
  standingFleetBans,
  storedBans,
} from './monitoring.store.ts'

/** Figures are at least so old before they are read again, however many scrape. */
const keptFor = 10 * second
/** A scrape waits so long for figures, and then shows those that it has. */
const waitFor = second / 2

export type Figures = Awaited<ReturnType<typeof readFigures>>
interface Needs {
  readonly db: Database
  readonly config: Pick<Config, 'tls'>
  readonly license: Pick<LicenseService, 'read'>
}
/** Null where none has been fetched yet, too. */
const certificateEnd = async ({ tls }: Needs['config']): Promise<number | null> => {
  if (!tls) return null
  const certificate = await readFile(tls.certFile).catch((error: NodeJS.ErrnoException) => {
    if (tls.acme && error.code === 'ENOENT') return null
    throw error
  })
  return certificate && new X509Certificate(certificate).validToDate.getTime()
}

const readFigures = async ({ db, config, license }: Needs) => {
  const before = performance.now()
  await db.ping()
  const ping = (performance.now() - before) / 1000
  const { read: sql } = db
  const { expires_at } = await license.read()
  return {
    ping,
    bytes: await databaseBytes(db),
    commands: await openCommands(sql),
    alerts: await openAlerts(sql),
    bans: await storedBans(sql),
    fleetBans: await standingFleetBans(sql),
    rules: await rulesByState(sql),
    feeds: await feedUses(sql),
    queues: await queueFigures(sql),
    licenceEnds: expires_at === null ? null : Date.parse(expires_at),
    certificateEnds: await certificateEnd(config),
  }
}

/** The figures of this installation, read by scrapes: nobody pays for them where nobody scrapes. */
export const createFigures = (needs: Needs & { readonly clock: Clock; readonly fail: (error: unknown) => void }) => {
  let figures: Figures | null = null
  let readAt = -Infinity
  let reading: Promise<void> | null = null
  const read = async () => {
    try {
      figures = await readFigures(needs)
      readAt = needs.clock()
    } catch (error) {
      needs.fail(error)
    } finally {
      reading = null
    }
  }
  return {
    figures: () => figures,
    /** When they were read; null: never. */
    readAt: () => (figures === null ? null : readAt),
    async refresh() {
      const age = needs.clock() - readAt
      if (age >= 0 && age < keptFor) return
      reading ??= read()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>(resolve => (timer = setTimeout(resolve, waitFor)))
      await Promise.race([reading, late])
      clearTimeout(timer)
    },
  }
}
