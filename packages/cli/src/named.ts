import type { Client } from '@stockade/client'
import { Failure } from './failure.ts'

export interface Named {
  readonly id: string
  readonly hostname: string
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id of a server by its id or hostname. Hostnames need not be unique: where two share one, the id must tell. */
export const serverNamed = (servers: readonly Named[], typed: string): string => {
  const matches = servers.filter(server => server.hostname.toLowerCase() === typed.toLowerCase())
  // A UUID is always an id, whatever a host calls itself; the API refuses unknown ids.
  if (uuid.test(typed)) return typed.toLowerCase()
  const [found, other] = matches
  if (!found) throw new Failure(`There is no server "${typed}". See: stockade servers`)
  if (other)
    throw new Failure(
      `${matches.length} servers are called "${typed}". Name one by its id: ${matches.map(({ id }) => id).join(', ')}`,
    )
  return found.id
}

/** Looks a server up by id or hostname. */
export const findServer = async (client: Client, typed: string): Promise<string> =>
  uuid.test(typed) ? typed.toLowerCase() : serverNamed((await client.call('GET /servers/summary')).servers, typed)
