import * as fs from 'node:fs'
import { checkBaseUrl, refusePlainHttp, saveIdentity } from '../config.ts'
import { oneOffTransport } from '../one-off.ts'
import type { Options } from '../options.ts'
import { checkPins } from '../pins.ts'
import { proveAddress } from './challenge.ts'
import { presentIdentity, removeMove } from './record.ts'

/**
 * Changes the address of the Stockade server in `agent.json`. The server there must prove that it knows this host before it gets the
 * host's key, and accept that key; so a wrong address changes nothing and learns nothing. `--ca` and `--pin` replace what was stored.
 *
 * @throws Error with a sentence
 */
export const moveHost = async ([url]: readonly string[], options: Options): Promise<string> => {
  if (url === undefined) throw new Error('move URL: the new base URL of the server is missing')
  const identity = presentIdentity(options, {})
  const baseUrl = checkBaseUrl(url)
  refusePlainHttp(baseUrl, options.insecureHttp || identity.insecure_http)
  const expectedPins = options.pins.length > 0 ? options.pins : baseUrl.startsWith('https:') ? identity.pins : []
  checkPins(expectedPins)
  const ca = options.ca === null ? identity.ca : fs.readFileSync(options.ca, 'utf8')
  const { proxy } = identity
  const pins = await proveAddress({ baseUrl, ca, pins: expectedPins, proxy }, identity, false)
  const transport = oneOffTransport({ baseUrl, apiKey: identity.api_key, ca, pins, proxy })
  try {
    await transport.json('GET', '/api/v1/agent/state', { timeout: 10_000 })
  } finally {
    transport.close()
  }
  const insecure_http = options.insecureHttp || identity.insecure_http
  // What root typed wins over where an order led this host.
  removeMove(options.state)
  saveIdentity(options.config, { ...identity, base_url: baseUrl, ca, pins, insecure_http })
  return `the server at ${baseUrl} knows this host; restart the agent to use it`
}
