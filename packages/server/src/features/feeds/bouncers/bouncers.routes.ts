import { Readable } from 'node:stream'
import { bouncers as contract } from '@stockade/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { takesGzip } from '../../../http/conditional.ts'
import type { Http } from '../../../http/http.ts'
import { addressOf } from '../../../http/request.ts'
import type { Answer, BouncersService } from './bouncers.service.ts'

export const mountBouncers = (http: Http, bouncers: BouncersService): void => {
  http.serve(contract.listDecisions, async ({ query, request, reply }) =>
    send(request, reply, await bouncers.ask(callerOf(request), query)),
  )
  http.serve(contract.streamDecisions, async ({ query, request, reply }) =>
    send(request, reply, await bouncers.follow(callerOf(request), query)),
  )
  http.serve(contract.bouncerMetrics, async ({ request }) => {
    await bouncers.count(callerOf(request))
    return {}
  })
}

const callerOf = (request: FastifyRequest) => {
  const key = request.headers['x-api-key']
  return {
    key: typeof key === 'string' ? key : undefined,
    ip: addressOf(request),
    program: request.headers['user-agent'],
  }
}
/** As bytes: the text is JSON already. */
const send = async (request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<FastifyReply> => {
  const { body, bytes, gzip } = answer
  void reply.type('application/json; charset=utf-8').header('vary', 'Accept-Encoding')
  if (gzip && takesGzip(request.headers['accept-encoding']))
    return reply.header('content-encoding', 'gzip').send(await gzip())
  const [only] = body
  return body.length === 1 ? reply.send(only) : reply.header('content-length', bytes).send(Readable.from(body))
}
