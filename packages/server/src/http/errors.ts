import { recordOf } from '@stockade/contract/untrusted.ts'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { bounds } from '@stockade/contract/limits.ts'
import type { Principal } from '../core/actor.ts'
import { Problem, badRequest, unavailable } from '../core/problem.ts'
import { notJson } from './body.ts'
import { readOut } from './read-out.ts'
import { addressOf, changing, loggedPath, nameOf, prefix } from './request.ts'
import type { SecurityLog } from './security-log.ts'
import { validationProblem } from '../core/validation.ts'

const closing = () => unavailable('The server is shutting down. Try again in a moment.')

/** Fastify's own errors as problems; null for others. */
const knownProblem = (error: FastifyError, request: FastifyRequest): Problem | null => {
  if (error.validation) return validationProblem(error.validation as never)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(
        413,
        'Payload Too Large',
        `The body is larger than ${String(request.routeOptions.bodyLimit ?? bounds.body)} bytes.`,
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return notJson()
    case 'FST_ERR_BAD_URL':
      return badRequest('The address holds a malformed percent escape.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badRequest('The body is not as long as Content-Length says.')
    case 'FST_ERR_REOPENED_CLOSE_SERVER':
    case 'FST_ERR_CLOSING':
      return closing()
  }
  if (error.statusCode === 400)
    return badRequest(
      `The body is not valid JSON: ${error.message.replace(/^Body is not valid JSON but content-type is set to .*$/, 'it can not be parsed')}.`,
    )
  return error.statusCode === 503 ? closing() : null
}

/** The name that was typed at a sign-in. */
const typedName = (body: unknown): string | null => {
  const { username } = recordOf(body)
  return typeof username === 'string' ? username : null
}

/** Turns everything that is thrown into a reply; what is no Problem is a logged 500. */
export const answerErrors = (
  fastify: FastifyInstance,
  needs: {
    readonly isStorageError: (error: unknown) => boolean
    readonly security: SecurityLog
    readonly noteRefusal: (
      actor: Principal,
      refused: { readonly endpoint: string; readonly path: string; readonly reason: string },
    ) => Promise<void>
  },
): void => {
  const problemOf = (error: FastifyError, request: FastifyRequest): Problem => {
    if (error instanceof Problem) return error
    const problem = knownProblem(error, request)
    if (problem) return problem
    if (needs.isStorageError(error)) return unavailable('Storage does not answer. Try again in a moment.')
    const { method, id } = request
    request.log.error({ reqId: id, err: error, method, url: request.routeOptions.url }, 'request failed unexpectedly')
    const message = `Something went wrong here. The log has it under request id ${id}.`
    return new Problem(500, 'Internal Server Error', message)
  }
  /** Writes a 401, 403 or 429 to the security log, and the refusal of a change to the audit log. */
  const note = async ({ status, message }: Problem, request: FastifyRequest) => {
    const { endpoint, actor, method } = request
    if (status === 401 || status === 403 || status === 429)
      needs.security.note({
        status,
        ip: addressOf(request),
        method,
        path: endpoint ? `${prefix}${endpoint.path}` : (request.routeOptions.url ?? '-'),
        user: typedName(request.body),
      })
    if (status !== 403 || !endpoint || endpoint.access === 'public' || !changing.has(endpoint.method)) return
    if (actor && actor.kind !== 'anonymous')
      await needs.noteRefusal(actor, {
        endpoint: nameOf(endpoint),
        path: loggedPath(request),
        reason: message,
      })
  }
  fastify.setErrorHandler(async (error: FastifyError, request, reply) => {
    const problem = problemOf(error, request)
    if (/^FST_ERR_CTP_/.test(error.code ?? '')) await readOut(request.raw)
    await note(problem, request)
    return reply
      .status(problem.status)
      .headers(problem.headers)
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .serializer((body: unknown) => JSON.stringify(body))
      .send(problem.body)
  })
}
