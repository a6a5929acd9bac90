import type { Client } from '@stockade/client'
import { guardedAmong, guardedByTemplate } from '@stockade/contract/guards-ssh.ts'
import { agree, namesOf } from './ask.ts'
import type { Target } from './signing.ts'
import { safe } from './safe.ts'

/* Asks before a jail that guards SSH is switched off, so that no host is opened to guessing by a slip. */

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
  const where = targets.length === 1 ? namesOf(targets) : `${targets.length} servers`
  await agree(
    `${safe(name)} guards the SSH log-in on ${namesOf(guarded)}. Without it nobody who guesses passwords there is banned.`,
    `${what === 'jail' ? 'Switch it off' : 'Take it off'} on ${where}?`,
    'Nothing was sent.',
  )
}
