import { Type } from 'typebox'
import type { Static } from 'typebox'
import { commandTypeNames, commandTypes, frozenTemplate } from './command-types/index.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { sealBounds, sealTimes } from './seal.ts'
import { count, listOf, message, paging, period, searchText, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const tag = 'Commands'
const params = shape({ commandId: uuid })

export * from './command-types/index.ts'

export const commandType = oneOf(commandTypeNames, { title: 'CommandType' })
export const commandStatus = oneOf(['pending', 'running', 'completed', 'failed', 'timeout'], { title: 'CommandStatus' })
export type CommandStatus = Static<typeof commandStatus>
/** The parameters of each type of command; the API document shows them where a command is sent or returned. */
const documentedAs = Type.Union(
  Object.values(commandTypes).map(({ params }) => params),
  { title: 'CommandParams' },
)
/** Parameters whose type of command stands beside them: the service checks them by `commandTypes`. */
const paramsInput = Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 32, documentedAs })
const paramsReply = Type.Record(Type.String(), Type.Unknown(), { documentedAs })

export const commandResult = resource('CommandResult', {
  success: Type.Boolean(),
  output: Type.String(),
  exit_code: nullable(Type.Integer()),
})
export const command = resource('Command', {
  id: uuid,
  type: commandType,
  server: serverRef,
  params: paramsReply,
  status: commandStatus,
  result: field(nullable(commandResult), 'The result; null while there is none.'),
  initiated_by: field(Type.String(), 'User or API key that queued the command.'),
  retry_of: nullable(uuid),
  batch_id: nullable(uuid),
  cancelled: Type.Boolean(),
  created_at: timestamp,
  started_at: field(nullable(timestamp), 'Time at which the agent fetched the command; null before.'),
  completed_at: field(nullable(timestamp), 'Time at which the command ended; null before.'),
})

export const listCommands = endpoint('GET /commands', {
  tag,
  summary: 'List commands',
  description: 'Newest first.',
  access: 'read',
  query: shape({
    server_id: Type.Optional(uuid),
    status: Type.Optional(commandStatus),
    type: field(Type.Optional(commandType), 'Type of the command.'),
    batch_id: Type.Optional(uuid),
    from: Type.Optional(timestamp),
    to: Type.Optional(timestamp),
    q: searchText,
    ...paging(pages.commands),
  }),
  reply: listOf('commands', command),
})

export const getCommand = endpoint('GET /commands/{commandId}', {
  tag,
  summary: 'Read one command',
  access: 'read',
  params,
  reply: command,
  refusals: [404],
})

export const createCommand = endpoint('POST /servers/{serverId}/commands', {
  tag,
  summary: 'Queue a command for one server',
  description: Object.values(commandTypes)
    .map(({ type, documentation }) => `- \`${type}\`: ${documentation}`)
    .join('\n'),
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  params: shape({ serverId: uuid }),
  body: shape({ type: commandType, params: Type.Optional(paramsInput) }),
  status: 201,
  reply: shape({ id: uuid, type: commandType, status: commandStatus, created_at: timestamp }),
  refusals: [404, 409],
})

const batchFields = {
  server_ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: bounds.commands })),
  type: commandType,
  params: Type.Optional(paramsInput),
  params_list: field(
    Type.Optional(Type.Array(paramsInput, { minItems: 1, maxItems: bounds.batch })),
    'Parameters of several commands; each one is queued for every server.',
  ),
  targets: field(
    Type.Optional(
      Type.Array(resource('CommandTarget', { server_id: uuid, params: Type.Optional(paramsInput) }), {
        minItems: 1,
        maxItems: bounds.targets,
      }),
    ),
    'Servers, each with its own parameters.',
  ),
}
export const createBatch = endpoint('POST /commands/batch', {
  tag,
  summary: 'Queue a command for many servers, or many commands',
  description: `All or nothing: what is wrong with one of them refuses all, and nothing is queued. Either one command for each of \`server_ids\`, with \`params\`; or one for each entry of \`params_list\` on each of \`server_ids\`, at most ${bounds.commands} in all; or one for each of \`targets\`, each with a server and parameters of its own. Templates are deployed and removed with \`params\` only. \`params_index\` is the place in \`params_list\` or \`targets\`, 0 with \`params\`. A ban that is refused (409) is named by its place in \`details\`, up to 100 of them.`,
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  // Thousands of bans, each with a reason.
  bodyLimit: 4 * bounds.body,
  body: shape(batchFields),
  status: 201,
  reply: resource('CommandBatch', {
    batch_id: uuid,
    commands: field(
      Type.Array(
        resource('BatchedCommand', {
          id: uuid,
          server_id: uuid,
          status: commandStatus,
          params_index: field(count, 'Position in `params_list`, `targets` or `statements`; 0 with `params`.'),
        }),
      ),
      'The queued commands.',
    ),
  }),
  refusals: [409],
})

export const cancelCommand = endpoint('DELETE /commands/{commandId}', {
  tag,
  summary: 'Cancel a pending command',
  access: 'write',
  lasts: false,
  forServerKeys: true,
  params,
  reply: message,
  refusals: [404, 409],
})

export const cancelMany = endpoint('POST /commands/cancel', {
  tag,
  summary: 'Cancel many commands',
  description:
    'Those that are still pending never run; each id is answered in the order given, each once. `status` is what the command is in afterwards, null where there is none that the caller may see; `error` says in words why it was not cancelled, and is null where it was.',
  access: 'write',
  lasts: false,
  leaves: null,
  forServerKeys: true,
  body: shape({ ids: field(Type.Array(uuid, { minItems: 1, maxItems: bounds.commands }), 'Ids of the commands.') }),
  reply: shape({
    cancelled: field(count, 'Number of commands that were cancelled.'),
    commands: field(
      Type.Array(
        resource('CancelledCommand', {
          id: uuid,
          cancelled: Type.Boolean(),
          status: field(
            nullable(commandStatus),
            'Status of the command afterwards; null when the caller sees no such command.',
          ),
          error: nullable(Type.String()),
        }),
      ),
      'What became of each command, in the order of the request.',
    ),
  }),
})

export const retryCommand = endpoint('POST /commands/{commandId}/retry', {
  tag,
  summary: 'Queue a failed or timed-out command again',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  params,
  status: 201,
  reply: shape({ id: uuid, type: commandType, status: commandStatus, retry_of: uuid, created_at: timestamp }),
  refusals: [404, 409],
})

export const commandStats = endpoint('GET /commands/stats', {
  tag,
  summary: 'How commands ended',
  access: 'read',
  query: shape({ server_id: Type.Optional(uuid), period: Type.Optional(period) }),
  reply: shape({
    total: field(count, 'Number of commands in the window.'),
    by_status: field(
      resource('CommandCounts', {
        completed: field(count, 'Commands that succeeded.'),
        failed: field(count, 'Commands that failed.'),
        timeout: field(count, 'Commands without an answer in time.'),
        cancelled: field(count, 'Commands that were cancelled.'),
      }),
      'Number of commands for each way to end.',
    ),
    by_type: Type.Record(Type.String(), count),
    avg_execution_time_ms: field(
      nullable(Type.Number()),
      'Mean time from start to end in milliseconds; null when there is none.',
    ),
    success_rate: nullable(Type.Number()),
  }),
})

const base64url = (most: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: most })
const keyFingerprint = Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$', maxLength: 64 })
/** An operator's signature (docs/spec/sealed-commands.md). */
export const signature = Type.Union(
  [
    resource('Ed25519Signature', {
      kind: field(Type.Literal('ed25519'), 'An Ed25519 key.'),
      key: field(keyFingerprint, 'Fingerprint of the public key.'),
      signature: field(base64url(128), 'Signature of the message, in Base64url.'),
    }),
    resource('PasskeySignature', {
      kind: field(Type.Literal('webauthn'), 'A passkey.'),
      key: field(keyFingerprint, 'Fingerprint of the public key.'),
      authenticator_data: field(base64url(8192), 'Authenticator data of the assertion, in Base64url.'),
      client_data: field(base64url(8192), 'Client data of the assertion, in Base64url.'),
      signature: field(base64url(2048), 'Signature of the assertion, in Base64url.'),
    }),
  ],
  { title: 'Signature', discriminator: { propertyName: 'kind' } },
)
export const seal = resource('Seal', {
  statement: field(Type.String(), 'The signed statement of this command.'),
  proof: field(
    Type.Array(Type.String(), { maxItems: sealBounds.proof }),
    'Hashes that prove that the statement belongs to the signed batch.',
  ),
  signature: field(signature, 'The operator signature of the batch.'),
})

/** The version of what a host should hold, for the agent to compare. */
export const desiredState = resource('DesiredState', {
  version: field(Type.String(), 'Opaque version; a different one means that the agent must fetch the state.'),
})

/** A command as an agent gets it; `template` only with `deploy-template` and `template-preview`. */
export const order = resource('AgentCommand', {
  id: uuid,
  type: Type.String(),
  params: paramsReply,
  template: field(
    Type.Optional(frozenTemplate),
    'The template to deploy or to preview; only with `deploy-template` and `template-preview`.',
  ),
  seal: field(Type.Optional(seal), 'The operator signature; only when the command was signed.'),
})
export type Order = Static<typeof order>
export const resultInput = {
  success: Type.Boolean(),
  output: Type.Optional(text(0, bounds.body)),
  exit_code: Type.Optional(nullable(Type.Integer())),
}

export const prepareSealed = endpoint('POST /commands/prepare', {
  tag,
  summary: 'Get what an operator signs for a batch of commands',
  description:
    'Takes what `POST /commands/batch` takes and queues nothing. Servers whose root trusts operators run some commands only with a signature; one signature covers the batch. An Ed25519 key signs `message`; a passkey is asked with `challenge`, the SHA-256 of it. Compare the statements with what you want before you sign. `sealed_servers` names servers that demand it, up to 100.',
  access: 'write',
  lasts: false,
  leaves: null,
  forServerKeys: true,
  bodyLimit: 4 * bounds.body,
  body: shape({
    ...batchFields,
    valid_for: field(
      Type.Optional(Type.Integer({ minimum: 60, maximum: sealTimes.longest })),
      'Seconds for which the signature is valid.',
    ),
  }),
  reply: shape({
    statements: Type.Array(Type.String()),
    message: field(Type.String(), 'Text that an Ed25519 key signs.'),
    challenge: field(Type.String(), 'SHA-256 of the message, as the challenge for a passkey.'),
    expires_at: field(timestamp, 'Time until which the signed commands can be queued and run.'),
    template: field(nullable(frozenTemplate), 'The template that the commands deploy; null when they deploy none.'),
    sealed_servers: field(Type.Array(Type.String()), 'Host names of servers that demand a signature, at most 100.'),
    rp_id: field(
      nullable(Type.String()),
      'Relying party id for passkeys; null when passkeys are not possible at this address.',
    ),
  }),
  refusals: [409],
})

export const createSealed = endpoint('POST /commands/sealed', {
  tag,
  summary: 'Queue commands that an operator signed',
  description:
    'One command for each statement, all or none, under one `batch_id`; `params_index` counts the statements. 409 where a server does not trust the key, or a template has changed since. Each server judges the signature itself.',
  access: 'write',
  lasts: true,
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  bodyLimit: bounds.largeBody,
  body: shape({
    statements: field(
      Type.Array(text(2, sealBounds.statement), { minItems: 1, maxItems: bounds.commands }),
      'The statements as `POST /commands/prepare` returned them.',
    ),
    signature: field(signature, 'The operator signature.'),
  }),
  status: 201,
  reply: createBatch.reply,
  refusals: [409],
})

export const reportResult = endpoint('POST /commands/{commandId}/result', {
  tag: 'Agent',
  summary: "Report a command's result (agent)",
  access: 'agent',
  leaves: null,
  inQuarantine: true,
  lenient: true,
  params,
  body: Type.Object(resultInput),
  reply: message,
  refusals: [404, 409],
})
