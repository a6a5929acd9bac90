import { endpointNames, tags } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { liveOperation } from './live.ts'
import { operationOf, refusalResponses, shareParameters } from './operation.ts'
import { createComponents } from './schemas.ts'
import type { Json } from './schemas.ts'

const prefix = '/api/v1'

/** The OpenAPI 3.1 document of some endpoints of the contract, and of the live feed. `url` is the public address of the server. */
export const openApiOf = (endpoints: readonly Endpoint[], version: string, url: string): Json => {
  const components = createComponents()
  const described = endpoints.map(endpoint => operationOf(endpointNames.get(endpoint) ?? '', endpoint, components))
  const { operations, parameters } = shareParameters(described)
  const paths: Record<string, Record<string, Json>> = {}
  endpoints.forEach(({ method, path }, index) => {
    const operation = operations[index]
    if (operation) paths[prefix + path] = { ...paths[prefix + path], [method.toLowerCase()]: operation }
  })
  paths[`${prefix}/ws`] = { get: liveOperation(components) }
  const responses = refusalResponses(components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stockade',
      version,
      description:
        'Central management for fleets of servers that run fail2ban. Send an API key or an access token as `Authorization: Bearer ...`.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.all(),
      responses,
      parameters,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`svc_...`) or an access token.' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'stockade_session',
          description: 'The session cookie of the dashboard; `__Host-stockade_session` under https.',
        },
      },
    },
  }
}
