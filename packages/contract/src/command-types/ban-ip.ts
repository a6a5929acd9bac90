import { Type } from 'typebox'
import { jailName } from '../common.ts'
import { field } from '../shapes.ts'
import { commandTypeOf } from './command-type.ts'
import { banSeconds, bannableAddress, cutOption, reasonText } from './params.ts'

export const banIp = commandTypeOf({
  type: 'ban-ip',
  documentation: 'Bans an address or range in a jail, or with the jail `stockade` in the shield of the server.',
  permission: 'write',
  // A ban of ten minutes is pointless after ten minutes.
  expiresAfter: ({ duration }) => (duration !== undefined && duration > 0 ? duration : null),
  params: {
    jail: jailName,
    ip: bannableAddress,
    duration: Type.Optional(banSeconds),
    reason: Type.Optional(reasonText),
    force: field(
      Type.Optional(Type.Boolean()),
      "Also bans loopback, a managed server's address and the caller's own address.",
    ),
    cut: cutOption,
  },
})
