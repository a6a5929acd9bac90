import type { Command } from 'commander'
import type { Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { print, printFields, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { shown } from './times.ts'

type Address = Reply<'GET /agents/address'>

/** Servers in the table; `--json` has all of what one answer holds. */
const maxRows = 100

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
    ['ordered', `${shown(address.ordered_at) ?? '-'} by ${safe(address.ordered_by ?? '-')}`],
    ['servers', countsOf(address)],
  ])
  printTable(
    ['SERVER', 'STATE', 'SINCE', 'REASON'],
    servers.map(({ server, state, reason, changed_at }) => [
      safe(server.hostname),
      state,
      shown(changed_at) ?? '-',
      safe(reason ?? ''),
    ]),
  )
}

const order = async (url: string | null, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const address = await client.call('PUT /agents/address', { body: { url } })
  if (json) return printJson(address)
  if (address.url === null) return print('Agents that did not move yet stay where they are.')
  print(`Agents are ordered to ${safe(address.url)}: ${countsOf(address)}.`)
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
    .action((url: string, _options: object, command: Command) => order(url, command))
  agents
    .command('stay')
    .description('Withdraw the order; agents that moved stay at the new address.')
    .action((_options: object, command: Command) => order(null, command))
}
