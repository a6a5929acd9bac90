import { it } from 'vitest'
import { onStage } from '../stage.ts'
import { unpackedEngines } from './settings.ts'

/* What other versions of fail2ban do otherwise, beside damage. The installed one has its tests in bans.test.ts. */

const others = unpackedEngines()
if (others.length === 0) it.skip('bans of other versions: `npm run check -- sabotage` unpacks them')
for (const engine of others)
  onStage(
    `bans of fail2ban ${engine.version}`,
    [
      'an IPv4 attack is reported once, with its log lines',
      'an IPv6 attack is reported once',
      'the end of a ban by its own time is told',
      'ends that fail2ban moves are told',
      'bans that fail2ban lifts all at once end at the server',
      'restart and reload of fail2ban are not reported',
    ],
    undefined,
    { engine },
  )
