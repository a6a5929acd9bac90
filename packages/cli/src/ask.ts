import { createInterface } from 'node:readline/promises'
import { Failure, Misuse } from './failure.ts'
import { safe } from './safe.ts'

/** So many hosts are named; of more only how many they are. */
const mostNamed = 10
export const namesOf = (servers: readonly { readonly hostname: string }[]): string => {
  const more = servers.length - mostNamed
  return `${servers
    .slice(0, mostNamed)
    .map(({ hostname }) => safe(hostname))
    .join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** On standard error, so that standard output holds nothing but the answer of the API. */
const confirmed = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // The end of the input is no consent.
  const ended = new Promise<string>(resolve => terminal.once('close', () => resolve('')))
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(question), ended])).trim())
  } finally {
    terminal.close()
  }
}

/**
 * Says what it means and asks; without a terminal it wants `--yes`.
 * @throws Misuse without a terminal; Failure with that sentence for a no.
 */
export const agree = async (warning: string, question: string, refused: string): Promise<void> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Misuse(`${warning} Say --yes if it shall be.`)
  if (!(await confirmed(`${warning}\n${question} [y/N] `))) throw new Failure(refused)
}
