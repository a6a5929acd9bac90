import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'
import { jailParam } from './params.ts'

export const jailDisable = commandTypeOf({
  type: 'jail-disable',
  documentation: 'Stops a jail and disables it. Its bans leave the firewall.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: jailParam,
})
