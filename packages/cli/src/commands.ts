import { Option } from 'commander'
import type { Command } from 'commander'
import type { Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { addCommandFigures } from './figures.ts'
import { findServer } from './named.ts'
import { print, printFields, printJson, printPlace, printTable } from './print.ts'
import { withPage, withPeriod } from './rows.ts'
import type { PageOptions, PeriodOptions } from './rows.ts'
import { safeLines } from './safe.ts'
import { timeText } from './times.ts'

type One = Reply<'GET /commands/{commandId}'>
const statuses = ['pending', 'running', 'completed', 'failed', 'timeout'] as const satisfies readonly One['status'][]

const paramsOf = (params: One['params']) =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
const stateOf = (command: One) => (command.cancelled ? 'cancelled' : command.status)

interface ListOptions extends PeriodOptions, PageOptions {
  readonly server?: string
  readonly status?: One['status']
  /** The server says which types there are. */
  readonly type?: One['type']
  readonly batch?: string
}

export const addCommandCommands = (program: Command): void => {
  const commands = program
    .command('commands')
    .description('list commands, newest first')
    .option('--server <name-or-id>', 'for this server')
    .addOption(new Option('--status <status>', 'only these').choices([...statuses]))
    .option('--type <type>', 'only of this type, such as ban-ip')
    .option('--batch <id>', 'only of this batch')
  withPage(withPeriod(commands)).action(async (options: ListOptions, command: Command) => {
    const { client, json } = contextOf(command)
    const { server, batch, type, ...query } = options
    const list = await client.call('GET /commands', {
      query: {
        ...query,
        ...(type === undefined ? {} : { type }),
        ...(batch === undefined ? {} : { batch_id: batch }),
        ...(server === undefined ? {} : { server_id: await findServer(client, server) }),
      },
    })
    if (json) return printJson(list)
    printTable(
      ['TYPE', 'SERVER', 'STATUS', 'PARAMETERS', 'BY', 'CREATED', 'ID'],
      list.commands.map(one => [
        one.type,
        one.server.hostname,
        stateOf(one),
        paramsOf(one.params),
        one.initiated_by,
        timeText(one.created_at),
        one.id,
      ]),
    )
    printPlace('commands', list, list.commands.length)
  })

  addCommandFigures(commands)
  commands
    .command('cancel')
    .description('cancel commands that wait: no host gets them; exit 1 unless all are cancelled')
    .argument('<id...>', 'their ids')
    .action(async (ids: string[], _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('POST /commands/cancel', { body: { ids } })
      const { length } = reply.commands
      if (json) printJson(reply)
      else {
        printTable(
          ['COMMAND', 'STATUS', 'WHY NOT'],
          reply.commands.map(({ id, cancelled, status, error }) => [id, cancelled ? 'cancelled' : status, error]),
        )
        print(`\n${reply.cancelled} of ${length} cancelled.`)
      }
      if (reply.cancelled < length)
        throw new Failure(
          `${length - reply.cancelled} of ${length} ${length - reply.cancelled === 1 ? 'was' : 'were'} not cancelled.`,
        )
    })

  program
    .command('command')
    .description('show one command and its output')
    .argument('<id>')
    .action(async (commandId: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const one = await client.call('GET /commands/{commandId}', { params: { commandId } })
      if (json) return printJson(one)
      printFields([
        ['id', one.id],
        ['type', one.type],
        ['server', one.server.hostname],
        ['parameters', paramsOf(one.params)],
        ['status', stateOf(one)],
        ['by', one.initiated_by],
        ['created', timeText(one.created_at)],
        ['handed out', timeText(one.started_at)],
        ['ended', timeText(one.completed_at)],
        ['exit code', one.result?.exit_code ?? null],
        ...(one.batch_id === null ? [] : [['batch', one.batch_id] as const]),
        ...(one.retry_of === null ? [] : [['retry of', one.retry_of] as const]),
      ])
      if (one.result?.output) print(`\n${safeLines(one.result.output.trimEnd())}`)
    })
}
