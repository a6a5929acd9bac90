import type { Command } from 'commander'
import { ApiError } from '@stockade/client'
import type { Reply } from '@stockade/client'
import { bounds } from '@stockade/contract/limits.ts'
import { agree, namesOf } from './ask.ts'
import { contextOf } from './context.ts'
import type { Context } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { hostnamesOf } from './hostnames.ts'
import { serverNamed } from './named.ts'
import { beginTable, print, printJson } from './print.ts'
import { safe } from './safe.ts'
import { patiently } from './wait.ts'

type Known = Reply<'GET /servers/summary'>['servers'][number]

/** A server that was made, or got a new token: the command is shown this once. */
interface Made {
  readonly hostname: string
  readonly id: string
  readonly install_command: string
  readonly renewed: boolean
}

const oncePerCommand = 'works once, within 24 hours, and is shown only now.'

/** The error concerns one server only: it is printed, and the others go on. */
class Refusal extends Failure {}
/** What would be refused for each of the others too. */
const concernsAll = new Set([401, 402, 403, 429, 503])
/** How long a server that is busy, or a budget of requests that others use too, is waited for. In milliseconds. */
const patience = 300_000

const tell = (sentence: string): void => {
  process.stderr.write(`stockade: ${safe(sentence)}\n`)
}

/**
 * Does the same for each, one by one, and returns how many failed. Waits when the server's budget of requests demands it.
 * @throws what would meet all the others too, with how far it came.
 */
const forEachInTurn = async (
  hostnames: readonly string[],
  act: (hostname: string, index: number) => Promise<void>,
): Promise<number> => {
  let failed = 0
  const count = hostnames.length
  for (const [index, hostname] of hostnames.entries())
    try {
      await patiently(
        Date.now() + patience,
        () => act(hostname, index),
        seconds => tell(`${index} of ${count} done. The server asks for a pause of ${seconds} s.`),
      )
    } catch (error) {
      const isExpected = error instanceof ApiError || error instanceof Failure
      if (error instanceof Refusal || (error instanceof ApiError && !concernsAll.has(error.status))) {
        failed++
        tell(`${hostname}: ${error.message}`)
      } else if (isExpected && count > 1) {
        const apart = failed > 0 ? `, ${failed} failed` : ''
        throw new Failure(`${error.message} ${index - failed} of ${count} done${apart}, ${count - index} left.`)
      } else throw error
    }
  return failed
}

/** Prints row by row, so that an interrupted run has printed everything that it made: tokens are shown only once. */
const showing = (json: boolean, plain: boolean, hostnames: readonly string[]) => {
  const all: Made[] = []
  let put: ((row: readonly string[]) => void) | null = null
  return {
    show(made: Made) {
      all.push(made)
      if (plain) print(`${safe(made.hostname)}\t${safe(made.install_command)}`)
      else if (!json) {
        put ??= beginTable(['NAME', 'COMMAND'], [Math.max(...hostnames.map(name => [...name].length))])
        put([made.hostname, made.install_command])
      }
    },
    /** JSON is one document; an interrupted run prints it if it made anything. */
    end(stopped: boolean) {
      if (json && !(stopped && all.length === 0)) printJson(all)
    },
    made: () => all,
  }
}

interface AddOptions {
  readonly from?: string
  readonly description?: string
  readonly renew?: boolean
  readonly plain?: boolean
}

/** The server of that name that waits for its host; null where the name is free, or its host is here already. */
const waitingOne = async (
  { client }: Context,
  named: readonly Known[],
  renew: boolean,
): Promise<Known | 'enrolled' | null> => {
  const [one, other] = named
  if (!one) return null
  if (!other && one.status === 'pending' && !renew)
    throw new Refusal('It is there already, and its agent has not reported yet. --renew makes a new command for it.')
  if (!renew) throw new Refusal('It is there already.')
  if (named.some(({ status }) => status !== 'pending')) return 'enrolled'
  if (other)
    throw new Refusal(
      `${named.length} servers are called so. Take one by its id: stockade servers token ${named.map(({ id }) => id).join(' or ')}`,
    )
  const { install } = await client.call('GET /servers/{serverId}', { params: { serverId: one.id } })
  return install.token_used_at === null ? one : 'enrolled'
}

const printAdded = (made: readonly Made[], asked: number, enrolled: number): void => {
  const added = made.filter(({ renewed }) => !renewed).length
  const parts = [
    `${added} of ${asked} added`,
    ...(made.length > added ? [`${made.length - added} renewed`] : []),
    ...(enrolled > 0 ? [`${enrolled} enrolled already`] : []),
  ]
  print(`${made.length > 0 ? '\n' : ''}${parts.join(', ')}.`)
  if (made.length > 0) print(`${made.length === 1 ? 'The' : 'Each'} command ${oncePerCommand}`)
}

const add = async (context: Context, names: readonly string[], options: AddOptions): Promise<void> => {
  const { client, json } = context
  const { description, renew = false, plain = false } = options
  if (json && plain) throw new Misuse('Give --json or --plain, not both.')
  if (description !== undefined && description.length > bounds.description)
    throw new Misuse(`The description is longer than ${bounds.description} characters.`)
  const hostnames = await hostnamesOf(names, options.from)
  const { servers } = await client.call('GET /servers/summary')
  const serversByName = Map.groupBy(servers, ({ hostname }) => hostname.toLowerCase())
  const output = showing(json, plain, hostnames)
  let enrolled = 0
  let failed: number
  try {
    failed = await forEachInTurn(hostnames, async hostname => {
      const waiting = await waitingOne(context, serversByName.get(hostname.toLowerCase()) ?? [], renew)
      if (waiting === 'enrolled') enrolled++
      else if (waiting) {
        const params = { serverId: waiting.id }
        const { install_command } = await client.call('POST /servers/{serverId}/regenerate-token', { params })
        output.show({ hostname: waiting.hostname, id: waiting.id, install_command, renewed: true })
      } else {
        const body = { hostname, ...(description === undefined ? {} : { description }) }
        const { id, install_command } = await client.call('POST /servers', { body })
        // The API key is for hosts without our agent; a secret without a use does not belong into a file.
        output.show({ hostname, id, install_command, renewed: false })
      }
    })
  } catch (error) {
    output.end(true)
    throw error
  }
  output.end(false)
  if (!json && !plain) printAdded(output.made(), hostnames.length, enrolled)
  if (failed > 0) throw new Failure(`${failed} of ${hostnames.length} ${failed === 1 ? 'was' : 'were'} not added.`)
}

const remove = async ({ client, json }: Context, typed: readonly string[], sure: boolean): Promise<void> => {
  const { servers } = await client.call('GET /servers/summary')
  const targets = [...new Set(typed.map(name => serverNamed(servers, name)))].map(
    id => servers.find(server => server.id === id) ?? { id, hostname: id },
  )
  const { length } = targets
  const [agents, bans, hosts] =
    length === 1
      ? ['Its agent can not', 'Its bans stay', 'the host stays']
      : ['Their agents can not', 'Their bans stay', 'the hosts stays']
  if (!sure)
    await agree(
      `${namesOf(targets)}: ${agents} report any more and commands that wait are cancelled. ${bans} in the history, and what fail2ban has banned on ${hosts} banned.`,
      length === 1 ? 'Delete the server?' : `Delete these ${length} servers?`,
      'Nothing was deleted.',
    )
  const gone: { id: string; hostname: string }[] = []
  let failed: number
  try {
    failed = await forEachInTurn(
      targets.map(({ hostname }) => hostname),
      async (hostname, index) => {
        const { id = '' } = targets[index] ?? {}
        await client.call('DELETE /servers/{serverId}', { params: { serverId: id } })
        gone.push({ hostname, id })
        if (!json) print(`${safe(hostname)} is removed.`)
      },
    )
  } catch (error) {
    if (json && gone.length > 0) printJson(gone)
    throw error
  }
  if (json) printJson(gone)
  if (failed > 0) throw new Failure(`${failed} of ${length} ${failed === 1 ? 'was' : 'were'} not removed.`)
}

const renewToken = async ({ client, json }: Context, typed: string): Promise<void> => {
  const { servers } = await client.call('GET /servers/summary')
  const serverId = serverNamed(servers, typed)
  const server = servers.find(({ id }) => id === serverId)
  const reply = await client.call('POST /servers/{serverId}/regenerate-token', { params: { serverId } })
  if (json) return printJson(reply)
  print(`${safe(reply.install_command)}\n`)
  print(`Run it on ${safe(server?.hostname ?? serverId)}. It ${oncePerCommand} The one before is void.`)
  if (server?.status !== 'pending')
    print('The agent that runs now goes on until the new key is first used, at most 24 hours after it was fetched.')
}

/** What stands below `stockade servers`. */
export const addEnrolment = (servers: Command): void => {
  servers
    .command('add')
    .description('add servers and print for each the command that installs its agent; exit 1 unless all are there')
    .argument('[name...]', 'what the hosts call themselves')
    .option('--from <file>', 'also the names in this file, one a line; - is standard input')
    .option('--description <text>', 'what they do or where they stand; the same for all')
    .option('--renew', 'a new command for those that wait for their host; enrolled ones are left alone')
    .option('--plain', 'a name, a tab and its command a line, for scripts')
    .action((names: string[], options: AddOptions, command: Command) => add(contextOf(command), names, options))

  servers
    .command('remove')
    .description('remove servers; their bans stay in the history')
    .argument('<name-or-id...>', 'their hostnames or ids')
    .option('--yes', 'yes, without being asked')
    .action((names: string[], { yes }: { yes?: boolean }, command: Command) =>
      remove(contextOf(command), names, yes === true),
    )

  servers
    .command('token')
    .description('print a new command that installs the agent of a server; the one before is void')
    .argument('<name-or-id>', 'its hostname or id')
    .action((typed: string, _: object, command: Command) => renewToken(contextOf(command), typed))
}
