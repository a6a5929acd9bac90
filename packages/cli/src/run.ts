import { errorText } from '@stockade/contract/error-code.ts'
import { CommanderError } from 'commander'
import { ApiError } from '@stockade/client'
import { Failure, Misuse } from './failure.ts'
import { safe } from './safe.ts'
import { program } from './program.ts'

/** One sentence for whatever went wrong, and the exit code that belongs to it. */
const exitCodeOf = (error: unknown): number => {
  // It has been printed already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const message = errorText(error)
  const isExpected = error instanceof ApiError || error instanceof Failure || error instanceof Misuse
  process.stderr.write(`stockade: ${safe(isExpected ? message : `This should not happen: ${message}`)}\n`)
  return error instanceof Misuse ? 2 : 1
}

/** Runs the command that the words name. @returns its exit code. */
export const run = async (words: readonly string[]): Promise<number> => {
  try {
    await program.parseAsync([...words], { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}
