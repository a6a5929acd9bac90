import * as fs from 'node:fs'
import { join } from 'node:path'
import { privateDirectory, readJson, writeDurably } from './files.ts'
import { asFields, asList, asText } from './json.ts'
import { checkPins } from './pins.ts'
import { readProxy } from './proxy.ts'

/** The result of enrolment: the server's address and this host's identity. Stored in `agent.json`, mode 0600. */
export interface Identity {
  readonly base_url: string
  readonly server_id: string
  readonly api_key: string
  readonly agent_id: string
  /** PEM text of a private certificate authority, or null for the system's. */
  readonly ca: string | null
  /** `sha256//` pins of the server's public key, which replace the check by an authority; none: the authority decides. */
  readonly pins: readonly string[]
  /** URL of an HTTP proxy on the way to the server, perhaps with a password; null: none. */
  readonly proxy: string | null
  /** The host's administrator accepted plain http to another machine. */
  readonly insecure_http: boolean
  /** At its first start the agent also reports the bans that fail2ban's database holds from before. */
  readonly backfill: boolean
  /** The host's administrator accepts releases that nobody signed, as servers offer that were built from source. */
  readonly unsigned: boolean
}

const identityFile = (configDirectory: string): string => join(configDirectory, 'agent.json')

/** Throws with a sentence for the operator when the host is not enrolled or the file is damaged. */
export const loadIdentity = (configDirectory: string): Identity => {
  const file = identityFile(configDirectory)
  if (!fs.existsSync(file))
    throw new Error(`this host is not enrolled: ${file} is missing, run "stockade-agent enroll"`)
  const fields = asFields(readJson(file))
  const identity = {
    base_url: asText(fields['base_url']),
    server_id: asText(fields['server_id']),
    api_key: asText(fields['api_key']),
    agent_id: asText(fields['agent_id']),
    ca: typeof fields['ca'] === 'string' ? fields['ca'] : null,
    pins: asList(fields['pins']).map(pin => asText(pin)),
    proxy: typeof fields['proxy'] === 'string' ? fields['proxy'] : null,
    insecure_http: fields['insecure_http'] === true,
    backfill: fields['backfill'] === true,
    unsigned: fields['unsigned'] === true,
  }
  checkPins(identity.pins)
  if (identity.proxy !== null) readProxy(identity.proxy)
  if (!identity.base_url || !identity.server_id || !identity.api_key || !identity.agent_id) {
    throw new Error(`${file} is damaged: enrol this host again with a new token`)
  }
  return identity
}

export const saveIdentity = (configDirectory: string, identity: Identity): void => {
  privateDirectory(configDirectory)
  const file = identityFile(configDirectory)
  // The administrator wrote it, and enrolling again does not move fail2ban.
  const { engine } = asFields(readJson(file))
  const fields = engine === undefined ? identity : { ...identity, engine }
  writeDurably(file, `${JSON.stringify(fields, null, 2)}\n`)
}

/** The base URL without a trailing slash; it may carry a path. Throws with a sentence. */
export const checkBaseUrl = (text: string): string => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new Error(`not a URL: ${text}`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error(`the base URL must be http or https: ${text}`)
  if (url.username || url.password || url.search || url.hash)
    throw new Error('the base URL must be plain: no user, query or fragment')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/**
 * Over plain http to another machine, anybody on the way could read this host's key and send it commands.
 * @throws Error with a sentence, unless the address is https, on loopback, or `--insecure-http` was given.
 */
export const refusePlainHttp = (baseUrl: string, insecureHttp: boolean): void => {
  if (insecureHttp || !isPlainHttp(baseUrl)) return
  throw new Error(
    `${baseUrl} is plain http: anybody on the way could read this host's key and send it orders. Use https, or give --insecure-http to accept that`,
  )
}

/** Whether the base URL is http to an address that is not this machine's own. */
export const isPlainHttp = (baseUrl: string): boolean => {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(hostname)
}
