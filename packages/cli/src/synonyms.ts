import { Option } from 'commander'
import type { Command } from 'commander'
import { Misuse } from './failure.ts'

/*
 * Words that people carry over from one command to another: what is called a reason in one is a description in the next, and what has an end may have
 * none. Each command understands all of them, and its help names the one that it is known for.
 */

const has = (command: Command, name: string): boolean => command.options.some(option => option.attributeName() === name)

/** `alias` sets what `name` sets. */
const addText = (command: Command, name: string, alias: string): void => {
  command.addOption(new Option(`--${alias} <text>`, `the same as --${name}`).hideHelp())
  command.on(`option:${alias}`, (text: string) => {
    if (command.getOptionValueSource(name) === 'cli' && command.getOptionValue(name) !== text)
      throw new Misuse(`Give --${name} or --${alias}, not both.`)
    command.setOptionValueWithSource(name, text, 'cli')
  })
}

/** `--permanent` is a duration, or an end, that never comes. What has no end anyway takes it, too. */
const addPermanent = (command: Command): void => {
  const ends = ['duration', 'until'].filter(name => has(command, name))
  const [first] = ends
  command.addOption(new Option('--permanent', 'without an end').hideHelp(first === undefined))
  command.hook('preAction', (_, acting) => {
    if (acting !== command || !command.getOptionValue('permanent')) return
    if (has(command, 'hours')) throw new Misuse('This always has an end: give --hours.')
    for (const name of ends)
      if (command.getOptionValueSource(name) === 'cli') throw new Misuse(`Give --permanent or --${name}, not both.`)
    if (first !== undefined) command.setOptionValueWithSource(first, first === 'duration' ? -1 : 'none', 'cli')
  })
}

/** For this command and all below it. */
export const addSynonyms = (command: Command): void => {
  const texts = ['reason', 'description'].filter(name => has(command, name))
  const [text, other] = texts
  const hasEnd = has(command, 'duration') || has(command, 'until')
  if (text !== undefined && other === undefined) addText(command, text, text === 'reason' ? 'description' : 'reason')
  if (text !== undefined || hasEnd) addPermanent(command)
  for (const child of command.commands) addSynonyms(child)
}
