import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip as gunzipWithCallback, gzip as gzipWithCallback } from 'node:zlib'
import type { Blocklist } from '@stockade/contract'
import { parseRange } from '../../core/ip.ts'
import { inSlices } from '../../core/slices.ts'
import type { Cuts } from './cuts.ts'
import { reachOf } from '@stockade/contract/reach.ts'
import { SpanCollector } from '@stockade/contract/spans.ts'
import { entriesOf } from '../../core/entries.ts'
import type { Spans } from '@stockade/contract/spans.ts'

const gzip = promisify(gzipWithCallback)
const gunzip = promisify(gunzipWithCallback)

/** A content that is ready for hosts. */
export interface Built {
  readonly entries: readonly string[]
  readonly addresses: number
  readonly digest: string
  readonly left_out: Blocklist['left_out']
}

const textOf = (entries: readonly string[]): string => (entries.length === 0 ? '' : `${entries.join('\n')}\n`)
export const packLines = (entries: readonly string[]): Promise<Buffer> => gzip(textOf(entries), { level: 6 })
export const unpackLines = async (packed: Uint8Array): Promise<string[]> =>
  (await gunzip(packed)).toString('utf8').split('\n').filter(Boolean)

export const linesOf = async (spans: Spans): Promise<string[]> => {
  const lines: string[] = []
  await inSlices(entriesOf(spans), line => lines.push(line))
  return lines
}
export const spansOf = async (lines: readonly string[]): Promise<Spans> => {
  const collector = new SpanCollector()
  await inSlices(lines, line => {
    const range = parseRange(line)
    if (range) collector.add(range)
  })
  return collector.spans()
}

/** Cuts out what no list may hold. `parsed` counts what the reading of the source left out. */
export const buildContent = async (
  spans: Spans,
  cuts: Cuts,
  parsed: Pick<Blocklist['left_out'], 'invalid' | 'too_wide' | 'duplicates'>,
): Promise<Built> => {
  const { spans: left, counts } = cuts.cut(spans)
  const entries = await linesOf(left)
  return {
    entries,
    addresses: reachOf(left).ipv4,
    digest: createHash('sha256').update(textOf(entries)).digest('hex'),
    left_out: { ...counts, ...parsed },
  }
}

/** The share of entries that differ between two versions, of the larger one; 1 is everything. */
export const changeOf = (before: readonly string[], after: readonly string[]): number => {
  const [small, large] = before.length < after.length ? [before, after] : [after, before]
  if (large.length === 0) return 0
  const known = new Set(small)
  const kept = large.reduce((n, entry) => n + Number(known.has(entry)), 0)
  return (large.length - kept) / large.length
}
