import { createHash } from 'node:crypto'
import { inheritedConnection } from '../packages/agent/src/netlink/connection.ts'
import { nftablesSubsystem } from '../packages/agent/src/netlink/tables.ts'
import type { HeldList } from '../packages/agent/src/shield/list-store.ts'
import { takenOf } from '../packages/agent/src/shield/list-ranges.ts'
import { parseListed } from '../packages/agent/src/shield/listed.ts'
import { createNetlinkKernel } from '../packages/agent/src/shield/netlink-kernel.ts'
import { createTable } from '../packages/agent/src/shield/table.ts'

/*
 * 100,000 entries of a blocklist from their text to the kernel, and a new version in its place. Runs in a network namespace,
 * behind the launcher that opens the netlink socket:
 *
 *   ip netns add lists-bench
 *   ip netns exec lists-bench python3 -I packages/agent/src/python/launcher.py \
 *     node --max-old-space-size=64 --max-semi-space-size=1 bench/lists.ts
 *
 * with the memory settings of the agent. The goal is 32 MB more than before.
 */

const count = Number(process.env.ENTRIES ?? 100_000)
const connection = inheritedConnection(nftablesSubsystem)
if (connection === null) throw new Error('there is no netlink socket; see the head of this file')
const kernel = createNetlinkKernel(connection, ['nft'])

/** Addresses and ranges of ten prefix lengths, as published lists have them. */
const textOf = (seed: number): string => {
  const lines = Array.from({ length: count }, (_, n) => {
    const at = n * 2 + seed
    const address = `${1 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`
    return n % 5 === 0 ? `${address}.${(n % 8) * 32}/${27 + (n % 5)}` : `${address}.${n % 250}`
  })
  return `${lines.join('\n')}\n`
}
const listOf = (version: number, text: string): HeldList => ({
  id: 1,
  version,
  mode: 'enforce',
  entries: count,
  digest: createHash('sha256').update(text).digest('hex'),
  ...takenOf(parseListed(text, 200_000), null),
})
let lists: readonly HeldList[] = []
const table = createTable({ kernel, wanted: () => [], kept: () => [], mode: 'stateless', lists: () => lists })

const say = (line: string): void => void process.stdout.write(`${line}\n`)
let most = 0
const megabytes = (): number => {
  const now = Math.round(process.memoryUsage.rss() / 1024 / 1024)
  most = Math.max(most, now)
  return now
}
const timed = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
  const start = performance.now()
  const result = await work()
  say(`${what}: ${Math.round(performance.now() - start)} ms, ${megabytes()} MB`)
  return result
}

say(`${count} entries; the process has ${megabytes()} MB`)
await table.load()
const [first, second] = [textOf(0), textOf(1)]
// The texts above are the bench's own.
const atFirst = megabytes()
const one = await timed('read the text', () => listOf(1, first))
lists = [one]
await timed('into the kernel', () => table.takeLists())
await timed(`read back (${String(await table.holdsList(one))})`, () => table.holdsList(one))
const two = listOf(2, second)
lists = [two]
await timed('swapped by a new version', () => table.takeLists())
say(`held: ${String(await table.holdsList(two))}`)
await timed('the whole table again, as after a flush', () => table.load())
lists = []
await timed('taken out', () => table.takeLists())
say(`memory: at most ${most - atFirst} MB more than before, goal 32 MB`)
await kernel.remove()
