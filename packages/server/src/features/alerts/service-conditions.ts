import { X509Certificate } from 'node:crypto'
import { readFile, statfs } from 'node:fs/promises'
import type { ConditionKind } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import type { Config } from '../../config.ts'
import { day, hour, iso, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { readAcmeState } from '../../http/acme.ts'
import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import { readBackupState } from '../backups/backups.store.ts'
import type { LicenseService } from '../license/license.service.ts'
import { readState as readSiemState } from '../siem/siem.store.ts'
import { stuckChannels } from './alerts.store.ts'
import type { Finding } from './kinds.ts'

/* Conditions of this installation. They change slowly, so they are looked at once a minute. */

const lookEvery = minute
/** A channel or the SIEM that fails for so long is stuck. */
const stuckFor = 5 * minute
const slowPing = second
/** Share of the disk that must be free. */
const freeShare = 0.1
const endsWithin = 14 * day
/** A daily backup that is so old is missing. */
const backupFor = 26 * hour

const one = (title: string, detail: string, subject = 'stockade'): Finding => ({
  subject,
  serverNo: null,
  title,
  detail,
})
const daysUntil = (at: number, now: number) => Math.max(0, Math.ceil((at - now) / day))

type Look = (now: number) => Promise<Finding[]>

const looksOf = (needs: {
  db: Database
  config: Pick<Config, 'dataDir' | 'tls' | 'backups'>
  license: Pick<LicenseService, 'read'>
  moves: Pick<AgentMoves, 'failing'>
}): Partial<Record<ConditionKind, Look>> => {
  const { db, config, license, moves } = needs
  return {
    'notifications-stuck': async now =>
      (await stuckChannels(db.read, now - stuckFor)).map(({ channel, last_error, failing_since }) =>
        one(
          `Messages are not delivered to ${channel.replace(/^channel:/, 'channel ')}`,
          `Since ${iso(failing_since ?? now)}: ${last_error ?? ''}`,
          channel,
        ),
      ),
    'siem-stuck': async now => {
      const { failing_since, last_error } = await readSiemState(db.read)
      return failing_since !== null && failing_since < now - stuckFor
        ? [one('The SIEM takes no events', `Since ${iso(failing_since)}: ${last_error ?? ''}`)]
        : []
    },
    'agent-not-moved': async () =>
      (await moves.failing()).map(({ serverNo, id, hostname, reason }) => ({
        subject: id,
        serverNo,
        title: `${hostname} did not move to the ordered address`,
        detail: reason,
      })),
    'storage-slow': async () => {
      const before = performance.now()
      await db.ping()
      const ms = Math.round(performance.now() - before)
      return ms > slowPing ? [one('The storage is slow', `An empty query took ${ms} ms.`)] : []
    },
    'storage-full': async () => {
      const { blocks, bavail } = await statfs(config.dataDir)
      const percent = blocks > 0 ? Math.floor((bavail / blocks) * 100) : 100
      return percent < freeShare * 100
        ? [one('The disk is nearly full', `${percent} % of the data folder's disk are free.`)]
        : []
    },
    'backup-missing': async now => {
      if (config.backups === null) return []
      const { savedAt, problem } = await readBackupState(db.read)
      if (savedAt > now - backupFor) return []
      return [
        one(
          'There is no recent backup',
          `${savedAt === 0 ? 'None was made yet' : `The last one is of ${iso(savedAt)}`}. ${problem ?? ''}`,
        ),
      ]
    },
    'licence-ending': async now => {
      const { expires_at } = await license.read()
      const at = expires_at === null ? null : Date.parse(expires_at)
      return at !== null && at < now + endsWithin
        ? [one(at <= now ? 'The licence has ended' : `The licence ends in ${daysUntil(at, now)} days`, iso(at))]
        : []
    },
    'certificate-ending': async now => {
      // The server renews a certificate of its own by itself.
      if (!config.tls || config.tls.isOwn) return []
      const { certFile, acme } = config.tls
      const why = acme ? readAcmeState(config.tls).error : null
      const pem = await readFile(certFile).catch((error: NodeJS.ErrnoException) => {
        if (acme && error.code === 'ENOENT') return null
        throw error
      })
      if (pem === null) return why === null ? [] : [one('No certificate could be fetched', why)]
      const { validFromDate, validToDate } = new X509Certificate(pem)
      const at = validToDate.getTime()
      // One that is fetched may live for days only, and is renewed a third of its life before its end.
      const warnsBefore = acme ? Math.min(endsWithin, (at - validFromDate.getTime()) / 4) : endsWithin
      if (at >= now + warnsBefore) return []
      const title = at <= now ? 'The certificate has ended' : `The certificate ends in ${daysUntil(at, now)} days`
      return [one(title, [iso(at), ...(why === null ? [] : [why])].join('. '))]
    },
  }
}

/** What holds now of the installation, by kind; null for a kind that could not be looked at. */
export const createServiceConditions = (needs: Parameters<typeof looksOf>[0] & { clock: Clock }) => {
  const looks = entriesOf(looksOf(needs))
  let lookedAt = -Infinity
  let findingsByKind = new Map<ConditionKind, readonly Finding[] | null>()
  return async (): Promise<ReadonlyMap<ConditionKind, readonly Finding[] | null>> => {
    const now = needs.clock()
    if (now >= lookedAt && now - lookedAt < lookEvery) return findingsByKind
    lookedAt = now
    const next = new Map<ConditionKind, readonly Finding[] | null>()
    // A kind that can't be read keeps the state it has.
    for (const [kind, look] of looks) next.set(kind, await look(now).catch(() => null))
    findingsByKind = next
    return findingsByKind
  }
}
