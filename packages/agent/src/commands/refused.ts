/** A command that was refused or failed. The message is its output. */
export class Refused extends Error {
  readonly code: number
  constructor(message: string, code = 1) {
    super(message)
    this.code = code
  }
}
