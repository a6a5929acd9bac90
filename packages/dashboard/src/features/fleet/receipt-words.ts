import { clip, nameOf } from '../../lib/clip.ts'
import { language } from '../../lib/texts/language.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { phaseOf } from '../../kit/receipt-state.ts'
import { fleetTexts } from './fleet.texts.ts'
import type { ReceiptFacts, ReceiptRow } from './receipt.ts'
import { saidOf } from './said-words.ts'
import type { Named } from './said-words.ts'

/** What a command asks for, in words. */
type Said = (row: Named) => string

const word = (value: unknown): string => clip(String(value), 64).shown

/** `Unbanning 203.0.113.7`: what is going on; for kinds without a form of their own the name of the command. */
const goingOf = (row: Named, said: Said): string => {
  const t = textsOf(fleetTexts).receipt.going
  const { ip, jail } = row.params
  switch (row.type) {
    case 'ban-ip':
      return t.ban(word(ip))
    case 'unban-ip':
      return t.unban(word(ip))
    case 'jail-enable':
      return t.enable(word(jail))
    case 'jail-disable':
      return t.disable(word(jail))
    default:
      return said(row)
  }
}
/** `203.0.113.7 is unbanned on 2 servers`: what is so now. */
const resultOf = (row: Named, where: string, said: Said): string => {
  const t = textsOf(fleetTexts).receipt.result
  const { ip, jail } = row.params
  switch (row.type) {
    case 'ban-ip':
      return t.ban(word(ip), where)
    case 'unban-ip':
      return jail === '*' ? t.unban(word(ip), where) : t.unbanFrom(word(ip), word(jail), where)
    case 'jail-enable':
      return t.enable(word(jail), where)
    case 'jail-disable':
      return t.disable(word(jail), where)
    default:
      return t.other(said(row), where)
  }
}

/** The parts of the sentence. `named`: they name what was asked, for places that do not say it otherwise. */
const partsOf = (facts: ReceiptFacts, named: boolean, said: Said) => {
  const { counts, rows, sample, mixed, isWhitelist = false } = facts
  const t = textsOf(fleetTexts).receipt
  const { total, done, failed, cancelled } = counts
  const where = total === 1 && rows[0] ? t.onOne(nameOf(rows[0].server.hostname)) : t.on(done)
  if (mixed)
    return {
      done: t.doneCommands(done),
      going: t.progress(done, total),
      failed: t.failedCommands(failed),
      cancelled: t.cancelledCommands(cancelled),
    }
  const result = isWhitelist ? t.result.whitelist(where) : sample && resultOf(sample, where, said)
  const going = isWhitelist ? t.going.whitelist : sample && goingOf(sample, said)
  return {
    done: named && result ? result : t.done(done),
    going: named && going ? t.goingNamed(going, done, total) : t.progress(done, total),
    failed: t.failed(failed),
    failedNamed: named && going ? t.failedNamed(going, t.failed(failed)) : undefined,
    cancelled: t.cancelled(cancelled),
  }
}
/** The sentence of a receipt. */
export const sentenceOfReceipt = (facts: ReceiptFacts, named: boolean, said: Said = saidOf): string => {
  const { counts, mixed } = facts
  const t = textsOf(fleetTexts).receipt
  const words = partsOf(facts, named, said)
  switch (phaseOf(counts)) {
    case 'asked':
    case 'running':
      return words.going
    case 'done':
      return words.done
    case 'rest-later':
      return counts.done > 0 ? words.done : words.going
    case 'partly-failed':
      if (counts.done === 0) return words.failed
      return mixed ? t.partlyCommands(words.done, counts.failed) : t.partly(words.done, counts.failed)
    case 'failed':
      return words.failedNamed ?? words.failed
    case 'cancelled':
      return words.cancelled
  }
}

const mostNamed = 3
/** `web-03, web-04 and 7 more servers`. */
const namesOf = (rows: readonly ReceiptRow[], count: number): string => {
  const names = [...new Set(rows.map(({ server }) => nameOf(server.hostname)))]
  const listedNames = names.slice(0, mostNamed)
  const rest = Math.max(count, names.length) - listedNames.length
  const parts = rest > 0 ? [...listedNames, textsOf(fleetTexts).receipt.moreServers(rest)] : listedNames
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(parts)
}
/** What follows later, and what failed and why: the first three, cut to a line each. `withCauses`: false where a list has them. */
export const notesOfReceipt = (
  { counts, later, failed, mixed }: ReceiptFacts,
  withCauses = true,
): readonly string[] => {
  const t = textsOf(fleetTexts).receipt
  const servers = new Set(later.map(({ server }) => server.id)).size
  const follow = counts.later > 0 && later.length > 0 && phaseOf(counts) !== 'asked'
  const causes = failed.slice(0, withCauses ? mostNamed : 0).map(row => {
    const why = row.result?.output.trim()
    return t.cause(nameOf(row.server.hostname), row.status === 'timeout' || !why ? t.noAnswer : clip(why, 160).shown)
  })
  const unnamed = counts.failed - causes.length
  return [
    ...(follow ? [t.follow(namesOf(later, mixed ? servers : counts.later), mixed ? servers : counts.later)] : []),
    ...new Set(causes),
    ...(unnamed > 0 && causes.length > 0 ? [t.moreFailed(unnamed)] : []),
  ]
}
