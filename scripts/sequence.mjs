import { BaseSequencer } from 'vitest/node'

/*
 * The order of test files. Tests with hosts, and some of jobs and deliveries, wait for most of their time: while all workers have one of them, the cores
 * are idle. So some lanes of the workers get these, longest first, and the files that compute are spread over the time that this takes. The seconds
 * were measured with `npm run test:all`; a host's file that is missing here counts as `unlisted`.
 */
const waitingLanes = 3
const unlisted = 10
const ofHosts = /^tests\/(?:attacks|e2e|engine|fleet|siem)\//
const seconds = new Map([
  ['tests/engine/through/through.long.test.ts', 360],
  ['tests/engine/sabotage/table/table.long.test.ts', 300],
  ['tests/e2e/first-ban.long.test.ts', 140],
  ['tests/engine/shield.test.ts', 115],
  ['tests/engine/broken-hosts.long.test.ts', 85],
  ['packages/server/test/drain.long.test.ts', 80],
  ['tests/engine/outages.long.test.ts', 80],
  ['packages/server/test/backups.long.test.ts', 70],
  ['packages/server/src/features/whitelist/names.test.ts', 65],
  ['tests/engine/sabotage/sabotage.long.test.ts', 60],
  ['tests/engine/many-bans.long.test.ts', 60],
  ['tests/engine/bans.test.ts', 60],
  ['tests/engine/contained.long.test.ts', 55],
  ['tests/engine/templates.long.test.ts', 55],
  ['packages/server/src/features/alerts/alerts.test.ts', 55],
  ['tests/engine/at-rest.long.test.ts', 50],
  ['packages/server/src/features/reputation/reputation.test.ts', 50],
  ['tests/engine/self-test.long.test.ts', 50],
  ['tests/engine/shield-lists.test.ts', 45],
  ['packages/server/src/features/rollouts/rollouts.test.ts', 40],
  ['tests/engine/commands.test.ts', 40],
  ['tests/engine/knock.test.ts', 40],
  ['tests/engine/whitelist.long.test.ts', 40],
  ['tests/engine/journal-jails.long.test.ts', 40],
  ['tests/e2e/fleet-bans.long.test.ts', 40],
  ['tests/e2e/move.long.test.ts', 35],
  ['packages/server/src/features/alerts/stuck-channels.long.test.ts', 35],
  ['packages/server/src/features/siem/siem.test.ts', 35],
  ['tests/engine/power-cut.long.test.ts', 30],
  ['tests/engine/shield-rules.test.ts', 25],
  ['tests/engine/shield-link.test.ts', 25],
  ['tests/attacks/m9-server-beyond-the-policy.test.ts', 25],
  ['packages/server/src/features/channels/settings.test.ts', 25],
])
/** Pages run when the others are done, and the longest first there too. */
const pages = [
  'tests/browser/identity.long.test.ts',
  'tests/browser/accessible.long.test.ts',
  'tests/browser/life.long.test.ts',
  'tests/browser/shell.long.test.ts',
  'tests/browser/bans.test.ts',
  'tests/browser/fleet-pages.test.ts',
  'tests/browser/fleet.test.ts',
  'tests/browser/drafts.test.ts',
  'tests/browser/settings.test.ts',
  'tests/browser/first-ban.test.ts',
  'tests/browser/receipts.test.ts',
]
const rankOfPage = new Map(pages.map((path, rank) => [path, rank]))

/** Without a cache of durations, as on a clean clone, vitest goes by the size of files: that is the order of those that compute. */
export default class Lanes extends BaseSequencer {
  async sort(files) {
    const pathOf = ({ moduleId }) => moduleId.slice(this.ctx.config.root.length + 1)
    const waitOf = file => seconds.get(pathOf(file)) ?? (ofHosts.test(pathOf(file)) ? unlisted : 0)
    const rankOf = file => rankOfPage.get(pathOf(file)) ?? pages.length
    const sorted = (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
    const waiting = sorted.filter(file => waitOf(file) > 0).sort((a, b) => waitOf(b) - waitOf(a))
    const computing = sorted.filter(file => waitOf(file) === 0)
    const laneEnds = Array(waitingLanes).fill(0)
    const begins = new Map()
    for (const file of waiting) {
      const lane = laneEnds.indexOf(Math.min(...laneEnds))
      begins.set(file, laneEnds[lane])
      laneEnds[lane] += waitOf(file)
    }
    const whole = Math.max(...laneEnds, 1)
    for (const [index, file] of computing.entries()) begins.set(file, ((index + 0.5) / computing.length) * whole)
    return [...waiting, ...computing].sort((a, b) => begins.get(a) - begins.get(b))
  }
}
