import { Type } from 'typebox'
import { times } from '../limits.ts'
import { field, nullable } from '../shapes.ts'
import { commandTypeOf } from './command-type.ts'

const digest = (description: string) =>
  field(Type.Optional(nullable(Type.String({ pattern: '^[0-9a-f]{64}$' }))), description)

export const upgradeAgent = commandTypeOf({
  type: 'upgrade-agent',
  documentation:
    'Installs the release of Stockade on the server, which verifies it by the release keys that it trusts, and puts the release before back unless Stockade answers the new agent. `POST /agents/rollouts` does it for many servers, a few first.',
  permission: 'admin',
  stepUp: true,
  expiresAfter: () => times.commandTtlShort,
  params: {
    version: field(
      Type.String({ pattern: '^[0-9][0-9A-Za-z.+-]*$', maxLength: 80, examples: ['0.2.0'] }),
      'Version of the release; with `rollback`, the name of the release that the server returns to.',
    ),
    manifest_sha256: digest('SHA-256 of the signed manifest, in hex.'),
    program_sha256: digest('SHA-256 of the program, in hex, for servers that accept releases that nobody signed.'),
    rollback: field(
      Type.Optional(Type.Boolean()),
      'Return to the release before, which the server kept. Nothing is fetched.',
    ),
  },
})
