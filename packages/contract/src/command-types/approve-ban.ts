import { commandTypeOf } from './command-type.ts'
import { address } from './params.ts'

export const approveBan = commandTypeOf({
  type: 'approve-ban',
  documentation:
    'Approves a wide range of the fleet bans and blocklists on a server that demands an approval: one wider than /24 of IPv4 or /48 of IPv6.',
  permission: 'write',
  params: { ip: address },
})
