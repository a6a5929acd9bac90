import { isRecord, recordOf } from '@stockade/contract/untrusted.ts'
import { readRange } from '../../lib/address.ts'
import { readLines } from './lines.ts'
import type { ReadLines } from './lines.ts'

export type Format = 'plain' | 'csv' | 'json'

/** What a text most likely is: by how it begins. */
export const formatOf = (content: string): Format => {
  const start = content.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return 'json'
  return /^\uFEFF?"?ip"?\s*,/i.test(start) ? 'csv' : 'plain'
}

const cells = (line: string): readonly string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
    (quoted?.replaceAll('""', '"') ?? bare ?? '').trim(),
  )

const ofRows = (
  rows: readonly { readonly ip: string; readonly description: string; readonly line: number }[],
): ReadLines => ({
  entries: rows.filter(({ ip }) => readRange(ip)).map(({ ip, description }) => ({ ip, description })),
  wrong: rows.filter(({ ip }) => !readRange(ip)).map(({ ip, line }) => ({ line, text: ip })),
})

/** What an import would take and leave out, as far as that can be told here; the server reads it again. Null where it is not of the format. */
export const preview = (content: string, format: Format): ReadLines | null => {
  if (format === 'plain') return readLines(content)
  if (format === 'csv')
    return ofRows(
      content
        .replace(/^\uFEFF/, '')
        .split(/\r?\n/)
        .map((text, index) => ({ text, line: index + 1 }))
        .filter(({ text, line }) => line > 1 && text.trim() !== '')
        .map(({ text, line }) => {
          const [ip = '', description = ''] = cells(text)
          return { ip, description, line }
        }),
    )
  try {
    const read: unknown = JSON.parse(content)
    const list = Array.isArray(read) ? read : recordOf(read).whitelist
    if (!Array.isArray(list)) return null
    return ofRows(
      list.map((entry: unknown, index) => {
        const { ip, description }: Readonly<Record<string, unknown>> = isRecord(entry) ? entry : { ip: entry }
        return {
          ip: typeof ip === 'string' ? ip : '?',
          description: typeof description === 'string' ? description : '',
          line: index + 1,
        }
      }),
    )
  } catch {
    return null
  }
}
