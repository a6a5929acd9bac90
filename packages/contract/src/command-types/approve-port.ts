import { commandTypeOf } from './command-type.ts'
import { portNumber } from './params.ts'

export const approvePort = commandTypeOf({
  type: 'approve-port',
  documentation: 'Approves on a host that port knocking closes a port, where the host demands an approval.',
  permission: 'write',
  params: { port: portNumber },
})
