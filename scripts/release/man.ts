import type { Command, Option } from 'commander'
import { program } from '../../packages/server/src/admin/program.ts'
import { epoch, version } from './places.ts'

/* The manual page of the command line, from the commands themselves. */

/** A dot or a quote at the begin of a line would be a request of roff, a backslash an escape. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const optionLines = (option: Option): string[] => {
  const { flags, description, hidden, defaultValue, argChoices } = option
  // A default that is a moment has words of its own: the page must not depend on the time of its making.
  const usual = option.defaultValueDescription ?? String(defaultValue)
  if (hidden) return []
  const hasDefault = defaultValue !== undefined && typeof defaultValue !== 'boolean'
  const notes = [
    ...(argChoices ? [`one of: ${argChoices.join(', ')}`] : []),
    ...(hasDefault ? [`default: ${usual}`] : []),
  ]
  const more = notes.length > 0 ? ` (${notes.join('; ')})` : ''
  return ['.TP', `.B ${escaped(flags)}`, escaped(description + more)]
}
/** A command with its own options, and all that are below it. */
const commandLines = (command: Command, words: readonly string[]): string[] => {
  const path = [...words, command.name()]
  const usage = command.usage().replace('[options]', command.options.length > 0 ? '[options]' : '')
  return [
    `.SS ${escaped([...path, usage].join(' ').replace(/\s+/g, ' ').trim())}`,
    escaped(command.description()),
    ...command.options.flatMap(optionLines),
    ...visible(command).flatMap(each => commandLines(each, path)),
  ]
}
const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter(each => each.name() !== 'help')

/** The page in roff. */
export const manualPage = (): string => {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10)
  return [
    `.TH STOCKADE 1 ${date} "Stockade ${version}" "User Commands"`,
    '.SH NAME',
    'stockade \\- central management for fleets of hosts that run fail2ban',
    '.SH SYNOPSIS',
    '.B stockade',
    '[options] command',
    '.SH DESCRIPTION',
    'Operators speak to a Stockade server over its API.',
    'On the host of the server admin, audit, backup, doctor, geoip and restore work on its storage, whether it runs or not.',
    'They read the same STOCKADE_* environment as the server.',
    '.SH OPTIONS',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...visible(program).flatMap(command => commandLines(command, [])),
    '.SH ENVIRONMENT',
    ...[
      ['STOCKADE_URL', 'where Stockade answers'],
      ['STOCKADE_API_KEY', 'the API key'],
      ['STOCKADE_API_KEY_FILE', 'a file with the API key in it'],
      ['STOCKADE_PROFILE', 'a profile of ~/.config/stockade/profiles.json, in place of the three others'],
      ['NO_COLOR', 'no colours on a terminal'],
    ].flatMap(([name = '', text = '']) => ['.TP', `.B ${name}`, escaped(text)]),
    '.SH EXIT STATUS',
    '0 done, 1 refused or failed, 2 given wrongly.',
    '',
  ].join('\n')
}
