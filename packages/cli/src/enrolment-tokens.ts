import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { durationOf, timeText, wholeOf } from './times.ts'

type Token = Reply<'GET /servers/enrolment-tokens'>['tokens'][number]

const tokenNamed = async (client: Client, typed: string): Promise<Token> => {
  const { tokens } = await client.call('GET /servers/enrolment-tokens')
  const namesakes = tokens.filter(({ name }) => name === typed)
  const token = tokens.find(({ id }) => String(id) === typed) ?? namesakes[0]
  if (!token) throw new Failure(`There is no enrolment token ${typed}. See: stockade servers tokens`)
  if (namesakes.length > 1 && String(token.id) !== typed)
    throw new Failure(
      `${namesakes.length} enrolment tokens are called so. Take one by its id: ${namesakes.map(({ id }) => id).join(' or ')}`,
    )
  return token
}
const words: Readonly<Record<Token['state'], string>> = {
  open: 'open',
  suspended: 'suspended',
  used_up: 'used up',
  ended: 'ended',
  revoked: 'revoked',
}

const runList = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /servers/enrolment-tokens')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'STATE', 'USED', 'ENDS', 'TAGS', 'FROM', 'MADE BY'],
    list.tokens.map(token => [
      String(token.id),
      token.name,
      words[token.state],
      `${token.used} of ${token.servers}`,
      timeText(token.ends_at),
      token.tags.join(', '),
      token.networks?.join(', ') ?? 'anywhere',
      token.created_by,
    ]),
  )
}

const listOf = (text: string): string[] => text.split(',').map(part => part.trim())

interface AddOptions {
  readonly servers: number
  readonly for: number
  readonly tags?: string
  readonly networks?: string
  readonly plain?: boolean
}
const runAdd = async (name: string, options: AddOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const newToken = await client.call('POST /servers/enrolment-tokens', {
    body: {
      name,
      servers: options.servers,
      seconds: options.for,
      ...(options.tags === undefined ? {} : { tags: listOf(options.tags) }),
      ...(options.networks === undefined ? {} : { networks: listOf(options.networks) }),
    },
  })
  if (json) return printJson(newToken)
  print(safe(newToken.install_command))
  if (options.plain) return
  print(`\nIt enrols ${newToken.servers} servers until ${timeText(newToken.ends_at)}, and is shown only now.`)
}
const runShow = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await tokenNamed(client, typed)
  const token = await client.call('GET /servers/enrolment-tokens/{id}', { params: { id } })
  if (json) return printJson(token)
  print(`${safe(token.name)}: ${words[token.state]}, ${token.used} of ${token.servers} used.`)
  if (token.state === 'suspended') print(`${safe(token.created_by)}, who made it, may not add servers any more.`)
  if (token.refused_at !== null)
    print(
      `Refused ${token.refused} times, at ${timeText(token.refused_at)} for ${safe(token.refused_from ?? '')} last.`,
    )
  printTable(
    ['SERVER', 'ADDRESS', 'ENROLLED', 'ID'],
    token.enrolled.map(({ hostname, ip, enrolled_at, server_id }) => [hostname, ip, timeText(enrolled_at), server_id]),
  )
}
const runRevoke = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await tokenNamed(client, typed)
  const token = await client.call('DELETE /servers/enrolment-tokens/{id}', { params: { id } })
  printEither(json, token, `${safe(token.name)} enrols nothing any more. ${token.used} servers that it enrolled stay.`)
}

/** `stockade servers tokens`. */
export const addEnrolmentTokens = (servers: Command): void => {
  const tokens = servers
    .command('tokens')
    .description('tokens that enrol many hosts: list, add, show and revoke them')
    .action(runList)
  tokens.command('list').description('the same as without a word').action(runList)
  tokens
    .command('add')
    .description('make a token; prints the command that enrols a host with it, once')
    .argument('<name>', 'how it is called, such as the machines that it is for')
    .requiredOption('--servers <number>', 'how many servers it may enrol', wholeOf)
    .option('--for <span>', 'how long it enrols, such as 12h or 30d (default: a day)', durationOf, 86_400)
    .option('--tags <a,b>', 'tags that these servers get')
    .option('--networks <a,b>', 'addresses and networks from which it is taken')
    .option('--plain', 'the command alone, for scripts')
    .action(runAdd)
  tokens
    .command('show')
    .description('who enrolled with a token')
    .argument('<name-or-id>', 'its name, or its id')
    .action(runShow)
  tokens
    .command('revoke')
    .description('end a token; servers that it enrolled stay')
    .argument('<name-or-id>', 'its name, or its id')
    .action(runRevoke)
}
