import { isOneOf } from '@stockade/contract/untrusted.ts'

export type ReportPeriod = 'day' | 'week' | 'month'
export interface ReportsSearch {
  readonly period?: ReportPeriod
  /** A date of the period. */
  readonly at?: string
  readonly tag?: string
}
const periods = ['day', 'month'] as const

/** What the address of the page says. A week is the default and is left out. */
export const readReportsSearch = (raw: Record<string, unknown>): ReportsSearch => ({
  ...(isOneOf(periods, raw.period) ? { period: raw.period } : {}),
  ...(typeof raw.at === 'string' && /^\d{4}-\d\d-\d\d$/.test(raw.at) ? { at: raw.at } : {}),
  ...(typeof raw.tag === 'string' && /^[a-z0-9][a-z0-9-]{0,31}$/.test(raw.tag) ? { tag: raw.tag } : {}),
})

/** A calendar date, moved by so many days. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
