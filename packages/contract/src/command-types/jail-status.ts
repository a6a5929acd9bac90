import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'
import { jailParam } from './params.ts'

export const jailStatus = commandTypeOf({
  type: 'jail-status',
  documentation: 'Reports the state of a jail: the output is JSON with its options, counts and banned addresses.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: jailParam,
})
