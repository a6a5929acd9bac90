import { presentIdentity } from './move/record.ts'
import { oneOffTransport } from './one-off.ts'
import type { Options } from './options.ts'
import { errorText } from './text.ts'

/** Nobody waits longer for a server at a removal. Milliseconds. */
const patience = 10_000

/**
 * Tells the server that the agent of this host is being removed on purpose, so that it alarms nobody.
 * @returns a sentence for whoever removes it; null on a host that is not enrolled
 */
export const sayFarewell = async (options: Options, env: NodeJS.ProcessEnv): Promise<string | null> => {
  try {
    const identity = presentIdentity(options, env)
    const { base_url: baseUrl, api_key: apiKey, ca, pins, proxy } = identity
    const transport = oneOffTransport({ baseUrl, apiKey, ca, pins, proxy })
    try {
      await transport.json('POST', '/api/v1/agent/farewell', { body: {}, timeout: patience })
      return `${baseUrl} knows that the agent was removed on purpose`
    } catch (error) {
      return `${baseUrl} could not be told of the removal (${errorText(error)}): it will call this host silent until it is removed there`
    } finally {
      transport.close()
    }
  } catch {
    return null
  }
}
