import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { findServer } from './named.ts'
import { print, printJson } from './print.ts'

/** What to do about a host that is in wrong hands. */
export const addQuarantine = (servers: Command): void => {
  servers
    .command('quarantine')
    .description('refuse what a server reports and withhold its commands, until it is released')
    .argument('<name-or-id>', 'its hostname or id')
    .requiredOption('--reason <text>', 'why, for whoever finds it so')
    .action(async (typed: string, { reason }: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command)
      const params = { serverId: await findServer(client, typed) }
      const reply = await client.call('POST /servers/{serverId}/quarantine', { params, body: { reason } })
      if (json) return printJson(reply)
      print(reply.message)
    })
  servers
    .command('release')
    .description('take a server out of quarantine')
    .argument('<name-or-id>', 'its hostname or id')
    .action(async (typed: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('DELETE /servers/{serverId}/quarantine', {
        params: { serverId: await findServer(client, typed) },
      })
      if (json) return printJson(reply)
      print(reply.message)
    })
  servers
    .command('settle')
    .description('send commands again to a server that two hosts reported for')
    .argument('<name-or-id>', 'its hostname or id')
    .action(async (typed: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const params = { serverId: await findServer(client, typed) }
      const reply = await client.call('DELETE /servers/{serverId}/clone', { params })
      if (json) return printJson(reply)
      print(reply.message)
    })
  servers
    .command('forget')
    .description('delete what a server in quarantine has reported since a moment; it can not be undone')
    .argument('<name-or-id>', 'its hostname or id')
    .requiredOption('--since <time>', 'ISO 8601, such as 2026-11-20T09:30:00Z')
    .action(async (typed: string, { since }: { since: string }, command: Command) => {
      const { client, json } = contextOf(command)
      const params = { serverId: await findServer(client, typed) }
      const reply = await client.call('POST /servers/{serverId}/forget-reports', { params, body: { since } })
      if (json) return printJson(reply)
      print(reply.message)
    })
}
