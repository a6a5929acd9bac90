import { Type } from 'typebox'
import type { Static } from 'typebox'
import { commandParams, commandTypes } from './command-params.ts'
import type { CommandType } from './command-params.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages, times } from './limits.ts'
import { sealBounds, sealTimes } from './seal.ts'
import {
  count,
  listOf,
  message,
  nullable,
  oneOf,
  paging,
  period,
  resource,
  searchText,
  serverRef,
  shape,
  text,
  timestamp,
  uuid,
} from './shapes.ts'

const tag = 'Commands'
const params = shape({ commandId: uuid })

export { commandParams, commandTypes }
export type { CommandType }

export const commandType = oneOf(Object.keys(commandParams) as CommandType[], { title: 'CommandType' })
export const commandStatus = oneOf(['pending', 'running', 'completed', 'failed', 'timeout'], { title: 'CommandStatus' })
export type CommandStatus = Static<typeof commandStatus>
/** What a command carries; which fields it must have depends on its type, see `commandParams`. */
export const paramsInput = Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 32 })
const paramsReply = Type.Record(Type.String(), Type.Unknown())

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
  result: nullable(commandResult),
  initiated_by: Type.String(),
  retry_of: nullable(uuid),
  batch_id: nullable(uuid),
  cancelled: Type.Boolean(),
  created_at: timestamp,
  started_at: nullable(timestamp),
  completed_at: nullable(timestamp),
})

export const listCommands = endpoint({
  method: 'GET',
  path: '/commands',
  tag,
  summary: 'List commands',
  description: 'Newest first.',
  access: 'read',
  query: shape({
    server_id: Type.Optional(uuid),
    status: Type.Optional(commandStatus),
    type: Type.Optional(commandType),
    batch_id: Type.Optional(uuid),
    from: Type.Optional(timestamp),
    to: Type.Optional(timestamp),
    q: searchText,
    ...paging(pages.commands),
  }),
  status: 200,
  reply: listOf('commands', command),
})

export const getCommand = endpoint({
  method: 'GET',
  path: '/commands/{commandId}',
  tag,
  summary: 'Read one command',
  access: 'read',
  params,
  status: 200,
  reply: command,
  refusals: [404],
})

export const createCommand = endpoint({
  method: 'POST',
  path: '/servers/{serverId}/commands',
  tag,
  summary: 'Queue a command for one server',
  description:
    'Types and required parameters: `ban-ip` jail, ip (also duration in seconds or -1, reason, force); `unban-ip` jail (`*` for every jail), ip; `jail-status`, `jail-enable`, `jail-disable`, `jail-reload` jail; `reload-all`; `service-restart`; `deploy-template` template_id, settings; `remove-template` template_name; `approve-whitelist` ip and `approve-port` port, for hosts that take wide whitelist entries and closed ports only approved.',
  access: 'write',
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
  params_list: Type.Optional(Type.Array(paramsInput, { minItems: 1, maxItems: bounds.batch })),
  targets: Type.Optional(
    Type.Array(resource('CommandTarget', { server_id: uuid, params: Type.Optional(paramsInput) }), {
      minItems: 1,
      maxItems: bounds.targets,
    }),
  ),
}
export const createBatch = endpoint({
  method: 'POST',
  path: '/commands/batch',
  tag,
  summary: 'Queue a command for many servers, or many commands',
  description: `All or nothing: what is wrong with one of them refuses all, and nothing is queued. Either one command for each of \`server_ids\`, with \`params\`; or one for each entry of \`params_list\` on each of \`server_ids\`, at most ${bounds.commands} in all; or one for each of \`targets\`, each with a server and parameters of its own. Templates are deployed and removed with \`params\` only. \`params_index\` is the place in \`params_list\` or \`targets\`, 0 with \`params\`. A ban that is refused (409) is named by its place in \`details\`, up to 100 of them.`,
  access: 'write',
  // Thousands of bans, each with a reason.
  bodyLimit: 4 * bounds.body,
  body: shape(batchFields),
  status: 201,
  reply: resource('CommandBatch', {
    batch_id: uuid,
    commands: Type.Array(
      resource('BatchedCommand', { id: uuid, server_id: uuid, status: commandStatus, params_index: count }),
    ),
  }),
  refusals: [409],
})

export const cancelCommand = endpoint({
  method: 'DELETE',
  path: '/commands/{commandId}',
  tag,
  summary: 'Cancel a pending command',
  access: 'write',
  params,
  status: 200,
  reply: message,
  refusals: [404, 409],
})

export const cancelMany = endpoint({
  method: 'POST',
  path: '/commands/cancel',
  tag,
  summary: 'Cancel many commands',
  description:
    'Those that are still pending never run; each id is answered in the order given, each once. `status` is what the command is in afterwards, null where there is none that the caller may see; `error` says in words why it was not cancelled, and is null where it was.',
  access: 'write',
  body: shape({ ids: Type.Array(uuid, { minItems: 1, maxItems: bounds.commands }) }),
  status: 200,
  reply: shape({
    cancelled: count,
    commands: Type.Array(
      resource('CancelledCommand', {
        id: uuid,
        cancelled: Type.Boolean(),
        status: nullable(commandStatus),
        error: nullable(Type.String()),
      }),
    ),
  }),
})

export const retryCommand = endpoint({
  method: 'POST',
  path: '/commands/{commandId}/retry',
  tag,
  summary: 'Queue a failed or timed-out command again',
  access: 'write',
  params,
  status: 201,
  reply: shape({ id: uuid, type: commandType, status: commandStatus, retry_of: uuid, created_at: timestamp }),
  refusals: [404, 409],
})

export const commandStats = endpoint({
  method: 'GET',
  path: '/commands/stats',
  tag,
  summary: 'How commands ended',
  access: 'read',
  query: shape({ server_id: Type.Optional(uuid), period: Type.Optional(period) }),
  status: 200,
  reply: shape({
    total: count,
    by_status: resource('CommandCounts', { completed: count, failed: count, timeout: count, cancelled: count }),
    by_type: Type.Record(Type.String(), count),
    avg_execution_time_ms: nullable(Type.Number()),
    success_rate: nullable(Type.Number()),
  }),
})

/** What `deploy-template` puts on a host, frozen when it was queued. `settings` are the options that win, merged. */
export const frozenTemplate = resource('FrozenTemplate', {
  name: Type.String(),
  jail_config: Type.String(),
  filter_config: Type.String(),
  required_files: Type.Array(Type.String()),
  settings: Type.Record(Type.String(), Type.Unknown()),
})
export type FrozenTemplate = Static<typeof frozenTemplate>
const base64url = (most: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: most })
const keyFingerprint = Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$', maxLength: 64 })
/** An operator's signature (docs/spec/sealed-commands.md). */
export const signature = Type.Union(
  [
    resource('Ed25519Signature', { kind: Type.Literal('ed25519'), key: keyFingerprint, signature: base64url(128) }),
    resource('PasskeySignature', {
      kind: Type.Literal('webauthn'),
      key: keyFingerprint,
      authenticator_data: base64url(8192),
      client_data: base64url(8192),
      signature: base64url(2048),
    }),
  ],
  { title: 'Signature', discriminator: { propertyName: 'kind' } },
)
export const seal = resource('Seal', {
  statement: Type.String(),
  proof: Type.Array(Type.String(), { maxItems: sealBounds.proof }),
  signature,
})

/** The version of what a host should hold, for the agent to compare. */
export const desiredState = resource('DesiredState', { version: Type.String() })

/** A command as an agent gets it; `template` only with `deploy-template`. */
export const order = resource('AgentCommand', {
  id: uuid,
  type: Type.String(),
  params: paramsReply,
  template: Type.Optional(frozenTemplate),
  seal: Type.Optional(seal),
})
export type Order = Static<typeof order>
export const resultInput = {
  success: Type.Boolean(),
  output: Type.Optional(text(0, bounds.body)),
  exit_code: Type.Optional(nullable(Type.Integer())),
}

export const prepareSealed = endpoint({
  method: 'POST',
  path: '/commands/prepare',
  tag,
  summary: 'Get what an operator signs for a batch of commands',
  description:
    'Takes what `POST /commands/batch` takes and queues nothing. Hosts whose root trusts operators run some commands only with a signature; one signature covers the batch. An Ed25519 key signs `message`; a passkey is asked with `challenge`, the SHA-256 of it. Compare the statements with what you want before you sign. `sealed_servers` names hosts that demand it, up to 100.',
  access: 'write',
  bodyLimit: 4 * bounds.body,
  body: shape({ ...batchFields, valid_for: Type.Optional(Type.Integer({ minimum: 60, maximum: sealTimes.longest })) }),
  status: 200,
  reply: shape({
    statements: Type.Array(Type.String()),
    message: Type.String(),
    challenge: Type.String(),
    expires_at: timestamp,
    template: nullable(frozenTemplate),
    sealed_servers: Type.Array(Type.String()),
    rp_id: nullable(Type.String()),
  }),
  refusals: [409],
})

export const createSealed = endpoint({
  method: 'POST',
  path: '/commands/sealed',
  tag,
  summary: 'Queue commands that an operator signed',
  description:
    'One command for each statement, all or none, under one `batch_id`; `params_index` counts the statements. 409 where a host does not trust the key, or a template has changed since. Each host judges the signature itself.',
  access: 'write',
  stepUp: true,
  bodyLimit: bounds.largeBody,
  body: shape({
    statements: Type.Array(text(2, sealBounds.statement), { minItems: 1, maxItems: bounds.commands }),
    signature,
  }),
  status: 201,
  reply: createBatch.reply,
  refusals: [409],
})

export const pendingCommands = endpoint({
  method: 'GET',
  path: '/servers/{serverId}/commands/pending',
  tag: 'Agent',
  summary: 'Fetch commands (agent)',
  description: `With \`wait\` (seconds, 0 to ${times.longPollMaximum}) a long poll: answers as soon as there is a command or the desired state changed.`,
  access: 'agent',
  lenient: true,
  params: shape({ serverId: uuid }),
  query: shape({
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: times.longPollMaximum })),
    /** The desired state that the agent knows: another one ends the wait at once. */
    state: Type.Optional(text(1, 128)),
  }),
  status: 200,
  reply: shape({ commands: Type.Array(order), desired_state: desiredState }),
})

export const reportResult = endpoint({
  method: 'POST',
  path: '/commands/{commandId}/result',
  tag: 'Agent',
  summary: "Report a command's result (agent)",
  access: 'agent',
  lenient: true,
  params,
  body: Type.Object(resultInput),
  status: 200,
  reply: message,
  refusals: [404, 409],
})
