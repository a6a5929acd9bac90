/** A command that was refused or failed. The message is its output. */
export class Refused extends Error {
  readonly code: number
  constructor(message: string, code = 1) {
    super(message)
    this.code = code
  }
}

/** The command's result comes later, perhaps from another process: it stays without one in the journal. */
export class Deferred extends Error {}
