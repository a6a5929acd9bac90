import { Option } from 'commander'
import type { Command } from 'commander'
import type { CallInput, Client, Reply } from '@stockade/client'
import { alertSeverities } from '@stockade/contract'
import type { AlertSeverity } from '@stockade/contract'
import { hoursOf } from './alert-rules.ts'
import { findChannel } from './channels.ts'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { isTargeted, targetOf, whereOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { wholeOf } from './times.ts'

type Route = Reply<'GET /alerts/routes'>['routes'][number]
type RouteInput = CallInput<'PUT /alerts/routes'>['body']['routes'][number]

interface RouteOptions extends TargetOptions {
  readonly channel: readonly string[]
  readonly severity?: readonly AlertSeverity[]
  readonly rule?: readonly string[]
  readonly hours?: NonNullable<Route['hours']>
}

const anyOf = (values: readonly string[]): string => (values.length > 0 ? values.join(', ') : 'any')

/** More rules than this are only counted. */
const mostNamed = 5

const runList = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /alerts/routes')
  if (json) return printJson(list)
  if (list.routes.length + list.switches.length === 0)
    return print('There are no routes: alerts are in the dashboard only.')
  const { channels } = await client.call('GET /channels')
  const nameOf = (id: string): string => channels.find(channel => channel.id === id)?.name ?? id
  printTable(
    ['NO', 'SEVERITY', 'RULES', 'WHERE', 'HOURS', 'CHANNELS'],
    [...list.routes, ...list.switches].map((route, index) => [
      // What the switches of chat and e-mail add has no number: it is changed by `settings set`.
      index < list.routes.length ? String(index + 1) : 'switch',
      anyOf(route.severities),
      route.rules.length > mostNamed ? `${route.rules.length} rules` : anyOf(route.rules),
      whereOf(route),
      route.hours ? `${route.hours.from}-${route.hours.to}` : 'always',
      route.channels.map(nameOf).join(', '),
    ]),
  )
}

/** The API takes all routes at once. A route that is given back keeps its servers. */
const inputOf = ({ target, ...rest }: Route): RouteInput => ({ ...rest, target: target.all ? { all: true } : target })
const change = async (
  client: Client,
  edit: (routes: readonly RouteInput[]) => readonly RouteInput[],
): Promise<Reply<'PUT /alerts/routes'>> => {
  const { routes } = await client.call('GET /alerts/routes')
  return client.call('PUT /alerts/routes', { body: { routes: [...edit(routes.map(inputOf))] } })
}

const runAdd = async (options: RouteOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const route: RouteInput = {
    severities: [...(options.severity ?? [])],
    rules: [...(options.rule ?? [])],
    hours: options.hours ?? null,
    channels: await Promise.all(options.channel.map(async typed => (await findChannel(client, typed)).id)),
    ...(isTargeted(options) ? { target: await targetOf(client, options) } : {}),
  }
  const done = await change(client, routes => [...routes, route])
  printEither(json, done, `Route ${done.routes.length} is added.`)
}

const runRemove = async (number: number, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const done = await change(client, routes => {
    if (number > routes.length) throw new Failure(`There is no route ${number}. See: stockade alerts routes`)
    return routes.filter((_, index) => index !== number - 1)
  })
  printEither(json, done, `Route ${number} is removed. ${done.routes.length} are left.`)
}

/** `stockade alerts routes …` */
export const addAlertRouteCommands = (alerts: Command): void => {
  const routes = alerts.command('routes').description('List which alerts go to which channels.').action(runList)
  withTarget(routes.command('add').description('Send alerts to channels; all of them unless narrowed.'))
    .requiredOption('--channel <name-or-id...>', 'channels that get them')
    .addOption(new Option('--severity <severity...>', 'only alerts of these severities').choices(alertSeverities))
    .option('--rule <rule...>', 'only alerts of these rules, by their ids')
    .option('--hours <hours>', 'only in these hours, such as 8-18', hoursOf)
    .action(runAdd)
  routes
    .command('remove')
    .argument('<number>', 'number of the route in the list', wholeOf)
    .description('Remove a route.')
    .action(runRemove)
}
