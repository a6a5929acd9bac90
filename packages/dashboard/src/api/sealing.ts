import { refusalIn } from './refusal.ts'
import { proving } from './proof.ts'
import { createQuestion } from './question.ts'

/* Some hosts accept commands only with a signature. A request that is refused for that asks for one, and is sent again as signed commands. */

interface SealRequest {
  /** The hosts that want it, up to 100. */
  readonly servers: readonly string[]
  /** What was asked for: `/commands/batch` and its body. */
  readonly path: string
  readonly body: unknown
}
export interface SealAsked extends SealRequest {
  /** The reply in place of the refusal; null where nothing was signed. */
  readonly answer: (reply: unknown) => void
}
const question = createQuestion<SealRequest, unknown>(null)
/** What waits for a signature, if anything does. */
export const useSealAsked = question.useAsked
/** Closing the dialog signs nothing. */
export const refuseSeal = question.refuse

/** Sends a request; where hosts want it signed and somebody signs, the reply is that of the signed commands. */
export const sealing: typeof fetch = async (input, init) => {
  const reply = await proving(input, init)
  const servers = (await refusalIn(reply, 409))?.seal_required?.servers
  if (!servers || typeof input !== 'string') return reply
  const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : null
  const signed = await question.ask({ servers, path: input.slice(input.indexOf('/api/v1/') + '/api/v1'.length), body })
  return signed === null
    ? reply
    : new Response(JSON.stringify(signed), { status: 201, headers: { 'content-type': 'application/json' } })
}
