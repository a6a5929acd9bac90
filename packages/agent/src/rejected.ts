import * as fs from 'node:fs'
import { readOr } from '@stockade/contract/untrusted.ts'
import { readText, writeDurably } from './files.ts'
import { asFields, asInteger, asText } from './json.ts'
import { cleanText } from './text.ts'

const hour = 3_600_000
const keepFor = 7 * 24 * hour
const maxBytes = 8 * 1024 * 1024
/** What was refused within this time is told on the page of the host. */
const tellFor = 24 * hour
/** So many are counted. */
const mostTold = 10_000

export interface Rejected {
  add(entry: unknown, reason: string): void
  prune(): void
  /** How many were refused within a day, at most 10,000, and why the last one was; null without one. */
  lately(): { readonly count: number; readonly reason: string } | null
}

interface Refusal {
  readonly at: number
  readonly reason: string
}
const refusalIn = (line: string): Refusal[] => {
  const fields = asFields(readOr(null, (): unknown => JSON.parse(line)))
  const at = asInteger(fields['rejected_at'], 0)
  return at > 0 ? [{ at, reason: asText(fields['reason']) }] : []
}
const linesOf = (path: string): string[] => (readText(path) ?? '').split('\n').filter(line => line !== '')

/** Events that the server rejected for good, kept for a week for troubleshooting. */
export const createRejected = (path: string, now: () => number): Rejected => {
  const isOf = (time: number) => (refusal: Refusal) => refusal.at > now() - time
  let refusals = linesOf(path).flatMap(refusalIn).filter(isOf(tellFor)).slice(-mostTold)
  return {
    add(entry: unknown, reason: string): void {
      refusals = [...(refusals.length < mostTold ? refusals : refusals.slice(1)), { at: now(), reason }]
      try {
        if ((fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) < maxBytes) {
          fs.appendFileSync(path, `${JSON.stringify({ rejected_at: now(), reason, entry })}\n`, { mode: 0o600 })
        }
      } catch {
        // A full disk must not block the queue. The count still shows that events were rejected.
      }
    },
    prune(): void {
      if (readText(path) === null) return
      const recentLines = linesOf(path).filter(line => refusalIn(line).some(isOf(keepFor)))
      if (recentLines.length === 0) fs.rmSync(path, { force: true })
      else writeDurably(path, `${recentLines.join('\n')}\n`)
    },
    lately() {
      refusals = refusals.filter(isOf(tellFor))
      const last = refusals.at(-1)
      return last === undefined ? null : { count: refusals.length, reason: cleanText(last.reason).slice(0, 200) }
    },
  }
}
