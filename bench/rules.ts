import { performance } from 'node:perf_hooks'
import { createEvaluator } from '../packages/server/src/features/rules/evaluator.ts'
import type { RuleLogic, SeenBan } from '../packages/server/src/features/rules/evaluator.ts'

/*
 * What the decision of sharing rules costs a ban: 50 rules over a million bans of a day. A third come from addresses that the same server
 * banned before, and one in 30 from addresses that another server banned. Reading the bans from storage is not part of it. Prints CPU a ban and the memory of the windows.
 */

const goal = 2
const bans = 1_000_000
const servers = 3000
const hour = 3_600_000

let seed = 5
const random = (most: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed % most
}
const addressOf = (n: number): Uint8Array => Uint8Array.of(11 + (n >>> 24), n >>> 16, n >>> 8, n)

/** Rules as people write them: half of them for one jail, a fifth for some countries. */
const rules: RuleLogic[] = Array.from({ length: 50 }, (_, id) => {
  const jail = id % 2 === 0 ? id % 8 : null
  const countries = id % 5 === 0 ? new Set([id % 40, (id + 7) % 40]) : null
  return {
    id,
    minServers: 2 + (id % 4),
    minBans: 2 + (id % 4),
    within: (1 + (id % 24)) * hour,
    duration: 24 * hour,
    factor: 2,
    longest: null,
    perHour: 1_000_000,
    standing: 1_000_000,
    isMet: ban => (jail === null || ban.jailId === jail) && (countries === null || countries.has(ban.countryId)),
  }
})
const seen: SeenBan[] = []
for (let id = 1; id <= bans; id++) {
  const draw = random(30)
  const known = id > 1000 && draw < 11 ? seen[random(seen.length)] : undefined
  const ip = known?.ip ?? addressOf(random(0x40000000))
  seen.push({
    id,
    at: Date.UTC(2026, 0, 1) + id * 86,
    serverNo: known && draw > 0 ? known.serverNo : random(servers),
    jailId: known?.jailId ?? random(8),
    countryId: known?.countryId ?? random(40),
    asn: null,
    ip,
  })
}

const memory = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
}
const before = memory()
const evaluator = createEvaluator(rules, () => null)
const cpu = process.cpuUsage()
const started = performance.now()
let matches = 0
for (const ban of seen) matches += evaluator.take(ban).length
const spent = process.cpuUsage(cpu)
const each = (spent.user + spent.system) / bans
process.stdout.write(
  `sharing rules: ${rules.length} rules, ${bans} bans, ${matches} matches, ${evaluator.history.size} bans in the windows
  CPU a ban      ${each.toFixed(2)} us, goal ${goal} us: ${each <= goal ? 'yes' : 'NO'} (wall ${((performance.now() - started) / 1000).toFixed(2)} s)
  memory         ${(memory() - before).toFixed(0)} MB more than before
`,
)
