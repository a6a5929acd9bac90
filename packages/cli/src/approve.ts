import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { places, send, targetsAsked } from './orders.ts'
import type { Where } from './orders.ts'
import { wholeOf } from './times.ts'

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
    .action(async (ip: string, options: Where, command: Command) => {
      const context = contextOf(command)
      await send(context, options, await targetsAsked(context.client, options), {
        type: 'approve-whitelist',
        params: { ip },
      })
    })

  places(
    approve
      .command('port')
      .description('approve a port that knocking closes')
      .argument('<port>', 'the port, 1 to 65535', wholeOf),
  )
    .option('--yes', 'yes, sign it')
    .action(async (port: number, options: Where, command: Command) => {
      const context = contextOf(command)
      await send(context, options, await targetsAsked(context.client, options), {
        type: 'approve-port',
        params: { port },
      })
    })
}
