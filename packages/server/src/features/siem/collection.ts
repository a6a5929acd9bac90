import type { FastifyBaseLogger } from 'fastify'
import { allSiemTypes } from '@stockade/contract'
import type { SiemType } from '@stockade/contract'
import type { Clock } from '../../core/clock.ts'
import { createSerial } from '../../core/serial.ts'
import type { Database } from '../../db/database.ts'
import type { Reader } from '../../events/reader.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { siemTypeOf } from './canonical.ts'
import { addCounts, addWaiting, dropOldest, readState, saveState } from './siem.store.ts'

/** Takes over what the stream of events brings into the queue. Resolves after a run that began after the call. */
export const createCollection = (needs: {
  db: Database
  clock: Clock
  settings: Pick<SettingsService, 'get'>
  /** Whether a licence covers forwarding now. */
  licensed: () => boolean
  leads: Jobs['leads']
  reader: Reader
  log: Pick<FastifyBaseLogger, 'warn'>
}): (() => Promise<void>) => {
  const { db, clock, reader } = needs
  const get = needs.settings.get

  /** It is off, and all that happened before is queued. */
  let drained = false
  const collectOnce = async (): Promise<void> => {
    // Without a licence the place in the stream stays: what happens meanwhile is forwarded when there is one again.
    if (!needs.licensed() || (drained && !get('siem.enabled'))) return
    const { since, off_at, draining } = await readState(db.read)
    if (!(await needs.leads())) return
    drained = !get('siem.enabled') && draining === 0
    if (drained) return
    for (let more = true; more;) {
      const read = await reader.read(1000)
      more = read.more
      const { events: found, position } = read
      const chosenTypes = new Set<SiemType>(get('siem.events'))
      const rows = found.flatMap(({ id, name, at }) => {
        const type = siemTypeOf(name)
        if (type === null || !chosenTypes.has(type) || allSiemTypes[type] < get('siem.min_severity')) return []
        return at < since || (off_at !== null && at > off_at) ? [] : [{ event_id: id, type, at }]
      })
      if (found.length > 0)
        await db.write.transaction().execute(async sql => {
          // Another process does it by now, from where this one was.
          if (!(await needs.leads(sql))) return void (more = false)
          const now = clock()
          await addWaiting(sql, db.engine, rows, now)
          const dropped = rows.length === 0 ? [] : await dropOldest(sql)
          await addCounts(
            sql,
            dropped.map(({ type, counted }) => ({ type, failed: 1 - counted })),
            now,
          )
          if (dropped.length > 0)
            needs.log.warn({ dropped: dropped.length }, 'the SIEM queue is full; its oldest events go')
          await reader.keep({ sql }, position)
        })
    }
    if (draining === 0 || !(await needs.leads())) return
    await saveState(db.write, { draining: 0 })
    drained = !get('siem.enabled')
  }
  const inTurn = createSerial()
  return () => inTurn(collectOnce)
}
