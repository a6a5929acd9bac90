import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'
import { jailParam } from './params.ts'

export const jailReload = commandTypeOf({
  type: 'jail-reload',
  documentation: 'Reloads the configuration of a jail. Starts the jail if it does not run.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: jailParam,
})
