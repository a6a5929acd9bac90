import type { Command } from 'commander'
import { momentOf, wholeOf } from './times.ts'

/* Options that the lists share. */

export interface PageOptions {
  readonly limit?: number
  readonly page?: number
}
export const withPage = (command: Command, rows = 'rows'): Command =>
  command
    .option('--limit <number>', `${rows} on a page, at most 100`, wholeOf)
    .option('--page <number>', 'which page', wholeOf)

export interface PeriodOptions {
  readonly from?: string
  readonly to?: string
}
export const withPeriod = (command: Command): Command =>
  command
    .option('--from <time>', 'not before: a time, a date, or 24h for that long ago', momentOf)
    .option('--to <time>', 'before: likewise', momentOf)
