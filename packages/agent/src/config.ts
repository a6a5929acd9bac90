import * as fs from 'node:fs'
import { join } from 'node:path'
import { privateDirectory, readJson, writeDurably } from './files.ts'
import { asFields, asText } from './json.ts'

/** What enrolment gave: where the server is and who this host is there. Kept in `agent.json`, mode 0600. */
export interface Identity {
  readonly base_url: string
  readonly server_id: string
  readonly api_key: string
  readonly agent_id: string
  /** PEM text of a private certificate authority, or null for the system's. */
  readonly ca: string | null
}

export function identityFile(configDirectory: string): string {
  return join(configDirectory, 'agent.json')
}

/** Throws with a sentence for the operator when the host is not enrolled or the file is damaged. */
export function loadIdentity(configDirectory: string): Identity {
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
  }
  if (!identity.base_url || !identity.server_id || !identity.api_key || !identity.agent_id) {
    throw new Error(`${file} is damaged: enrol this host again with a new token`)
  }
  return identity
}

export function saveIdentity(configDirectory: string, identity: Identity): void {
  privateDirectory(configDirectory)
  writeDurably(identityFile(configDirectory), `${JSON.stringify(identity, null, 2)}\n`)
}

/** The base URL without a trailing slash; it may carry a path. Throws with a sentence. */
export function checkBaseUrl(text: string): string {
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
