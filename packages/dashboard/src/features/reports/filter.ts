import { withoutEmpty, matching } from '../../lib/search-params.ts'

export type ReportPeriod = 'day' | 'week' | 'month'
export interface ReportsSearch {
  readonly period?: ReportPeriod | undefined
  /** A date of the period. */
  readonly at?: string | undefined
  readonly tag?: string | undefined
}

/** What the address of the page says. A week is the default and is left out. */
export const readReportsSearch = (raw: Record<string, unknown>): ReportsSearch =>
  withoutEmpty({
    period: (['day', 'month'] as const).find(known => known === raw.period),
    at: matching(raw.at, /^\d{4}-\d\d-\d\d$/),
    tag: matching(raw.tag, /^[a-z0-9][a-z0-9-]{0,31}$/),
  })

/** A calendar date, moved by so many days. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
