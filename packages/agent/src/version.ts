import { readFileSync } from 'node:fs'
import { asFields, asText } from './json.ts'

declare const STOCKADE_AGENT_VERSION: string | undefined

/** Baked into the bundle; from package.json when the sources run as they are. */
export const agentVersion: string =
  typeof STOCKADE_AGENT_VERSION === 'string'
    ? STOCKADE_AGENT_VERSION
    : asText(asFields(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')))['version'])
