import { BaseSequencer } from 'vitest/node'

/*
 * Files that take longest begin first, so that no worker is left with one of them when the others are done. Without a cache of durations, as
 * on a clean clone, vitest goes by the size of files. Measured with `npm test`; a file that is missing here comes in its usual order.
 */
const longest = [
  'tests/browser/identity.long.test.ts',
  'tests/browser/life.long.test.ts',
  'tests/browser/accessible.long.test.ts',
  'tests/browser/shell.long.test.ts',
  'tests/browser/bans.test.ts',
  'tests/browser/fleet-pages.test.ts',
  'tests/browser/first-ban.test.ts',
  'tests/e2e/first-ban.long.test.ts',
  'tests/engine/templates.long.test.ts',
  'tests/engine/shield.test.ts',
  'tests/engine/many-bans.long.test.ts',
  'tests/engine/whitelist.long.test.ts',
  'tests/engine/journal-jails.long.test.ts',
  'tests/engine/validator.long.test.ts',
  'packages/server/test/backups.long.test.ts',
  'packages/server/src/features/alerts/alerts.test.ts',
  'packages/server/src/features/rollouts/rollouts.test.ts',
  'packages/server/src/features/reputation/reputation.test.ts',
  'tests/engine/shield-lists.test.ts',
  'tests/engine/shield-rules.test.ts',
  'tests/engine/commands.test.ts',
  'tests/engine/knock.test.ts',
]
const rank = new Map(longest.map((path, index) => [path, index]))

export default class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rankOf = ({ moduleId }) => {
      const path = moduleId.slice(this.ctx.config.root.length + 1)
      return rank.get(path) ?? longest.length
    }
    // Files of the same rank stay as they were.
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
