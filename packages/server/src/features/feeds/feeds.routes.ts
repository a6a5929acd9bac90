import { feeds as contract } from '@stockade/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { conditional } from '../../http/conditional.ts'
import type { Http } from '../../http/http.ts'
import type { FeedsService, Served } from './feeds.service.ts'

export const mountFeeds = (http: Http, feeds: FeedsService): void => {
  http.serve(contract.listFeeds, () => feeds.list())
  http.serve(contract.createFeed, ({ actor, body }) => feeds.create(actor, body))
  http.serve(contract.previewFeed, ({ body }) => feeds.preview(body))
  http.serve(contract.changeFeed, ({ actor, params, body }) => feeds.change(actor, params.id, body))
  http.serve(contract.rotateFeed, ({ actor, params }) => feeds.rotate(actor, params.id))
  http.serve(contract.removeFeed, async ({ actor, params }) => ({
    message: `The feed ${await feeds.remove(actor, params.id)} was deleted.`,
  }))
  http.serve(contract.readFeed, async ({ actor, params, query, request, reply }) =>
    send(request, reply, await feeds.read(params.token, actor.ip, query)),
  )
}

const send = (request: FastifyRequest, reply: FastifyReply, served: Served): FastifyReply => {
  void reply
    .type(served.isJson ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8')
    .header('last-modified', new Date(served.changedAt).toUTCString())
    .header('x-content-type-options', 'nosniff')
  const since = Date.parse(request.headers['if-modified-since'] ?? '')
  const isOld = request.headers['if-none-match'] === undefined && since >= Math.floor(served.changedAt / 1000) * 1000
  if (isOld) return reply.status(304).removeHeader('content-type').send()
  // As a buffer: the text is JSON already.
  return conditional(request, reply, served.version, Buffer.from(served.text), served.gzip)
}
