import { metricsHistory } from '@stockade/contract/host-metrics.ts'
import type { ReplyOf, hostMetrics as contract } from '@stockade/contract'
import { hour, hourOf, iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { HostState } from './host-state.ts'
import { findHours, removeHoursBefore, saveHours } from './metrics-history.store.ts'
import type { HourRow } from './metrics-history.store.ts'
import { addHour, addReport, bannedOf, figureOf, hourBytes, stepLength, stepsInHour } from './metrics-steps.ts'
import type { StepValue } from './metrics-steps.ts'

/**
 * The load of hosts over the last day. Reports of the running step are in memory; a finished step is written with the
 * next flush, so a crash loses one step at most. Several processes also write the running step, each its own part.
 */
export interface MetricsHistory {
  /** Takes in an accepted report of a host; costs no query. */
  note(serverNo: number, state: HostState): void
  /** Writes the steps that are over; all of them with `everything`. */
  flush(everything?: boolean): Promise<void>
  /** Removes what is older than the history reaches back. */
  sweep(): Promise<void>
  forget(serverNo: number): void
  read(serverNo: number, hours: number): Promise<ReplyOf<typeof contract.serverMetricsHistory>>
}

/** A step of one server that is not written; `steps` has the bytes of its whole hour. */
interface Part {
  readonly serverNo: number
  /** Counted from 1970. */
  readonly step: number
  readonly steps: Uint8Array
}
const hourOfStep = (step: number): number => hourOf(step * stepLength)

export const createMetricsHistory = ({ db, clock }: { db: Database; clock: Clock }): MetricsHistory => {
  const unwritten = new Map<string, Part>()

  const partOf = (serverNo: number, at: number): Part => {
    const step = Math.floor(at / stepLength)
    const key = `${serverNo} ${step}`
    const knownHour = unwritten.get(key)
    if (knownHour) return knownHour
    const newHour = { serverNo, step, steps: new Uint8Array(hourBytes) }
    unwritten.set(key, newHour)
    return newHour
  }
  return {
    note(serverNo, { lastHeartbeat, metrics, jails }) {
      const at = lastHeartbeat ?? clock()
      addReport(partOf(serverNo, at).steps, at, {
        cpu: metrics?.cpu_percent ?? null,
        memory: metrics?.memory_percent ?? null,
        disk: metrics?.disk_percent ?? null,
        banned: jails.reduce((sum, jail) => sum + jail.current_bans, 0),
      })
    },
    async flush(everything = false) {
      const running = Math.floor(clock() / stepLength)
      const due = [...unwritten].filter(([, { step }]) => everything || step < running)
      if (due.length === 0) return
      // Taken out before the write: what arrives meanwhile is a part of its own.
      for (const [key] of due) unwritten.delete(key)
      const rows = new Map<string, HourRow>()
      for (const [, { serverNo, step, steps }] of due) {
        const key = `${serverNo} ${hourOfStep(step)}`
        const row = rows.get(key) ?? { server_no: serverNo, hour: hourOfStep(step), steps: new Uint8Array(hourBytes) }
        addHour(row.steps, steps)
        rows.set(key, row)
      }
      try {
        await db.write.transaction().execute(sql => saveHours(sql, db.engine, [...rows.values()]))
      } catch (error) {
        for (const [key, part] of due) {
          const since = unwritten.get(key)
          if (since) addHour(since.steps, part.steps)
          else unwritten.set(key, part)
        }
        throw error
      }
    },
    sweep: () => removeHoursBefore(db.write, hourOf(clock() - (metricsHistory.hours + 1) * hour)),
    forget(serverNo) {
      for (const [key, part] of unwritten) if (part.serverNo === serverNo) unwritten.delete(key)
    },
    async read(serverNo, hours) {
      const length = hours * stepsInHour
      const from = (Math.floor(clock() / stepLength) - length + 1) * stepLength
      const stepsByHour = new Map<number, Uint8Array>()
      for (const row of await findHours(db.read, serverNo, hourOf(from)))
        stepsByHour.set(row.hour, Uint8Array.from(row.steps))
      for (const { serverNo: no, step, steps } of unwritten.values()) {
        if (no !== serverNo) continue
        const start = hourOfStep(step)
        const merged = stepsByHour.get(start) ?? new Uint8Array(hourBytes)
        addHour(merged, steps)
        stepsByHour.set(start, merged)
      }
      const seriesOf = (valueOf: (bytes: Uint8Array, step: number) => StepValue): StepValue[] =>
        Array.from({ length }, (_, index) => {
          const at = from + index * stepLength
          const bytes = stepsByHour.get(hourOf(at))
          return bytes?.length === hourBytes
            ? valueOf(bytes, Math.floor(at / stepLength) % stepsInHour)
            : { value: null, peak: null }
        })
      const cpu = seriesOf((bytes, step) => figureOf(bytes, step, 'cpu'))
      const memory = seriesOf((bytes, step) => figureOf(bytes, step, 'memory'))
      const disk = seriesOf((bytes, step) => figureOf(bytes, step, 'disk'))
      const banned = seriesOf(bannedOf)
      return {
        step_seconds: metricsHistory.step,
        from: iso(from),
        points: {
          cpu: cpu.map(valueOf),
          memory: memory.map(valueOf),
          disk: disk.map(valueOf),
          banned: banned.map(valueOf),
        },
        peaks: { cpu: peakOf(cpu), memory: peakOf(memory), disk: peakOf(disk), banned: peakOf(banned) },
      }
    },
  }
}
const valueOf = ({ value }: StepValue): number | null => value
const peakOf = (values: readonly StepValue[]): number | null =>
  values.reduce<number | null>((most, { peak }) => (peak === null ? most : Math.max(most ?? 0, peak)), null)
