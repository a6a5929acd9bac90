import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { contentOf } from './content.ts'
import { contextOf } from './context.ts'
import { printFields, printJson } from './print.ts'
import { printReply } from './printed.ts'

const serversOf = (text: string): number => {
  const servers = Number(text)
  if (!/^\d{1,7}$/.test(text) || servers < 1) throw new InvalidArgumentError('must be a number of servers, from 1.')
  return servers
}

const runShow = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const license = await client.call('GET /settings/license')
  if (json) printJson(license)
  else printReply(license)
}
/** The key comes from a file: as an argument it would be visible in the process list. */
const runInstall = async (file: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const license_key = (await contentOf(file)).trim()
  const reply = await client.call('POST /settings/license', { body: { license_key } })
  if (json) printJson(reply)
  else printReply(reply)
}

export const addLicense = (program: Command): void => {
  const license = program.command('license').description('the licence of this installation')
  license.command('show').description('show it').action(runShow)
  license
    .command('install')
    .description('activate a licence key')
    .argument('<file>', 'a file with the key, or - for standard input')
    .action(runInstall)
  license
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
