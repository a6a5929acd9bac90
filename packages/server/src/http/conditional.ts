import type { FastifyReply, FastifyRequest } from 'fastify'

/** Whether the caller takes gzip: named, or by `*`, and not with weight 0. */
export const takesGzip = (header: string | undefined): boolean => {
  const weights = new Map(
    (header ?? '').split(',').map(part => {
      const [name = '', ...rest] = part.split(';').map(piece => piece.trim().toLowerCase())
      const weight = rest.find(piece => piece.startsWith('q='))?.slice(2)
      return [name, weight === undefined ? 1 : Number(weight)] as const
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
/** The tags of an `If-None-Match`; a weak one names the same body here, since each version has one. */
const namedIn = (header: string | undefined, tags: readonly string[]): boolean =>
  header?.split(',').some(part => {
    const tag = part.trim().replace(/^W\//, '')
    return tag === '*' || tags.includes(tag)
  }) ?? false

/**
 * Answers with a body that is known by its version, or 304 when the caller has it already. The gzipped body has a tag of
 * its own, as strong tags must; either of them will do to ask with.
 */
export const conditional = <Body>(
  request: FastifyRequest,
  reply: FastifyReply,
  version: string,
  body: Body,
  gzip?: Buffer,
): FastifyReply => {
  const compressed = gzip !== undefined && takesGzip(request.headers['accept-encoding'])
  const tags = [`"${version}"`, `"${version}-gz"`]
  void reply.header('etag', compressed ? tags[1] : tags[0]).header('cache-control', 'private, no-cache')
  if (gzip) void reply.header('vary', 'Accept-Encoding')
  if (namedIn(request.headers['if-none-match'], tags)) return reply.status(304).removeHeader('content-type').send()
  return compressed ? reply.header('content-encoding', 'gzip').send(gzip) : reply.send(body)
}
