import { metricsHistory } from '@stockade/contract/host-metrics.ts'
import { hour } from '../../core/clock.ts'

/*
 * The packed load of one server in one hour: twelve steps of five minutes. Sums and counts are kept in place of means, so
 * that parts of a step which several processes saw can be added.
 */

export const stepLength = metricsHistory.step * 1000
export const stepsInHour = hour / stepLength

const figures = ['cpu', 'memory', 'disk'] as const
export type Figure = (typeof figures)[number]
/** Bytes of one step: for each figure a count, a sum and a peak in hundredths of a percent; then the bans. */
const figureBytes = 8
const bansAt = figures.length * figureBytes
const stepBytes = bansAt + 10
export const hourBytes = stepBytes * stepsInHour

const hundredths = (percent: number): number => Math.round(Math.min(655, Math.max(0, percent)) * 100)
const mostCount = 0xffff
const mostBans = 0xffff_ffff

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export interface StepReport {
  readonly cpu: number | null
  readonly memory: number | null
  readonly disk: number | null
  readonly banned: number
}
/** Adds a report at that moment to the bytes of its hour. */
export const addReport = (bytes: Uint8Array, at: number, report: StepReport): void => {
  const view = viewOf(bytes)
  const start = (Math.floor(at / stepLength) % stepsInHour) * stepBytes
  figures.forEach((figure, index) => {
    const percent = report[figure]
    if (percent === null) return
    const offset = start + index * figureBytes
    const count = view.getUint16(offset)
    if (count === mostCount) return
    const value = hundredths(percent)
    view.setUint16(offset, count + 1)
    view.setUint32(offset + 2, view.getUint32(offset + 2) + value)
    view.setUint16(offset + 6, Math.max(view.getUint16(offset + 6), value))
  })
  // The second of the step, from 1: 0 means that nothing was reported.
  const second = Math.floor((at % stepLength) / 1000) + 1
  if (second < view.getUint16(start + bansAt)) return
  const banned = Math.min(report.banned, mostBans)
  view.setUint16(start + bansAt, second)
  view.setUint32(start + bansAt + 2, banned)
  view.setUint32(start + bansAt + 6, Math.max(view.getUint32(start + bansAt + 6), banned))
}
/** Adds what another part of the same hour holds. */
export const addHour = (bytes: Uint8Array, other: Uint8Array): void => {
  if (other.length !== hourBytes) return
  const view = viewOf(bytes)
  const added = viewOf(other)
  for (let start = 0; start < hourBytes; start += stepBytes) {
    for (let offset = start; offset < start + bansAt; offset += figureBytes) {
      const count = view.getUint16(offset) + added.getUint16(offset)
      if (count > mostCount) continue
      view.setUint16(offset, count)
      view.setUint32(offset + 2, view.getUint32(offset + 2) + added.getUint32(offset + 2))
      view.setUint16(offset + 6, Math.max(view.getUint16(offset + 6), added.getUint16(offset + 6)))
    }
    const at = start + bansAt
    if (added.getUint16(at) >= view.getUint16(at) && added.getUint16(at) > 0) {
      view.setUint16(at, added.getUint16(at))
      view.setUint32(at + 2, added.getUint32(at + 2))
    }
    view.setUint32(at + 6, Math.max(view.getUint32(at + 6), added.getUint32(at + 6)))
  }
}
export interface StepValue {
  readonly value: number | null
  readonly peak: number | null
}
const nothing: StepValue = { value: null, peak: null }
const percentOf = (value: number): number => Math.round(value / 10) / 10
/** A figure of one step: its mean and its peak in percent with one decimal. */
export const figureOf = (bytes: Uint8Array, step: number, figure: Figure): StepValue => {
  const view = viewOf(bytes)
  const offset = step * stepBytes + figures.indexOf(figure) * figureBytes
  const count = view.getUint16(offset)
  if (count === 0) return nothing
  return { value: percentOf(view.getUint32(offset + 2) / count), peak: percentOf(view.getUint16(offset + 6)) }
}
/** The bans of one step: the last count and the highest one. */
export const bannedOf = (bytes: Uint8Array, step: number): StepValue => {
  const view = viewOf(bytes)
  const at = step * stepBytes + bansAt
  return view.getUint16(at) === 0 ? nothing : { value: view.getUint32(at + 2), peak: view.getUint32(at + 6) }
}
