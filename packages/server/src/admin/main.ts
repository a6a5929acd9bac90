import { keysOf } from '@stockade/contract/records.ts'
import { parseArgs } from 'node:util'
import { ConfigError } from '../config-reader.ts'
import { Misuse, optionTypes, tasks } from './tasks.ts'
import type { OptionName, Task } from './tasks.ts'
import { usage } from './usage.ts'

const parse = (args: readonly string[]) => {
  try {
    const options = { ...optionTypes, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new Misuse(error instanceof Error ? error.message : String(error))
  }
}

const taskOf = (positionals: readonly string[]): Task => {
  const task = tasks.find(({ words }) => words.every((word, index) => positionals[index] === word))
  if (!task) throw new Misuse('This is not a command.')
  return task
}
/** The commands that take an option, such as "backup or restore". The last word names a command of `admin`. */
const ownersOf = (option: OptionName): string =>
  tasks
    .flatMap(({ words, options }) =>
      options.includes(option) ? [(words[0] === 'admin' ? words.slice(1) : words).join(' ')] : [],
    )
    .join(' or ')

const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse(args)
  const { help, ...options } = values
  if (help) {
    process.stdout.write(`${usage}\n`)
    return 0
  }
  const task = taskOf(positionals)
  const operands = positionals.slice(task.words.length)
  const foreign = keysOf(options).find(name => !task.options.includes(name))
  if (foreign) throw new Misuse(`--${foreign} belongs to ${ownersOf(foreign)}.`)
  if (operands.length !== task.operands) throw new Misuse(task.operandsSentence ?? 'This is not a command.')
  return task.run(options, operands[0] ?? '')
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const isMisuse = error instanceof Misuse
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`stockade: ${error instanceof ConfigError ? `the configuration: ${message}` : message}\n`)
  if (isMisuse) process.stderr.write(`\n${usage}`)
  process.exitCode = isMisuse ? 2 : 1
}
