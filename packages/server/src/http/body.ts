import { errorOf } from '@stockade/contract/error-code.ts'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../core/problem.ts'
import { withoutNul } from '../core/text.ts'
import { compileLazily } from './compilers.ts'
import { createLargeBodies, largeFrom } from './large-body.ts'
import { nameOf } from './request.ts'

export const notJson = () =>
  new Problem(415, 'Unsupported Media Type', 'Send the body as JSON, with Content-Type: application/json.')

/** Parses and validates bodies: small ones here, large ones in a thread. */
export const readBodies = (fastify: FastifyInstance): void => {
  const large = createLargeBodies()
  fastify.addHook('onClose', () => large.close())
  compileLazily(fastify, large.isValid)

  // An absent or empty body counts as {} whatever its content type; anything else has to be JSON.
  const parseJson = fastify.getDefaultJsonParser('error', 'error')
  fastify.removeAllContentTypeParsers()
  // `application/json` is named beside `*`, because Fastify finds a named type without parsing the header each time.
  fastify.addContentTypeParser(['application/json', '*'], { parseAs: 'string' }, (request, body, done) => {
    const text = String(body)
    if (text.length === 0) return done(null, {})
    const type = request.headers['content-type'] ?? ''
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return done(notJson())
    const { endpoint } = request
    if (text.length < largeFrom || !endpoint)
      return void parseJson(request, withoutNul(text), (error, parsed: unknown) => done(error, parsed ?? {}))
    large.read(nameOf(endpoint), text).then(
      value => done(null, value ?? {}),
      (error: unknown) => done(errorOf(error)),
    )
  })
}
