import { readFileSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { CallInput, Client, Reply } from '@stockade/client'
import { alertSeverities } from '@stockade/contract'
import type { AlertSeverity } from '@stockade/contract'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { printTest } from './steps.ts'
import { timeText } from './times.ts'

type Channel = Reply<'GET /channels/{id}'>
type Preset = CallInput<'POST /channels'>['body']['preset']
interface Field {
  readonly name: string
  readonly value: string
}

/** Looks a channel up by id or name. */
export const findChannel = async (client: Client, typed: string): Promise<Channel> => {
  const { channels } = await client.call('GET /channels')
  const channel = channels.find(({ id, name }) => id === typed || name.toLowerCase() === typed.toLowerCase())
  if (!channel) throw new Failure(`There is no channel ${typed}. "stockade channels" lists them.`)
  return channel
}
const stateOf = ({ enabled, failing_since }: Channel): string =>
  !enabled ? 'off' : failing_since === null ? 'on' : 'failing'

const runList = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /channels')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'KIND', 'STATE', 'WAITING', 'LAST SENT', 'ERROR'],
    list.channels.map(channel => [
      channel.id,
      channel.name,
      channel.preset,
      stateOf(channel),
      String(channel.waiting),
      timeText(channel.last_sent) ?? '-',
      channel.last_error ?? '',
    ]),
  )
}

const runPresets = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /channels/presets')
  if (json) return printJson(list)
  printTable(
    ['PRESET', 'FIELDS'],
    list.presets.map(({ id, fields }) => [
      id,
      fields.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
    ]),
  )
}

const runAdd = async (
  name: string,
  options: { preset: Preset; field?: readonly Field[]; severity?: readonly AlertSeverity[]; silent?: true },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const severities = options.silent ? [] : options.severity
  const body = {
    ...{ name, preset: options.preset, fields: [...(options.field ?? [])] },
    ...(severities && { severities: [...severities] }),
  }
  const newChannel = await client.call('POST /channels', { body })
  if (json) return printJson(newChannel)
  print(`Channel ${newChannel.id} ${safe(newChannel.name)} is added. Try it: stockade channels test ${newChannel.id}`)
}

const runTest = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findChannel(client, typed)
  await printTest(() => client.call('POST /channels/{id}/test', { params: { id } }), json)
}

const runDeliveries = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findChannel(client, typed)
  const list = await client.call('GET /channels/{id}/deliveries', { params: { id } })
  if (json) return printJson(list)
  printTable(
    ['TIME', 'OUTCOME', 'TRY', 'ANSWER', 'TITLE'],
    list.deliveries.map(({ at, outcome, attempt, detail, title }) => [
      timeText(at) ?? '-',
      outcome,
      String(attempt),
      detail,
      title,
    ]),
  )
}

interface ChangeOptions {
  readonly rename?: string
  readonly field?: readonly Field[]
  readonly on?: boolean
  readonly off?: boolean
}
const runChange = async (typed: string, options: ChangeOptions, command: Command): Promise<void> => {
  const { rename, field, on, off } = options
  if (on && off) throw new Misuse('Give --on or --off, not both.')
  const body = {
    ...(rename === undefined ? {} : { name: rename }),
    ...(field === undefined ? {} : { fields: [...field] }),
    ...(on || off ? { enabled: on === true } : {}),
  }
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --off.')
  const { client, json } = contextOf(command)
  const { id } = await findChannel(client, typed)
  const done = await client.call('PATCH /channels/{id}', { params: { id }, body })
  printEither(json, done, `Channel ${done.id} ${safe(done.name)} is ${stateOf(done)}.`)
}

const runRemove = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name } = await findChannel(client, typed)
  const done = await client.call('DELETE /channels/{id}', { params: { id } })
  printEither(json, done, `Channel ${id} ${safe(name)} is deleted.`)
}

/** `name=value`, or `name=@FILE` for secrets that must not be seen among the processes. */
const fieldOf = (typed: string, before: readonly Field[] = []): readonly Field[] => {
  const [, name, text] = /^([a-z_]+)=([^]*)$/.exec(typed) ?? []
  if (name === undefined || text === undefined) throw new Misuse('A field is NAME=VALUE, or NAME=@FILE.')
  if (!text.startsWith('@')) return [...before, { name, value: text }]
  try {
    return [...before, { name, value: readFileSync(text.slice(1), 'utf8').trim() }]
  } catch {
    throw new Failure(`${text.slice(1)} can't be read.`)
  }
}

export const addChannelCommands = (program: Command): void => {
  const channels = program
    .command('channels')
    .description('Where alerts go; without a command, lists the channels.')
    .action(runList)
  channels.command('list').description('List the channels.').action(runList)
  channels.command('presets').description('List the kinds of channels and their fields.').action(runPresets)
  channels
    .command('add')
    .argument('<name>', 'name of the channel')
    .description('Add a channel.')
    .requiredOption('--preset <preset>', 'kind of the channel, such as ntfy; see "channels presets"')
    .option('--field <name=value...>', 'a value of the preset; NAME=@FILE reads it from a file', fieldOf)
    .addOption(
      new Option('--severity <severity...>', 'alerts that it gets; critical ones and warnings unless given').choices(
        alertSeverities,
      ),
    )
    .option('--silent', 'no alerts, until a route names it')
    .action(runAdd)
  const channelCommand = (name: string, description: string) =>
    channels.command(name).argument('<channel>', 'id or name of the channel').description(description)
  channelCommand('change', 'Change a channel.')
    .option('--rename <name>', 'call it so')
    .option('--field <name=value...>', 'a value of the preset; NAME=@FILE reads it from a file', fieldOf)
    .option('--on', 'send to it')
    .option('--off', 'send nothing to it')
    .action(runChange)
  channelCommand('test', 'Send a test message and show each step.').action(runTest)
  channelCommand('deliveries', 'List the last deliveries with their answers.').action(runDeliveries)
  channelCommand('remove', 'Delete a channel.').action(runRemove)
}
