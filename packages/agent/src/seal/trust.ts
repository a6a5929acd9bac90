import { readOperatorKey, usuallySealed, writeOperatorKey } from '@stockade/contract/seal.ts'
import type { Options } from '../options.ts'
import { checkClasses, loadTrust, saveTrust, withKey } from './operators.ts'
import type { Operator } from './operators.ts'

/** `stockade-agent trust ...`: what the host's root decides about operators' signatures. Returns what to print. */
export const trustCommand = (words: readonly string[], options: Options, now: () => number): string => {
  const [verb = 'list', given = ''] = words
  if (verb === 'list') return listed(options)
  if (verb === 'add') return added(given, options, now)
  if (verb === 'remove') return removed(given, options)
  throw new Error('trust list, trust add KEY [--types a,b], or trust remove NAME')
}

const listed = (options: Options): string => {
  const trust = loadTrust(options.config)
  if (!trust || trust.operators.length === 0) return 'no operator is trusted: commands need no signature here\n'
  const rows = trust.operators.map(operator => `${operator.name}  ${operator.kind}  ${operator.fingerprint}\n`)
  return `${rows.join('')}a signature is needed for: ${trust.sealed.join(', ') || 'nothing'}\n`
}

const added = (line: string, options: Options, now: () => number): string => {
  const operator = withKey(readOperatorKey(line), now())
  const trust = loadTrust(options.config)
  const others = trust?.operators ?? []
  if (others.some(({ fingerprint }) => fingerprint === operator.fingerprint))
    throw new Error('this key is trusted already')
  const sealed = options.types === null ? (trust?.sealed ?? [...usuallySealed]) : checkClasses(options.types.split(','))
  save(options, [...others, operator], sealed)
  return `${operator.name} is trusted now: ${operator.fingerprint}\na signature is needed for: ${sealed.join(', ')}\n`
}

const removed = (which: string, options: Options): string => {
  const trust = loadTrust(options.config)
  const gone = trust?.operators.filter(({ name, fingerprint }) => which === name || which === fingerprint) ?? []
  const [operator] = gone
  if (!trust || !operator || gone.length > 1)
    throw new Error(
      gone.length > 1 ? `several keys are named ${which}: give the fingerprint` : `no operator is named ${which}`,
    )
  const left = trust.operators.filter(other => other !== operator)
  // Removing the last operator also ends the demand for signatures: otherwise no command could ever run on this host again.
  save(options, left, left.length > 0 ? trust.sealed : [])
  return `${operator.name} is no longer trusted${left.length > 0 ? '' : '; commands need no signature here any more'}\n`
}

const save = (options: Options, operators: readonly Operator[], sealed: readonly string[]): void => {
  const lines = operators.map(({ fingerprint: _, publicKey: __, addedAt, ...key }) => ({
    key: writeOperatorKey(key),
    addedAt,
  }))
  saveTrust(options.config, lines, sealed)
}
