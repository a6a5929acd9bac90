import { common } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { described, isJson } from './schemas.ts'
import type { Components, Json } from './schemas.ts'

/** Refusals that any endpoint of a kind can answer, as components that operations refer to. */
const refusals: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The request is malformed or invalid; `details` names the fields.'],
  401: ['Unauthorized', 'The credential is missing, unknown, expired or revoked.'],
  402: ['LicenseRequired', 'The licence lacks this feature, or covers fewer servers.'],
  403: ['Forbidden', 'The caller may not do this. `step_up` lists ways to prove the identity first.'],
  404: ['NotFound', 'The resource does not exist, or the caller may not see it.'],
  409: ['Conflict', 'The request conflicts with the current state.'],
  413: ['PayloadTooLarge', 'The body is larger than this endpoint accepts.'],
  429: ['TooManyRequests', 'The rate limit is exhausted. Retry after `Retry-After` seconds.'],
  502: ['BadGateway', 'The remote side failed.'],
  503: [
    'Unavailable',
    'The server is shutting down, or its storage does not answer. Retry after `Retry-After` seconds.',
  ],
}
const retryAfter = { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } }

/** `components.responses`: the refusals, each with the same body. */
export const refusalResponses = (components: Components): Json => {
  const content = { 'application/json': { schema: components.refer(common.problem) } }
  return Object.fromEntries([
    ...Object.entries(refusals).map(([status, [name, description]]) => [
      name,
      {
        description,
        ...(status === '429' || status === '503' ? { headers: { 'Retry-After': retryAfter } } : {}),
        content,
      },
    ]),
    ['Failure', { description: 'Any other refusal or failure, such as 500.', content }],
  ])
}

/** Statuses that an endpoint can refuse with. */
const refusalsOf = (endpoint: Endpoint): number[] => [
  ...new Set([
    400,
    ...(endpoint.access === 'public' ? [] : [401, 403]),
    ...(endpoint.licence ? [402] : []),
    ...(endpoint.body ? [413] : []),
    ...(endpoint.rate === 'none' ? [] : [429]),
    503,
    ...(endpoint.refusals ?? []),
  ]),
]

const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const successOf = (name: string, endpoint: Endpoint, components: Components): Json => {
  if (endpoint.status === 302)
    return {
      description: 'Redirects the browser.',
      headers: { Location: { description: 'The address to open.', schema: { type: 'string' } } },
    }
  const schemaFor = (type: string): Json =>
    type === 'application/json' ? components.referAs(`${pascal(name)}Response`, endpoint.reply) : { type: 'string' }
  const produced = [endpoint.produces ?? 'application/json'].flat()
  return {
    description: endpoint.status === 201 ? 'Created.' : 'Success.',
    content: Object.fromEntries(produced.map(type => [type, { schema: schemaFor(type) }])),
  }
}

const parametersOf = (place: 'path' | 'query', schema: object | undefined, components: Components): Json[] => {
  const { properties, required } = recordOf(schema)
  return Object.entries(recordOf(properties)).map(([name, field]) => {
    const { description, ...rest } = described(name, components.refer(recordOf(field)))
    return {
      name,
      in: place,
      required: Array.isArray(required) && required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

const securityOf = ({ access }: Endpoint): Json[] => {
  if (access === 'public') return []
  return access === 'agent' ? [{ bearer: [] }] : [{ bearer: [] }, { cookie: [] }]
}

/** One operation of the document; its id is the name that the contract exports the endpoint under. */
export const operationOf = (name: string, endpoint: Endpoint, components: Components): Json => {
  const parameters = [
    ...parametersOf('path', endpoint.params, components),
    ...parametersOf('query', endpoint.query, components),
  ]
  const body = endpoint.body && components.referAs(`${pascal(name)}Request`, endpoint.body)
  const refused = refusalsOf(endpoint).map(status => [
    status,
    { $ref: `#/components/responses/${refusals[status]?.[0] ?? 'Failure'}` },
  ])
  return {
    operationId: name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description ? { description: endpoint.description } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body && body
      ? { requestBody: { required: 'required' in endpoint.body, content: { 'application/json': { schema: body } } } }
      : {}),
    responses: {
      [endpoint.status]: successOf(name, endpoint, components),
      ...Object.fromEntries(refused),
      default: { $ref: '#/components/responses/Failure' },
    },
    security: securityOf(endpoint),
    'x-access': endpoint.access,
    ...(endpoint.fleet ? { 'x-fleet': true } : {}),
    ...(endpoint.licence ? { 'x-licence': endpoint.licence } : {}),
    'x-rate': endpoint.rate ?? 'standard',
  }
}

/** Parameters that several operations take alike become components; the operations then refer to them. */
export const shareParameters = (operations: readonly Json[]): { operations: Json[]; parameters: Json } => {
  const uses = new Map<string, number>()
  const own = (operation: Json): Json[] =>
    Array.isArray(operation.parameters) ? operation.parameters.filter(parameter => isJson(parameter)) : []
  for (const parameter of operations.flatMap(own)) {
    const text = JSON.stringify(parameter)
    uses.set(text, (uses.get(text) ?? 0) + 1)
  }
  const shared = new Map<string, string>()
  const parameters: Record<string, Json> = {}
  for (const [text] of [...uses].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a)) {
    const parameter = recordOf(JSON.parse(text))
    const name = pascal(String(parameter.name)) + (parameter.in === 'path' ? 'Path' : '')
    if (name in parameters) continue
    parameters[name] = parameter
    shared.set(text, name)
  }
  const referred = (parameter: Json): Json => {
    const name = shared.get(JSON.stringify(parameter))
    return name ? { $ref: `#/components/parameters/${name}` } : parameter
  }
  return {
    operations: operations.map(operation =>
      operation.parameters ? { ...operation, parameters: own(operation).map(referred) } : operation,
    ),
    parameters,
  }
}
