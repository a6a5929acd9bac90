import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'

export const reloadAll = commandTypeOf({
  type: 'reload-all',
  documentation: 'Reloads the configuration of all jails.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: {},
})
