import { request } from 'node:http'
import type { Agent } from 'node:http'

export interface Reply {
  readonly status: number
  readonly json: Record<string, unknown>
  readonly text: string
}
/** Who asks, and which way. */
export interface Caller {
  readonly base: URL
  readonly agent: Agent
  readonly token: string
  /** Address that the connection comes from; null: any. */
  readonly source?: string | null
}

/** Resolves to the answer, whatever its status. Rejects when the connection breaks or no answer comes for a minute. */
export const ask = (
  { base, agent, token, source }: Caller,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const outgoing = request(
      {
        host: base.hostname,
        port: base.port,
        path: `${base.pathname.replace(/\/$/, '')}/api/v1${path}`,
        method,
        agent,
        ...(source && { localAddress: source }),
        ...(signal && { signal }),
        headers: {
          authorization: `Bearer ${token}`,
          ...(sent === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
        },
      },
      reply => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (piece: string) => (text += piece))
        reply.on('error', reject)
        reply.on('end', () => {
          const isJson = reply.headers['content-type']?.includes('json') === true && text !== ''
          const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
          resolve({ status: reply.statusCode ?? 0, json, text })
        })
      },
    )
    const patience = setTimeout(() => outgoing.destroy(new Error('no answer for a minute')), 60_000)
    outgoing.on('close', () => clearTimeout(patience))
    outgoing.on('error', reject)
    outgoing.end(sent)
  })

/** A request of the administrator. @throws for everything but a 2xx answer */
export type Admin = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
export const asAdmin =
  (caller: Caller): Admin =>
  async (method, path, body) => {
    const reply = await ask(caller, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
    return reply.json
  }
