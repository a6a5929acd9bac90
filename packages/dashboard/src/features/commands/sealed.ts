import type { CallInput, Reply } from '@stockade/client'
import { checkPrepared } from '@stockade/contract/prepared.ts'
import { sealMessage, sealTree } from '@stockade/contract/seal.ts'
import type { Statement } from '@stockade/contract/seal.ts'
import { errorText } from '@stockade/contract/error-code.ts'
import { api } from '../../api/client.ts'
import type { SealAsked } from '../../api/sealing.ts'
import { answerOf } from '../identity/passkeys.ts'
import type { Passkey } from '../identity/passkeys.ts'

/* Requests that hosts want signed, as batches: prepared by the server, compared here, and signed by a passkey. */

type Batch = CallInput<'POST /commands/batch'>['body']
type Queued = Reply<'POST /commands/sealed'>
interface Order {
  readonly batch: Batch
  /** The reply that the request would have had. */
  readonly reply: (queued: Queued) => unknown
}

const single = (type: Batch['type'], serverId: string, params: Batch['params'], more: object = {}): Order => ({
  batch: { type, server_ids: [serverId], params: params ?? {} },
  reply: ({ commands }) => ({
    id: commands[0]?.id,
    type,
    status: 'pending',
    created_at: new Date().toISOString(),
    ...more,
  }),
})
const again = async (commandId: string): Promise<Order> => {
  const { type, params, server } = await api.call('GET /commands/{commandId}', { params: { commandId } })
  const expectedParams =
    type === 'deploy-template' ? { template_id: params.template_id, settings: params.settings ?? {} } : params
  return single(type, server.id, expectedParams, { retry_of: commandId })
}
const deployment = (template: string, body: CallInput<'POST /templates/{templateId}/deploy'>['body']): Order => ({
  batch: {
    type: 'deploy-template',
    server_ids: body.server_ids,
    params: { template_id: /^\d+$/.test(template) ? Number(template) : template, settings: body.settings ?? {} },
  },
  reply: ({ batch_id, commands }) => ({
    message: '',
    batch_id,
    commands: commands.map(({ id, server_id }) => ({ server_id, command_id: id })),
  }),
})
/**
 * What a request asks for. The body is one that this dashboard has just sent, by the contract of the path; the server checks it again.
 * @throws Error for one that has no signed form.
 */
const orderOf = ({ path, body }: SealAsked): Order | Promise<Order> => {
  const [first, id = '', last] = path.split('/').slice(1).map(decodeURIComponent)
  if (path === '/commands/batch') return { batch: body as Batch, reply: queued => queued }
  if (first === 'servers' && last === 'commands') {
    const { type, params } = body as Pick<Batch, 'type' | 'params'>
    return single(type, id, params)
  }
  if (first === 'commands' && last === 'retry') return again(id)
  if (first === 'templates' && last === 'deploy') return deployment(id, body as never)
  throw new Error(path)
}

const sha256 = async (bytes: Uint8Array) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.slice()))
const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '')

/** That the server wants something else signed than was asked for. */
export class OtherThanAsked extends Error {}

export interface ToSign {
  readonly prepared: Reply<'POST /commands/prepare'>
  readonly statements: readonly Statement[]
  /** Made here of what is shown, not taken from the server. */
  readonly challenge: string
  readonly reply: Order['reply']
}
/** @throws OtherThanAsked, or ApiError. */
export const prepare = async (asked: SealAsked): Promise<ToSign> => {
  const { batch, reply } = await orderOf(asked)
  const prepared = await api.call('POST /commands/prepare', { body: batch })
  const statements = await checkPrepared(prepared, batch, Date.now() / 1000, sha256).catch((error: unknown) => {
    throw new OtherThanAsked(errorText(error))
  })
  const { root } = await sealTree(prepared.statements, sha256)
  return { prepared, statements, challenge: base64url(await sha256(sealMessage(root))), reply }
}

/** Lets one of these passkeys sign, and queues the commands; null where another one answered. */
export const sign = async (wanted: ToSign, passkeys: readonly Passkey[]): Promise<Queued | null> => {
  const { response, id } = await answerOf({
    challenge: wanted.challenge,
    rpId: wanted.prepared.rp_id,
    userVerification: 'required',
    allowCredentials: passkeys.map(({ credential_id }) => ({ type: 'public-key', id: credential_id })),
  })
  const used = passkeys.find(({ credential_id }) => credential_id === id)
  if (!used) return null
  return api.call('POST /commands/sealed', {
    body: {
      statements: wanted.prepared.statements,
      signature: {
        kind: 'webauthn',
        key: used.fingerprint,
        authenticator_data: response.authenticatorData,
        client_data: response.clientDataJSON,
        signature: response.signature,
      },
    },
  })
}
