import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/* Answers to what no route and no hook ever sees: addresses that can not be decoded, and what is no HTTP. */

const bodyOf = (status: number, message: string) => ({ error: STATUS_CODES[status] ?? 'Bad Request', message })

/** The address can not be decoded, or a part of it is too long. */
export const answerBadAddress =
  (headers: () => Readonly<Record<string, string>>) =>
  (error: FastifyError, _: FastifyRequest, reply: FastifyReply): void => {
    const status = error.statusCode ?? 400
    const sentence =
      status === 414 ? 'A part of the address is too long.' : 'The address holds a malformed percent escape.'
    void reply
      .status(status)
      .headers({ ...headers(), 'cache-control': 'no-store' })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(bodyOf(status, sentence)))
  }

const ofParser: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The head of the request is too large.'],
}
/** There is no request to reply to: the answer is written to the connection, which ends. */
export const answerBadRequest =
  (headers: () => Readonly<Record<string, string>>) =>
  (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    const [status, message] = ofParser[error.code ?? ''] ?? [400, 'This is no HTTP request.']
    const body = JSON.stringify(bodyOf(status, message))
    const lines = Object.entries({
      ...headers(),
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    if (socket.writable)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
    socket.destroy(error)
  }
