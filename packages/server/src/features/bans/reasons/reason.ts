import { bounds, reasonBounds } from '@stockade/contract'
import type { BanReason, BanReasonKind } from '@stockade/contract'
import { readers } from './readers.ts'
import type { Finding } from './readers.ts'

/** Characters of the log lines that are read, from their end, and lines of them; the last attempts stand at the end. */
const mostText = 32 * 1024
const mostLines = 200
const mostLine = 2048

export interface Reasoned {
  readonly jail: string
  readonly lines: string
  /** The operator who ordered the ban; null for the engine. */
  readonly bannedBy?: string | null
  /** What the operator gave as the reason. */
  readonly text?: string | null
}

/** Control characters and marks of direction, which would change how the text around a value reads. */
// oxlint-disable-next-line no-control-regex -- log lines come with control characters, which this takes away
const unwanted = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
/** A value as people may see it: at most 64 characters, none of them half. */
const valueOf = (text: string, most: number = reasonBounds.value): string => {
  const characters = Array.from(
    text
      .slice(0, most * 4)
      .replace(unwanted, '')
      .trim(),
  )
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('')
}

/** Counts values; the most frequent come first, of equal ones the first seen. */
const createTally = <Value extends string>(shownOf: (value: Value) => Value) => {
  const counts = new Map<Value, number>()
  return {
    add(value: Value | undefined, n = 1) {
      const text = value === undefined ? value : shownOf(value)
      if (text) counts.set(text, (counts.get(text) ?? 0) + n)
    },
    most: (limit: number) =>
      [...counts]
        .sort(([, a], [, b]) => b - a)
        .slice(0, limit)
        .map(([value]) => value),
  }
}

const linesOf = (text: string): string[] => {
  const tail = text.length > mostText ? text.slice(text.indexOf('\n', text.length - mostText) + 1) : text
  return tail
    .split('\n')
    .filter(line => line.trim() !== '')
    .slice(-mostLines)
    .map(line => line.slice(0, mostLine))
}
const kindOfJail = (jail: string): BanReasonKind | null =>
  jail.startsWith('recidive') ? 'repeat-offender' : jail.includes('limit') ? 'rate-limit' : null

const firstFinding = (line: string, jail: string): Finding | null => {
  for (const reader of readers) {
    const finding = reader(line, jail)
    if (finding) return finding
  }
  return null
}
const manual = (text: string | null): BanReason => ({
  kind: 'manual',
  attempts: null,
  users: [],
  paths: [],
  text: text === null ? null : valueOf(text, bounds.reason) || null,
})

/** Why an address was banned, as far as the log lines of the ban tell; null when they tell nothing. Linear in the lines. */
export const reasonOf = ({ jail, lines, bannedBy = null, text = null }: Reasoned): BanReason | null => {
  if (bannedBy !== null) return manual(text)
  const read = linesOf(lines)
  const kinds = createTally<BanReasonKind>(kind => kind)
  const users = createTally(valueOf)
  const paths = createTally(valueOf)
  let attempts = 0
  for (const line of read) {
    const finding = firstFinding(line, jail)
    if (!finding) continue
    const { kind, attempts: n = 1, user, path } = finding
    attempts += n
    kinds.add(kind, n)
    users.add(user)
    paths.add(path)
  }
  const [seen] = kinds.most(1)
  const kind = kindOfJail(jail) ?? seen ?? (read.length > 0 ? 'other' : null)
  if (kind === null) return null
  return {
    kind,
    attempts: seen ? attempts : read.length || null,
    users: users.most(reasonBounds.values),
    paths: paths.most(reasonBounds.values),
    text: null,
  }
}

/** What several bans tell together, newest first; the kind is that of most attempts. Null when none tells anything. */
export const mergeReasons = (reasons: readonly (BanReason | null)[]): BanReason | null => {
  const reasonsInWords = reasons.filter(reason => reason !== null)
  const kinds = createTally<BanReasonKind>(kind => kind)
  const users = createTally(valueOf)
  const paths = createTally(valueOf)
  let attempts: number | null = null
  for (const reason of reasonsInWords) {
    // A kind that says nothing yields to any other.
    kinds.add(reason.kind, reason.kind === 'other' ? 0.001 : (reason.attempts ?? 1) || 1)
    reason.users.forEach(user => users.add(user))
    reason.paths.forEach(path => paths.add(path))
    if (reason.attempts !== null) attempts = (attempts ?? 0) + reason.attempts
  }
  const [kind] = kinds.most(1)
  if (kind === undefined) return null
  return {
    kind,
    attempts,
    users: users.most(reasonBounds.values),
    paths: paths.most(reasonBounds.values),
    text: reasonsInWords.find(({ text }) => text !== null)?.text ?? null,
  }
}
