import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { places, send, targetsAsked } from './orders.ts'
import type { Where } from './orders.ts'
import { wholeOf } from './times.ts'

const order = async (options: Where, command: Command, approval: Parameters<typeof send>[3]): Promise<void> => {
  const context = contextOf(command)
  await send(context, options, await targetsAsked(context.client, options), approval)
}

/** Approvals of what a server holds by desired state, for servers that want it signed: they carry a signature and do nothing else. */
export const addApprovals = (program: Command): void => {
  const approve = program
    .command('approve')
    .description('approve, by signature, what some servers hold only if an operator signed it')

  places(
    approve
      .command('whitelist')
      .description('approve a wide whitelist entry')
      .argument('<range>', 'the range as the whitelist has it'),
  )
    .option('--yes', 'yes, sign it')
    .action((ip: string, options: Where, command: Command) =>
      order(options, command, { type: 'approve-whitelist', params: { ip } }),
    )

  places(
    approve
      .command('ban')
      .description('approve a wide range of fleet bans and blocklists')
      .argument('<range>', 'the range as the fleet ban or the list has it'),
  )
    .option('--yes', 'yes, sign it')
    .action((ip: string, options: Where, command: Command) =>
      order(options, command, { type: 'approve-ban', params: { ip } }),
    )

  places(
    approve
      .command('port')
      .description('approve a port that knocking closes')
      .argument('<port>', 'the port, 1 to 65535', wholeOf),
  )
    .option('--yes', 'yes, sign it')
    .action((port: number, options: Where, command: Command) =>
      order(options, command, { type: 'approve-port', params: { port } }),
    )
}
