import type { Category, Message, Notice, Table } from '../../db/tables/message.ts'

export interface Site {
  readonly name: string
  readonly url: string
  readonly timezone: string
}

/** One line without control characters, at most `most` long. */
export const oneLine = (text: string, most = 200): string => {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, ' ').trim()
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** As much of the text as fits into `most` once every character is escaped, with a mark where it was cut. */
export const fit = (text: string, most: number, escape: (character: string) => string): string => {
  const mark = '… [cut]'
  let all = ''
  let short = ''
  for (const character of text) {
    const piece = escape(character)
    if (all.length + piece.length > most) return most < mark.length ? '' : short + mark
    all += piece
    if (all.length <= most - mark.length) short = all
  }
  return all
}

const width = 32
/** Lines of fixed width, as many rows as fit into `most` characters. */
export const tableText = (table: Table, most: number): string => {
  const cells = [table.columns, ...table.rows].map(row => row.map(cell => oneLine(cell, width)))
  const widths = table.columns.map((_, at) => Math.max(...cells.map(row => (row[at] ?? '').length)))
  const lines: string[] = []
  let size = 0
  for (const row of cells) {
    const line = row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
    if (size + line.length + 1 > most - 40) break
    lines.push(line)
    size += line.length + 1
  }
  const left = table.total - Math.max(0, lines.length - 1)
  return [...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n')
}

const heads = {
  bans: {
    columns: ['Time', 'Address', 'Jail', 'Server', 'Country'],
    noun: 'bans',
    path: '/bans',
    label: 'Show the bans',
  },
  syncs: {
    columns: ['Time', 'What', 'Server or user'],
    noun: 'changes of the whitelist',
    path: '/whitelist',
    label: 'Show the whitelist',
  },
  /** Of before 0090: what waited then is still sent. Problems are alerts since. */
  errors: { columns: ['Time', 'What', 'Server'], noun: 'errors', path: '/servers', label: 'Show the servers' },
} as const
export type Burst = keyof typeof heads
export const isBurst = (category: Category): category is Burst => category in heads

/** Many notices as one message. `total` counts also those that are not at hand. */
export const digestOf = (category: Burst, notices: readonly Notice[], total: number, site: Site): Message => {
  const { columns, noun, path, label } = heads[category]
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone: site.timezone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const levels = notices.map(({ level }) => level)
  return {
    category,
    level: levels.includes('error') ? 'error' : levels.includes('warning') ? 'warning' : 'info',
    title: `${total} ${noun}`,
    text: `Many came at once, so they are told together. Times are in ${site.timezone}.`,
    facts: [],
    tables: [{ title: '', columns, rows: notices.map(({ at, row }) => [time.format(at), ...row]), total }],
    path,
    label,
    at: notices.at(-1)?.at ?? 0,
  }
}
