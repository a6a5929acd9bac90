import { readFileSync } from 'node:fs'
import { Argument, InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { Endpoint } from '@stockade/contract'
import { codeOf } from '@stockade/contract/error-code.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'

/* Any operation of the API by its method and path, for what has no command of its own. */

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Pair = readonly [name: string, value: string]

const pairOf = (text: string, before: readonly Pair[] = []): readonly Pair[] => {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Give NAME=VALUE.')
  return [...before, [text.slice(0, at), text.slice(at + 1)]]
}
const bodyOf = (given: string): unknown => {
  let text = given
  if (given === '-' || given.startsWith('@'))
    try {
      text = readFileSync(given === '-' ? 0 : given.slice(1), 'utf8')
    } catch (error) {
      throw new Misuse(`The body can't be read: ${codeOf(error) ?? 'unknown error'}.`)
    }
  try {
    return JSON.parse(text)
  } catch {
    throw new Misuse('The body is not JSON.')
  }
}

/** The parameters of a path, `null` where it is another operation's. A part that is written out wins over a parameter. */
const paramsOf = ({ path }: Endpoint, parts: readonly string[]): Record<string, string> | null => {
  const names = path.split('/')
  if (names.length !== parts.length) return null
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? ''
    const [, param] = /^\{(\w+)\}$/.exec(name) ?? []
    if (param === undefined && name !== part) return null
    if (param !== undefined) {
      if (part === '') return null
      params[param] = part
    }
  }
  return params
}
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Misuse(`"${part}" is not a part of an address.`)
  }
}
const findOperation = (endpoints: readonly Endpoint[], method: string, path: string) => {
  const parts = path.split('/').map(decoded)
  const fitting = endpoints.flatMap(endpoint => {
    const params = endpoint.method === method ? paramsOf(endpoint, parts) : null
    return params ? [{ endpoint, params }] : []
  })
  const [found] = fitting.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)
  if (!found) throw new Misuse(`There is no operation ${method} ${path}. See: stockade api list`)
  return found
}

interface ApiOptions {
  readonly query?: readonly Pair[]
  readonly body?: string
}
const runCall = async (
  method: (typeof methods)[number],
  given: string,
  options: ApiOptions,
  command: Command,
): Promise<void> => {
  const { endpoints } = await import('@stockade/contract')
  const [path = '', search = ''] = given.split('?')
  const { endpoint, params } = findOperation(endpoints, method, path)
  const query = Object.fromEntries([...new URLSearchParams(search), ...(options.query ?? [])])
  const body = options.body === undefined ? {} : { body: bodyOf(options.body) }
  const { client } = contextOf(command)
  const reply = await client.callByName(`${endpoint.method} ${endpoint.path}`, { params, query, ...body })
  if (typeof reply === 'string') process.stdout.write(reply)
  else printJson(reply)
}

const runList = async (words: readonly string[], _options: object, command: Command): Promise<void> => {
  const { endpoints } = await import('@stockade/contract')
  const searchWords = words.map(word => word.toLowerCase())
  const matches = endpoints.filter(({ method, path, summary }) => {
    const text = `${method} ${path} ${summary}`.toLowerCase()
    return searchWords.every(word => text.includes(word))
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json)
    return printJson(matches.map(({ method, path, summary, access }) => ({ method, path, summary, access })))
  if (matches.length === 0) throw new Failure(`No operation fits "${safe(words.join(' '))}".`)
  printTable(
    ['METHOD', 'PATH', 'ACCESS', 'DOES'],
    matches.map(({ method, path, summary, access }) => [method, path, access, summary]),
  )
  print('')
  print('stockade api METHOD PATH [--query NAME=VALUE] [--body JSON|@FILE|-]')
}

export const addApi = (program: Command): void => {
  const api = program
    .command('api')
    .description('call any operation of the API; "api list" lists them')
    .addArgument(new Argument('<method>', 'how').choices(methods))
    .argument('<path>', 'which, such as /users/3 or "/bans?jail=sshd"')
    .option('--query <name=value>', 'a parameter; may be given several times', pairOf)
    .option('--body <json>', 'the body as JSON, @FILE for a file, - for standard input')
    .action(runCall)
  api
    .command('list')
    .description('list the operations of the API')
    .argument('[words...]', 'only those with these words')
    .action(runList)
}
