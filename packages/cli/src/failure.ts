import { ApiError } from '@stockade/client'

/** What stops a command for a reason that the operator can act upon: one sentence, and the exit code 1. */
export class Failure extends Error {}

/** The command was given wrongly: one sentence, and the exit code 2. */
export class Misuse extends Error {}

/** A refusal that the option `--force` gets past, in the words of the command line; anything else as it is. */
export const withForceOption = (error: unknown): unknown => {
  if (!(error instanceof ApiError) || error.reason !== 'force-required') return error
  const objections = new Set((error.body.details ?? []).map(({ message }) => message))
  return new Failure(`${[...objections].slice(0, 3).join(' ')} Give --force to ban it all the same.`)
}
