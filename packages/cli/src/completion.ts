import { Argument } from 'commander'
import type { Command, Option } from 'commander'
import { contextOf, rootOf } from './context.ts'
import { profileNames } from './profiles.ts'

/*
 * Completion of a shell: the script that a shell loads asks `stockade complete` at each tab, so that words, options and choices
 * are those of this version, and names those of the server.
 */

interface Candidate {
  readonly value: string
  readonly description: string
}
/** Looks up the names of one kind; answers none where the server can't be asked. */
type NamesOf = (kind: 'server' | 'tag' | 'profile') => Promise<readonly string[]>

const plain = (value: string, description = ''): Candidate => ({ value, description })
const takesValue = (option: Option | undefined): boolean => option !== undefined && (option.required || option.optional)
/** Its own, and those of the program. The options of a list, such as `servers`, are none of its commands below. */
const optionsOf = (command: Command): readonly Option[] => [
  ...command.options,
  ...(command.parent ? rootOf(command).options : []),
]
const optionNamed = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find(({ long, short }) => word === long || word === short)

const kindOfOption = (option: Option): 'server' | 'tag' | 'profile' | null =>
  ({ '--server': 'server', '--tag': 'tag', '--profile': 'profile' } as const)[option.long ?? ''] ?? null
/** Servers and other things are named by `<name-or-id>`; the words about it tell them apart. */
const namesServers = ({ description }: Argument): boolean => /\bhostnames?\b|^the servers$/.test(description)

/** Where the words before the last one lead. */
const positionOf = (program: Command, words: readonly string[]) => {
  let command = program
  let arguments_ = 0
  let pending: Option | undefined
  for (const word of words) {
    if (word.startsWith('-')) {
      const option = word.includes('=') ? undefined : optionNamed(command, word)
      pending = takesValue(option) ? option : undefined
      continue
    }
    if (pending) {
      if (!pending.variadic) pending = undefined
      continue
    }
    const next = command.commands.find(each => each.name() === word || each.aliases().includes(word))
    if (next) {
      command = next
      arguments_ = 0
    } else arguments_ += 1
  }
  return { command, arguments_, pending }
}

const valuesOf = async (option: Option, namesOf: NamesOf): Promise<readonly Candidate[]> => {
  if (option.argChoices) return option.argChoices.map(choice => plain(choice))
  const kind = kindOfOption(option)
  return kind ? (await namesOf(kind)).map(name => plain(name)) : []
}
const argumentsOf = async (command: Command, place: number, namesOf: NamesOf): Promise<readonly Candidate[]> => {
  const all = command.registeredArguments
  const argument = all[place] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined)
  if (!argument) return []
  if (argument.argChoices) return argument.argChoices.map(choice => plain(choice))
  return namesServers(argument) ? (await namesOf('server')).map(name => plain(name)) : []
}
const visible = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command)

/** What may stand in place of the last word. `words` are those after `stockade`; the last one may be empty. */
const candidatesOf = async (
  program: Command,
  words: readonly string[],
  namesOf: NamesOf,
): Promise<readonly Candidate[]> => {
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const begins = ({ value }: Candidate) => value.startsWith(last)
  const { command, arguments_, pending } = positionOf(program, before)
  if (last.startsWith('-'))
    return optionsOf(command)
      .filter(({ hidden }) => !hidden)
      .map(({ long, short, description }) => plain(long ?? short ?? '', description))
      .filter(begins)
  // An option that takes several values may be followed by an argument as well.
  const values = pending ? await valuesOf(pending, namesOf) : []
  if (pending && !pending.variadic) return values.filter(begins)
  const subcommands = arguments_ === 0 ? visible(command).map(each => plain(each.name(), each.description())) : []
  const rest = await argumentsOf(command, arguments_, namesOf)
  return [...values, ...subcommands, ...rest].filter(begins)
}

export const completionScripts = {
  bash: `_stockade() {
  local IFS=$'\\n'
  COMPREPLY=($(stockade complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _stockade stockade
`,
  zsh: `#compdef stockade
_stockade() {
  local -a found
  local line
  for line in "\${(@f)$(stockade complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe stockade found; else _files; fi
}
compdef _stockade stockade
# Loaded by its file name, this file is the function.
[[ \${funcstack[1]-} == _stockade ]] && _stockade
`,
  fish: `complete -c stockade -a '(stockade complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
} as const
type Shell = keyof typeof completionScripts

const longest = 2000
/** Asks the server, for two seconds at most: a tab must not hang. */
const askNames = (command: Command): NamesOf => {
  const ask = async (kind: 'server' | 'tag'): Promise<readonly string[]> => {
    const { client } = contextOf(command)
    const names =
      kind === 'server'
        ? (await client.call('GET /servers/summary')).servers.map(({ hostname }) => hostname)
        : (await client.call('GET /servers/tags')).tags.map(({ tag }) => tag)
    return [...new Set(names)].filter(name => /^[\w.:-]+$/.test(name)).sort()
  }
  return async kind => {
    if (kind === 'profile') return profileNames(process.env)
    const timeLimit = new Promise<readonly string[]>(resolve => setTimeout(resolve, longest, []).unref())
    return Promise.race([ask(kind), timeLimit]).catch(() => [])
  }
}
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

export const addCompletion = (program: Command): void => {
  program
    .command('completion')
    .description('print a script that completes commands in a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(completionScripts)))
    .action((shell: Shell) => void process.stdout.write(completionScripts[shell]))
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[], _options: object, command: Command) => {
      const candidates = await candidatesOf(program, words.length > 0 ? words : [''], askNames(command))
      process.stdout.write(candidates.map(({ value, description }) => `${value}\t${oneLine(description)}\n`).join(''))
      // A question to the server that is still open must not hold the shell.
      process.exit(0)
    })
}
