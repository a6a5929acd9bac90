import { readFileSync } from 'node:fs'

declare const STOCKADE_AGENT_VERSION: string | undefined

/** Baked into the bundle; from package.json when the sources run as they are. */
export const agentVersion: string =
  typeof STOCKADE_AGENT_VERSION === 'string'
    ? STOCKADE_AGENT_VERSION
    : (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
