import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'
import { jailParam } from './params.ts'

export const jailEnable = commandTypeOf({
  type: 'jail-enable',
  documentation: 'Enables a jail and starts it.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: jailParam,
})
