import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { parseKnock } from '../packages/agent/src/knock/model.ts'
import { script as knockScript } from '../packages/agent/src/knock/rules.ts'
import type { DriverRequest } from '../tests/engine/shield-driver.ts'
import { median, ratio, say } from './report.ts'

/*
 * `npm run bench -- shield`: what the agent's tables cost, with 10 to 100,000 bans, as many entries of a blocklist and, in the table of port
 * knocking, as many of the whitelist, in a network namespace. Times are medians; look at the ratios between the sizes, the rest is this
 * machine's. Needs root, nft and python3.
 */

const run = promisify(execFile)
const sizes = [10, 1000, 100_000]
const rounds = 15
const long = 86_400_000

/** Milliseconds. What a person, a command or another program waits for. */
const goals = { load: 1000, lists: 1000, change: 5, changeMany: 50, find: 10, foreign: 30 }
type Figure = keyof typeof goals
const titles: Readonly<Record<Figure, string>> = {
  load: 'load all bans',
  lists: 'take a blocklist, from its text',
  change: 'one ban, from request to kernel',
  changeMany: '500 bans in one transaction',
  find: 'read one ban back',
  foreign: 'nft add element beside all of it',
}

const address = (i: number): string => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
const name = `skdbench${randomBytes(3).toString('hex')}`
const inside = (...command: string[]) => run('ip', ['netns', 'exec', name, ...command])

const aDriver = () => {
  const root = join(import.meta.dirname, '..')
  const launcher = join(root, 'packages/agent/src/python/launcher.py')
  const script = join(root, 'tests/engine/shield-driver.ts')
  const program = ['python3', '-I', launcher, process.execPath, script, 'netlink', 'stateless']
  const child = spawn('ip', ['netns', 'exec', name, ...program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (request: DriverRequest): Promise<void> => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await lines.next()
    if (done === true || value.includes('"error"')) throw new Error(`the driver failed: ${done === true ? '' : value}`)
  }
  return { ask, end: () => child.kill('SIGKILL') }
}

/** The table of port knocking with one sequence, and a whitelist of addresses and ranges. */
const loadKnock = async (whitelisted: number): Promise<void> => {
  const [sequence] = parseKnock({
    sequences: [
      {
        ...{ id: 1, revision: 1, protected_port: 22, knock_ports: [7000, 8000, 9000], protocol: 'tcp', timeout: 30 },
        ...{ knock_timeout: 10, max_attempts: 5, block_duration: 600 },
      },
    ],
  }).sequences
  if (sequence === undefined) throw new Error('the sequence was refused')
  const text = knockScript([sequence], mixed(whitelisted), { reset: true, fresh: true, present: [] })
  const loading = inside('nft', '-f', '-')
  loading.child.stdin?.end(text)
  await loading
}

/** Addresses and ranges of two prefix lengths, as lists have them. */
const mixed = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const network = `${20 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`
    return i % 5 === 0 ? `${network}.${(i % 8) * 32}/27` : `${network}.${i % 250}`
  })

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const repeated = async (work: (round: number) => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await timed(() => work(round)))
  return median(times)
}

const measure = async (count: number): Promise<Record<Figure, number>> => {
  const { ask, end } = aDriver()
  try {
    const bans = Array.from({ length: count }, (_, i) => ({ entry: address(i), timeout: long }))
    await ask({ load: { bans: [], kept: [] } })
    await loadKnock(count)
    const many = (round: number) =>
      Array.from({ length: 500 }, (_, i) => ({ entry: address(0x20_0000 + round * 500 + i), timeout: long }))
    return {
      load: await timed(() => ask({ load: { bans, kept: [] } })),
      change: await repeated(round => ask({ add: [{ entry: address(0x10_0000 + round), timeout: long }] })),
      changeMany: await repeated(round => ask({ add: many(round) })),
      find: await repeated(round => ask({ find: address(round % count) })),
      lists: await timed(() =>
        ask({ lists: [{ id: 1, version: 1, mode: 'enforce', text: `${mixed(count).join('\n')}\n` }] }),
      ),
      foreign: await repeated(round =>
        inside('nft', 'add', 'element', 'inet', 'other', 'banned', `{ 192.0.2.${round} }`),
      ),
    }
  } finally {
    end()
  }
}

await run('ip', ['netns', 'add', name])
try {
  await inside('nft', 'add table inet other; add set inet other banned { type ipv4_addr; }')
  const found = new Map<number, Record<Figure, number>>()
  for (const size of sizes) found.set(size, await measure(size))
  const cells = (values: readonly string[]): void =>
    say(values.map((text, i) => (i === 0 ? text.padEnd(38) : text.padStart(12))).join(''))
  cells(['milliseconds', ...sizes.map(size => size.toLocaleString('en')), 'most/least', 'goal', ''])
  for (const figure of Object.keys(goals) as Figure[]) {
    const values = sizes.map(size => found.get(size)?.[figure] ?? 0)
    const last = values.at(-1) ?? 0
    const isMet = last <= goals[figure]
    cells([
      titles[figure],
      ...values.map(value => value.toFixed(2)),
      ratio(last, values[0] ?? 0),
      String(goals[figure]),
      isMet ? 'met' : 'MISSED',
    ])
    if (!isMet) process.exitCode = 1
  }
} finally {
  await run('ip', ['netns', 'del', name])
}
