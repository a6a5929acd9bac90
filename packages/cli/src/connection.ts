import { readFileSync } from 'node:fs'
import { createClient } from '@stockade/client'
import type { Client } from '@stockade/client'
import { codeOf } from '@stockade/contract/error-code.ts'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { Failure, Misuse } from './failure.ts'
import type { Profile } from './profiles.ts'

export interface Connection {
  readonly url: string
  readonly key: string
  readonly client: Client
}

const keyOfFile = (file: string, name: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Misuse(`${name} can't be read: ${codeOf(error) ?? 'unknown error'}.`)
  }
}
const checkedKey = (text: string): string => {
  const key = text.trim()
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Misuse('The API key is empty or holds characters that no key has.')
  return key
}
/** The key comes from the environment or a file: an argument would stand in the process list and the shell's history. */
const keyFrom = (env: NodeJS.ProcessEnv): string => {
  const { STOCKADE_API_KEY: given, STOCKADE_API_KEY_FILE: file } = env
  if (given && file) throw new Misuse('STOCKADE_API_KEY and STOCKADE_API_KEY_FILE are both set; set one of them.')
  if (!given && !file)
    throw new Misuse(
      'Set STOCKADE_API_KEY, or STOCKADE_API_KEY_FILE to the name of a file with the key in it. The dashboard makes keys, on the page of your account.',
    )
  return checkedKey(file ? keyOfFile(file, 'STOCKADE_API_KEY_FILE') : (given ?? ''))
}

const urlFrom = (given: string): string => {
  const parsed = URL.parse(given)
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.search || parsed.hash || parsed.username)
    throw new Misuse(`The address must begin with http:// or https://, not "${given}".`)
  return given.replace(/\/+$/, '')
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host can not be looked up now',
  ECONNRESET: 'the connection broke',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_SOCKET: 'the connection broke',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed (NODE_EXTRA_CA_CERTS names a file of your own authorities)',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate comes from an authority that is not known here (NODE_EXTRA_CA_CERTS names a file of your own)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes from an authority that is not known here (NODE_EXTRA_CA_CERTS names a file of your own)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak https',
}
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'it does not answer within 30 seconds'
  const { code = '', message = error.message } = recordOf(error.cause)
  return reasons[String(code)] ?? String(code || message)
}

/** Speaks to one Stockade, by its address and the key of the environment, or by a profile; whatever is not an answer of Stockade's becomes a sentence that names the address. */
export const connect = (
  given: string,
  env: NodeJS.ProcessEnv,
  profile: Profile | null = null,
  needsKey = true,
): Connection => {
  const url = urlFrom(profile?.url ?? given)
  const key = !needsKey ? '' : profile ? checkedKey(keyOfFile(profile.keyFile, profile.keyFile)) : keyFrom(env)
  const speak: typeof fetch = async (input, init) => {
    let reply: Response
    try {
      // A redirection is not followed: it would turn an order into a question, and show the key to another address.
      reply = await fetch(input, { ...init, redirect: 'manual', signal: AbortSignal.timeout(30_000) })
    } catch (error) {
      throw new Failure(`Can't reach Stockade at ${url}: ${reasonOf(error)}.`)
    }
    const to = reply.headers.get('location')
    if (reply.status >= 300 && reply.status < 400)
      throw new Failure(`${url} sends on to ${to ?? 'somewhere else'}. Give that address with --url or STOCKADE_URL.`)
    const type = reply.headers.get('content-type') ?? ''
    // A few answers are text; any other that is no JSON comes from somebody else.
    const isText = /\/(whitelist\/export|whitelist\.txt|bans\/export|audit\/export|feeds\/[^/]+)(\?|$)/.test(reply.url)
    const fits = type.includes('json') || (/^text\/(plain|csv)\b/.test(type) && isText)
    if (!fits && (reply.ok || reply.status === 404))
      throw new Failure(`What answers at ${url} is not Stockade. Is the address right?`)
    return reply
  }
  return { url, key, client: createClient({ baseUrl: url, token: key, fetch: speak }) }
}
