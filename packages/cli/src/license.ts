import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { printFields, printJson } from './print.ts'

const serversOf = (text: string): number => {
  const servers = Number(text)
  if (!/^\d{1,7}$/.test(text) || servers < 1) throw new InvalidArgumentError('must be a number of servers, from 1.')
  return servers
}

export const addLicense = (program: Command): void => {
  program
    .command('license')
    .description('the licence of this installation')
    .command('self')
    .description('issue a Pro licence of this installation itself, and activate it')
    .requiredOption('--servers <number>', 'servers that the licence covers', serversOf)
    .action(async ({ servers }: { servers: number }, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('POST /settings/license/self', { body: { servers } })
      if (json) return printJson(reply)
      printFields([
        ['tier', reply.tier],
        ['servers', reply.server_limit],
        ['result', reply.message],
      ])
    })
}
