import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { addJailPreview } from './jail-preview.ts'
import { places, send, targetsAsked } from './orders.ts'
import type { Where } from './orders.ts'
import { agreeToUnguard } from './ssh.ts'

export const addJailCommands = (program: Command): void => {
  const jails = program.command('jails').description('switch jails on and off, and preview other settings')
  addJailPreview(jails)

  places(
    jails
      .command('enable')
      .description('switch a jail on that the hosts have')
      .argument('<jail>', 'its name, as fail2ban knows it'),
  ).action(async (jail: string, options: Where, command: Command) => {
    const context = contextOf(command)
    await send(context, options, await targetsAsked(context.client, options), { type: 'jail-enable', params: { jail } })
  })

  places(
    jails
      .command('disable')
      .description('switch a jail off: it bans nobody until it is on again')
      .argument('<jail>', 'its name, as fail2ban knows it'),
  )
    .option('--yes', 'yes, also where it guards SSH')
    .action(async (jail: string, options: Where & { yes?: boolean }, command: Command) => {
      const context = contextOf(command)
      const targets = await targetsAsked(context.client, options)
      if (!options.yes) await agreeToUnguard(context.client, 'jail', jail, targets)
      await send(context, options, targets, { type: 'jail-disable', params: { jail } })
    })
}
