import * as fs from 'node:fs'
import { readOr } from '@stockade/contract/untrusted.ts'
import { readText, writeDurably } from './files.ts'
import { asFields, asInteger } from './json.ts'

const keepFor = 7 * 24 * 3600 * 1000
const maxBytes = 8 * 1024 * 1024

export interface Rejected {
  add(entry: unknown, reason: string): void
  prune(): void
  count(): number
}

/** Events that the server rejected for good, kept for a week for troubleshooting. */
export const createRejected = (path: string, now: () => number): Rejected => {
  let count = 0
  return {
    add(entry: unknown, reason: string): void {
      count += 1
      try {
        if ((fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) < maxBytes) {
          fs.appendFileSync(path, `${JSON.stringify({ rejected_at: now(), reason, entry })}\n`, { mode: 0o600 })
        }
      } catch {
        // A full disk must not block the queue. The count still shows that events were rejected.
      }
    },
    prune(): void {
      const text = readText(path)
      if (text === null) return
      const kept = text
        .split('\n')
        .filter(line => line !== '' && asInteger(asFields(parse(line))['rejected_at'], 0) > now() - keepFor)
      if (kept.length === 0) fs.rmSync(path, { force: true })
      else writeDurably(path, `${kept.join('\n')}\n`)
    },
    count: () => count,
  }
}

const parse = (line: string): unknown => readOr(null, () => JSON.parse(line))
