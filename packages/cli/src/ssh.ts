import { createInterface } from 'node:readline/promises'
import type { Client } from '@stockade/client'
import { guardedAmong, guardedByTemplate } from '@stockade/contract/guards-ssh.ts'
import { Failure, Misuse } from './failure.ts'
import type { Target } from './orders.ts'
import { safe } from './safe.ts'

/* Who switches off what guards SSH is asked first: nobody should open a host to guessing by a slip. */

/** So many hosts are named; of more only how many they are. */
const mostNamed = 10
const namesOf = (servers: readonly Target[]) => {
  const more = servers.length - mostNamed
  return `${servers
    .slice(0, mostNamed)
    .map(({ hostname }) => safe(hostname))
    .join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** On standard error, so that standard output holds nothing but the answer of the API. */
const asked = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Whoever ends the input has not agreed.
  const ended = new Promise<string>(resolve => terminal.once('close', () => resolve('')))
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(question), ended])).trim())
  } finally {
    terminal.close()
  }
}

/**
 * Asks before what guards SSH on some of the servers is switched off or taken away there; without a terminal it wants `--yes`.
 * @throws Misuse without a terminal; Failure for a no.
 */
export const agreeToUnguard = async (
  client: Client,
  what: 'jail' | 'template',
  name: string,
  targets: readonly Target[],
): Promise<void> => {
  const { jails } = await client.call('GET /servers/jails', { query: { name } })
  const guarded = (what === 'jail' ? guardedAmong : guardedByTemplate)(name, targets, jails)
  if (guarded.length === 0) return
  const warning = `${safe(name)} guards the SSH log-in on ${namesOf(guarded)}. Without it nobody who guesses passwords there is banned.`
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Misuse(`${warning} Say --yes if it shall be.`)
  const verb = what === 'jail' ? 'Switch it off' : 'Take it off'
  const where = targets.length === 1 ? namesOf(targets) : `${targets.length} servers`
  if (!(await asked(`${warning}\n${verb} on ${where}? [y/N] `))) throw new Failure('Nothing was sent.')
}
