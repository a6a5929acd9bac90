import { expect, it } from 'vitest'
import { fuzzGroups } from '../fuzz/groups.ts'
import { engineThere } from '../fuzz/templates.ts'
import { loudly } from './host.ts'

if (!engineThere) loudly('SKIPPED: groups of made-up filters: needs fail2ban')

it.skipIf(!engineThere)(
  'no text but an address reaches an action by a made-up filter, whichever gate it passes',
  async () => {
    const { findings, agent, server, dangerous } = await fuzzGroups(4000, 20_261_123)
    expect(findings).toEqual([])
    // The oracle knows danger when it sees it, and the gates let harmless filters pass.
    expect(dangerous).toBeGreaterThan(10)
    expect(agent).toBeGreaterThan(50)
    expect(server).toBeGreaterThan(50)
  },
)
