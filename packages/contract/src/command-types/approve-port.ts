import { commandTypeOf } from './command-type.ts'
import { portNumber } from './params.ts'

export const approvePort = commandTypeOf({
  type: 'approve-port',
  documentation: 'Approves on a server that port knocking closes a port, where the server demands an approval.',
  permission: 'write',
  params: { port: portNumber },
})
