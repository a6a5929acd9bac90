import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { print, printFields, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { timeText, wholeOf } from './times.ts'
import { patiently } from './wait.ts'

interface MoveOptions {
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}
type Address = Reply<'GET /agents/address'>

/** Servers in the table; `--json` has all of what one answer holds. */
const maxRows = 100
/** How long a move is awaited unless told otherwise, in seconds: a trial takes ten minutes. */
const patience = 3600

const countsOf = ({ counts }: Address): string =>
  (['moved', 'trying', 'waiting', 'failed'] as const)
    .flatMap(state => (counts[state] > 0 ? [`${counts[state]} ${state}`] : []))
    .join(', ') || 'no servers'

const runAddress = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const address = await client.call('GET /agents/address')
  const { servers } = await client.call('GET /agents/address/servers', { query: { limit: maxRows } })
  if (json) return printJson({ ...address, servers })
  if (address.url === null) return print('Agents are not ordered to another address.')
  printFields([
    ['address', safe(address.url)],
    ['ordered', `${timeText(address.ordered_at) ?? '-'} by ${safe(address.ordered_by ?? '-')}`],
    ['servers', countsOf(address)],
  ])
  printTable(
    ['SERVER', 'STATE', 'SINCE', 'REASON'],
    servers.map(({ server, state, reason, changed_at }) => [
      safe(server.hostname),
      state,
      timeText(changed_at) ?? '-',
      safe(reason ?? ''),
    ]),
  )
}

/** Until every server moved, or failed and is only tried again every ten minutes. */
const untilMoved = async (client: Client, seconds: number): Promise<Address> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const address = await patiently(until, () => client.call('GET /agents/address'))
    const isOver = address.url === null || address.counts.waiting + address.counts.trying === 0 || Date.now() >= until
    if (isOver) return address
    await sleep(Math.min(2000, Math.max(0, until - Date.now())))
  }
}

const runMove = async (url: string, options: MoveOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { dryRun, wait, timeout = patience } = options
  if (dryRun) {
    await client.call('PUT /agents/address', { body: { url, dry_run: true } })
    const { servers } = await client.call('GET /servers')
    const count = servers.filter(({ status }) => status !== 'pending').length
    if (json) return printJson({ dry_run: true, url, servers: count })
    return print(`Would order ${count} servers to ${safe(url)}. Nothing was done.`)
  }
  const ordered = await client.call('PUT /agents/address', { body: { url } })
  const address = wait ? await untilMoved(client, timeout) : ordered
  if (json) printJson(address)
  else if (address.url === null) print('The order was withdrawn meanwhile.')
  else print(`Agents are ordered to ${safe(address.url)}: ${countsOf(address)}.`)
  const { waiting, trying, failed } = address.counts
  if (wait && (address.url === null || waiting + trying + failed > 0)) throw new Failure('Not every server moved.')
}

const runStay = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const address = await client.call('PUT /agents/address', { body: { url: null } })
  if (json) return printJson(address)
  print('Agents that did not move yet stay where they are.')
}

export const addAddressCommands = (agents: Command): void => {
  agents
    .command('address')
    .description('Show the address that agents are ordered to use, and how far each server is.')
    .action(runAddress)
  agents
    .command('move')
    .argument('<url>', 'base URL of this same server')
    .description(
      'Order all agents to another address of this server; the same one again lets those that failed try at once.',
    )
    .option('--dry-run', 'only say whether the URL is accepted, and how many servers it would concern')
    .option('--wait', 'until each server moved or failed')
    .option('--timeout <seconds>', `longest wait, ${patience} unless given`, wholeOf)
    .action(runMove)
  agents.command('stay').description('Withdraw the order; agents that moved stay at the new address.').action(runStay)
}
