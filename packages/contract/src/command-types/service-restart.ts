import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'

export const serviceRestart = commandTypeOf({
  type: 'service-restart',
  documentation: 'Restarts fail2ban and waits until all jails run again.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: {},
})
