import { performance } from 'node:perf_hooks'
import { createEvaluator } from '../packages/server/src/features/rules/evaluator.ts'
import type { RuleLogic, SeenBan } from '../packages/server/src/features/rules/evaluator.ts'

/*
 * What the decision of sharing rules costs a ban: 50 rules over a million bans of a day. A third come from addresses that the same server
 * banned before, and one in 30 from addresses that another server banned. Reading the bans from storage is not part of it. Prints CPU a ban and the memory of the windows.
 */

const goal = 2
const bans = 1_000_000
/** Bans that are read at once. */
const page = 5000
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
    filter: {
      jail: id => jail === null || id === jail,
      country: id => countries === null || countries.has(id),
      network: () => true,
      server: () => true,
    },
  }
})
/** What later bans repeat, in typed arrays: a million objects would make the collector of garbage the largest cost. */
const made = {
  address: new Uint32Array(bans),
  server: new Uint16Array(bans),
  jail: new Uint8Array(bans),
  country: new Uint8Array(bans),
}
const banOf = (place: number): SeenBan => {
  const draw = random(30)
  const known = place > 1000 && draw < 11 ? random(place) : null
  made.address[place] = known === null ? random(0x40000000) : (made.address[known] ?? 0)
  made.server[place] = known !== null && draw > 0 ? (made.server[known] ?? 0) : random(servers)
  made.jail[place] = known === null ? random(8) : (made.jail[known] ?? 0)
  made.country[place] = known === null ? random(40) : (made.country[known] ?? 0)
  return {
    id: place + 1,
    at: Date.UTC(2026, 0, 1) + (place + 1) * 86,
    isLate: false,
    serverNo: made.server[place] ?? 0,
    jailId: made.jail[place] ?? 0,
    countryId: made.country[place] ?? 0,
    asn: null,
    ip: addressOf(made.address[place] ?? 0),
  }
}

const memory = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
}
const before = memory()
const evaluator = createEvaluator(rules, () => null)
let matches = 0
let wall = 0
let spent = 0
// In pages, as bans are read from storage. Making them is not measured.
for (let place = 0; place < bans; place += page) {
  const read = Array.from({ length: page }, (_, n) => banOf(place + n))
  const started = performance.now()
  const cpu = process.cpuUsage()
  for (const ban of read) matches += evaluator.take(ban).length
  const { user, system } = process.cpuUsage(cpu)
  spent += user + system
  wall += performance.now() - started
}
const each = spent / bans
process.stdout.write(
  `sharing rules: ${rules.length} rules, ${bans} bans, ${matches} matches, ${evaluator.history.size} bans in the windows
  CPU a ban      ${each.toFixed(2)} us, goal ${goal} us: ${each <= goal ? 'yes' : 'NO'} (wall ${(wall / 1000).toFixed(2)} s)
  memory         ${(memory() - before).toFixed(0)} MB more than before
`,
)
