import type { Command } from 'commander'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'
import { Misuse } from './failure.ts'
import { urlOfOwnHost } from './own-host.ts'
import { profileNamed } from './profiles.ts'

/** What every command is given beside its own arguments. */
export interface Context extends Connection {
  /** Print what the API answered, as it is. */
  readonly json: boolean
}

export const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command)
/** @param needsKey whether it is refused without a key */
export const contextOf = (command: Command, needsKey = true): Context => {
  const { url, json, profile } = command.optsWithGlobals<{ url: string; json?: boolean; profile?: string }>()
  if (profile !== undefined && rootOf(command).getOptionValueSource('url') === 'cli')
    throw new Misuse('Give --url or --profile, not both: a profile has its own address.')
  const namedProfile = profile === undefined ? null : profileNamed(profile, process.env)
  const isGiven = namedProfile !== null || rootOf(command).getOptionValueSource('url') !== 'default'
  const address = isGiven ? url : (urlOfOwnHost(process.env) ?? url)
  return { ...connect(address, process.env, namedProfile, needsKey), json: json === true }
}
