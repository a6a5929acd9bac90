import type { Word } from '../engine/pickle.ts'

type Command = readonly Word[]

/** What a filter sets; everything else about the jail must be as the host itself would have it. */
const filterCommands = ['addfailregex', 'addignoreregex', 'prefregex', 'datepattern', 'maxlines', 'addjournalmatch']

/**
 * What is in the stream but should not be: commands for another jail, and settings that neither a filter makes nor the
 * reference has, which is the same jail built from the plain options alone (ports, times, paths) with a filter of ours.
 */
export const strangers = (jail: string, stream: readonly Command[], reference: readonly Command[]): string[] => {
  const referenceTexts = new Set(reference.map(command => JSON.stringify(command)))
  return stream
    .filter(command => !isExpected(jail, command) && !referenceTexts.has(JSON.stringify(command)))
    .map(describe)
}

const isExpected = (jail: string, command: Command): boolean => {
  const [verb, name, what] = command
  if (name !== jail) return false
  if (verb === 'set' || verb === 'multi-set') return typeof what === 'string' && filterCommands.includes(what)
  return verb === 'start' && command.length === 2
}

const describe = (command: Command): string => JSON.stringify(command).slice(0, 200)
