import { commandTypeOf } from './command-type.ts'
import { address } from './params.ts'

export const approveWhitelist = commandTypeOf({
  type: 'approve-whitelist',
  documentation: 'Approves a wide range of the whitelist on a server that demands an approval.',
  permission: 'write',
  params: { ip: address },
})
