import { commandTypeOf } from './command-type.ts'
import { address, jailOrAll } from './params.ts'

export const unbanIp = commandTypeOf({
  type: 'unban-ip',
  documentation: 'Lifts the bans of an address or range in one jail, or in every jail and the shield.',
  permission: 'write',
  params: { jail: jailOrAll, ip: address },
})
