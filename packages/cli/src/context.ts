import type { Command } from 'commander'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'

/** What every command is given beside its own arguments. */
export interface Context extends Connection {
  /** Print what the API answered, as it is. */
  readonly json: boolean
}

export const contextOf = (command: Command): Context => {
  const { url, json } = command.optsWithGlobals<{ url: string; json?: boolean }>()
  return { ...connect(url, process.env), json: json === true }
}
