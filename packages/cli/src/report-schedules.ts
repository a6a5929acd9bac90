import { Argument, InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { CallInput, Client, Reply } from '@stockade/client'
import { findChannel } from './channels.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { isTargeted, targetOf, whereOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { timeText, wholeOf } from './times.ts'

type Schedule = Reply<'GET /reports/schedules'>['schedules'][number]
type Changes = NonNullable<CallInput<'PATCH /reports/schedules/{id}'>['body']>

interface ScheduleOptions extends TargetOptions {
  readonly period?: Schedule['period']
  readonly hour?: number
  readonly weekday?: number
  readonly day?: number
  readonly timezone?: string
  readonly to?: readonly string[]
  readonly channel?: readonly string[]
}

export const periods = ['day', 'week', 'month'] as const
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const hourOf = (text: string): number => {
  if (!/^\d{1,2}$/.test(text) || Number(text) > 23) throw new InvalidArgumentError('Give an hour from 0 to 23.')
  return Number(text)
}
const whenOf = ({ period, hour, weekday, day, timezone }: Schedule): string => {
  const on = { day: 'each day', week: `each ${weekdays[weekday - 1] ?? ''}`, month: `day ${day} of each month` }[period]
  return `${on} at ${hour}:00${timezone ? ` ${timezone}` : ''}`
}

/** Only what is typed; the server knows the rest. */
const changesOf = async (client: Client, options: ScheduleOptions): Promise<Changes> => {
  const { period, hour, weekday, day, timezone, to, channel } = options
  const changes: Changes = {
    period,
    hour,
    weekday,
    day,
    timezone,
    recipients: to && [...to],
    channels: channel && (await Promise.all(channel.map(async typed => (await findChannel(client, typed)).id))),
    target: isTargeted(options) ? await targetOf(client, options) : undefined,
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}
const scheduleNamed = async (client: Client, typed: string): Promise<Schedule> => {
  const { schedules } = await client.call('GET /reports/schedules')
  const schedule = schedules.find(({ id, name }) => String(id) === typed || name.toLowerCase() === typed.toLowerCase())
  if (!schedule) throw new Failure(`There is no schedule ${typed}. See: stockade schedules`)
  return schedule
}

const runList = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /reports/schedules')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'WHEN', 'WHERE', 'TO', 'NEXT', 'ERROR'],
    list.schedules.map(schedule => [
      String(schedule.id),
      schedule.name,
      whenOf(schedule),
      whereOf(schedule),
      [...schedule.recipients, ...schedule.channels.map(id => `channel ${id}`)].join(', ') ||
        (schedule.builtin ? '-' : 'e-mail settings'),
      timeText(schedule.next_at) ?? 'off',
      schedule.last_error,
    ]),
  )
}
const runAdd = async (
  period: Schedule['period'],
  name: string,
  options: ScheduleOptions,
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = { ...(await changesOf(client, options)), name, period }
  const schedule = await client.call('POST /reports/schedules', { body })
  if (json) printJson(schedule)
  else
    print(
      `Schedule ${schedule.id} ${safe(schedule.name)}: ${whenOf(schedule)}. Next: ${timeText(schedule.next_at) ?? 'off'}`,
    )
}
const runChange = async (typed: string, options: ScheduleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = await changesOf(client, options)
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --hour 8.')
  const { id } = await scheduleNamed(client, typed)
  const schedule = await client.call('PATCH /reports/schedules/{id}', { params: { id }, body })
  printEither(json, schedule, `${safe(schedule.name)}: ${whenOf(schedule)}.`)
}
const switching = (enabled: boolean) => async (typed: string, _options: object, command: Command) => {
  const { client, json } = contextOf(command)
  const { id } = await scheduleNamed(client, typed)
  const schedule = await client.call('PATCH /reports/schedules/{id}', { params: { id }, body: { enabled } })
  printEither(json, schedule, `${safe(schedule.name)} is ${enabled ? 'on' : 'off'}.`)
}
const runSend = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await scheduleNamed(client, typed)
  const done = await client.call('POST /reports/schedules/{id}/test', { params: { id } })
  printEither(json, done, safe(done.message))
}
const runRemove = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await scheduleNamed(client, typed)
  const done = await client.call('DELETE /reports/schedules/{id}', { params: { id } })
  printEither(json, done, safe(done.message))
}

const withSettings = (command: Command): Command =>
  withTarget(command)
    .option('--hour <hour>', 'hour at which it is sent (default: 7)', hourOf)
    .option('--weekday <number>', 'day of a weekly report; 1 is Monday (default: 1)', wholeOf)
    .option('--day <number>', 'day of a monthly report (default: 1)', wholeOf)
    .option('--timezone <name>', 'its time zone; that of the settings unless given')
    .option('--to <address...>', 'e-mail addresses')
    .option('--channel <name-or-id...>', 'channels')

/** `stockade schedules …` */
export const addScheduleCommands = (program: Command): void => {
  const schedules = program
    .command('schedules')
    .description('reports that are sent by themselves; without a command, lists their schedules')
    .action(runList)
  const scheduleCommand = (name: string, description: string) =>
    schedules.command(name).description(description).argument('<name-or-id>', 'its name, or its id')
  withSettings(schedules.command('add').description('send a report each day, week or month'))
    .addArgument(new Argument('<period>', 'day, week or month').choices(periods))
    .argument('<name>', 'how it is called')
    .action(runAdd)
  withSettings(scheduleCommand('change', 'change a schedule')).action(runChange)
  scheduleCommand('on', 'switch it on').action(switching(true))
  scheduleCommand('off', 'switch it off').action(switching(false))
  scheduleCommand('send', 'send the report of the last complete period now').action(runSend)
  scheduleCommand('remove', 'delete a schedule').action(runRemove)
}
