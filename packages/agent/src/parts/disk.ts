import { join } from 'node:path'
import { openMemory } from '../bans/memory.ts'
import { openJournal } from '../commands/journal.ts'
import type { Identity } from '../config.ts'
import type { Log } from '../log.ts'
import type { Options } from '../options.ts'
import { openOutbox } from '../outbox.ts'
import { createPolicy } from '../policy/policy.ts'
import { createRejected } from '../rejected.ts'
import { createUpgrades } from '../upgrade/upgrades.ts'

/** State that survives a restart. */
export const openDisk = (needs: { identity: Identity; options: Options; now: () => number; log: Log }) => {
  const { identity, options, now, log } = needs
  const { state } = options
  const outbox = openOutbox(join(state, 'outbox'), { warn: log.warn })
  const rejected = createRejected(join(state, 'rejected.jsonl'), now)
  const saved = openMemory(join(state, 'state.json'), { ready: () => outbox.flush(), now, warn: log.warn })
  const policy = createPolicy({ directory: options.config, now })
  const upgrades = createUpgrades({ options, identity, policy, now, log })
  const journal = openJournal(join(state, 'cmd-journal.json'), now, { isUnderWay: upgrades.isUnderWay })
  return { outbox, rejected, saved, policy, upgrades, journal }
}
