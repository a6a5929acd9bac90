import { liveMessage, liveProtocol } from '@stockade/contract'
import type { Components, Json } from './schemas.ts'

/** The live feed as an operation: OpenAPI knows no WebSockets, so the messages are the content of the 101 reply. */
export const liveOperation = (components: Components): Json => ({
  operationId: 'live',
  tags: ['Live feed'],
  summary: 'Open the live feed (WebSocket)',
  description: `A WebSocket with the subprotocol \`${liveProtocol}\`. Pass the credential as a second subprotocol, \`bearer.<token>\`, or use the session cookie from the dashboard's own origin. Each text frame from the server holds one \`LiveMessage\` as JSON; the client sends nothing. The server closes the connection with 4401 when the credential ends, and with 1013 when there are too many connections.`,
  parameters: [
    {
      name: 'after',
      in: 'query',
      description:
        'The `live_position` of `GET /bootstrap`: the feed begins with what happened since, or with `resync`.',
      schema: { type: 'string' },
    },
    {
      name: 'pulse',
      in: 'query',
      description:
        'Whether to send a message of the type `pulse` every 4 s, so that a client notices a silent connection.',
      schema: { type: 'boolean' },
    },
  ],
  responses: {
    101: {
      description: 'The connection is open.',
      content: { 'application/json': { schema: components.refer(liveMessage) } },
    },
    401: { $ref: '#/components/responses/Unauthorized' },
    403: { $ref: '#/components/responses/Forbidden' },
    default: { $ref: '#/components/responses/Failure' },
  },
  security: [{ bearer: [] }, { cookie: [] }],
  'x-access': 'read',
})
