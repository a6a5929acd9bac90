import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { shapes } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'

const phrases: Record<number, string> = {
  400: 'Malformed or invalid; `details` names the fields',
  401: 'No credential, or one that is unknown, expired or revoked',
  402: 'Needs a Pro licence, or more servers than the licence covers',
  403: 'Not allowed for this caller',
  404: 'Not found',
  409: 'Conflicts with the present state',
  413: 'Too large',
  429: 'Too many requests; see `Retry-After`',
  502: 'The other side failed',
  503: 'Shutting down or storage unavailable; see `Retry-After`',
}

/** Statuses that an endpoint can refuse with. */
const refusalsOf = (endpoint: Endpoint): number[] =>
  [
    ...new Set([
      400,
      ...(endpoint.access === 'public' ? [] : [401, 403]),
      ...(endpoint.licence ? [402] : []),
      ...(endpoint.rate === 'none' ? [] : [429]),
      503,
      ...(endpoint.refusals ?? []),
    ]),
  ].sort((a, b) => a - b)

/** What a success looks like: the shape itself, or one for each content type. */
const successOf = (endpoint: Endpoint): object => {
  const produces = [endpoint.produces ?? 'application/json'].flat()
  const contentOf = (type: string) => ({ schema: type === 'application/json' ? endpoint.reply : { type: 'string' } })
  if (endpoint.status === 302) return { description: 'Success' }
  if (produces.length === 1 && produces[0] === 'application/json') return { description: 'Success', ...endpoint.reply }
  return { description: 'Success', content: Object.fromEntries(produces.map(type => [type, contentOf(type)])) }
}

const operationId = (endpoint: Endpoint) =>
  endpoint.method.toLowerCase() +
  endpoint.path
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** What the route carries for the document, beside what validates and serialises. */
export const documented = (endpoint: Endpoint) => ({
  summary: endpoint.summary,
  ...(endpoint.description ? { description: endpoint.description } : {}),
  tags: [endpoint.tag],
  operationId: operationId(endpoint),
})

/** The OpenAPI 3.1 document of what is mounted, made from the contract. */
export const describe = async (fastify: FastifyInstance, version: string): Promise<void> => {
  await fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Stockade',
        version,
        description:
          'Central management for fleets of hosts that run fail2ban. Send an API key or an access token as `Authorization: Bearer ...`.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`svc_...`) or an access token.' },
          cookie: { type: 'apiKey', in: 'cookie', name: 'stockade_session' },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const endpoint = route.config?.endpoint
      if (!endpoint) return { schema: { hide: true }, url }
      const { querystring, response: _, ...rest } = schema as Record<string, unknown>
      const answers: Record<number, object> = { [endpoint.status]: successOf(endpoint) }
      for (const status of refusalsOf(endpoint))
        answers[status] = { ...shapes.problem, description: phrases[status] ?? 'Refused' }
      return {
        schema: {
          ...rest,
          ...(endpoint.query ? { querystring } : {}),
          ...(endpoint.body ? {} : { body: undefined }),
          response: answers,
          security:
            endpoint.access === 'public'
              ? []
              : endpoint.access === 'agent'
                ? [{ bearer: [] }]
                : [{ bearer: [] }, { cookie: [] }],
          'x-access': endpoint.access,
          ...(endpoint.fleet ? { 'x-fleet': true } : {}),
          ...(endpoint.licence ? { 'x-licence': endpoint.licence } : {}),
          'x-rate': endpoint.rate ?? 'standard',
        } as never,
        url,
      }
    },
  })
}
