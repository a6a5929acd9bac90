import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { contentDigest, openListStore } from './list-store.ts'
import type { DesiredList, HeldList } from './list-store.ts'
import { parseListed } from './listed.ts'
import { createLists } from './lists.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-lists-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const desiredOf = (
  id: number,
  version: number,
  text: string,
  mode: 'enforce' | 'observe' = 'observe',
): DesiredList => ({
  id,
  version,
  mode,
  entries: text.split('\n').length - 1,
  digest: contentDigest(text),
})

/** A server with one content, and a kernel that holds what the disk says. */
const build = (content: { version: number; text: string }) => {
  const store = openListStore(directory)
  let inKernel: readonly HeldList[] = []
  const calls: string[] = []
  let counts = new Map<string, number>()
  const isReachable = { now: true }
  const slow = { kernel: Promise.resolve() }
  const isRefusing = { now: false }
  let clock = 0
  const lists = createLists({
    store,
    shield: {
      isOn: () => true,
      async followLists(change) {
        await slow.kernel
        change()
        if (isRefusing.now) throw new Error('the shield is full')
        inKernel = store.lists()
      },
      holdsList: list => Promise.resolve(inKernel.includes(list)),
      listed: () => counts,
    },
    wire: {
      list(id) {
        calls.push(`list ${id}`)
        return Promise.resolve({ version: String(content.version), text: content.text })
      },
      answers: () => {
        clock += 30_000
        return Promise.resolve(isReachable.now)
      },
    },
    onHeld: () => void calls.push('held'),
    steadyNow: () => clock,
    signal: new AbortController().signal,
    log: quiet,
  })
  const want = async (desired: readonly DesiredList[]) => {
    lists.want(desired)
    await lists.settled()
    return lists.report()
  }
  const inForce = () => inKernel.map(({ id }) => id)
  const later = (ms: number) => void (clock += ms)
  return {
    lists,
    want,
    calls,
    isReachable,
    slow,
    isRefusing,
    inForce,
    later,
    count: (next: Map<string, number>) => (counts = next),
  }
}

it('fetches a list once, proves it, and loads it from the disk at the next start', async () => {
  const text = '198.51.100.0/24\n203.0.113.7\n'
  const host = build({ version: 5, text })
  const desired = desiredOf(7, 5, text)
  expect(await host.want([desired])).toEqual([
    { id: 7, version: 5, mode: 'observe', digest: desired.digest, held: 2, error: null },
  ])
  await host.want([desired])
  await host.want([{ ...desired, mode: 'enforce' }])
  expect(host.calls.filter(call => call === 'list 7')).toHaveLength(1)
  expect(openListStore(directory).lists()).toMatchObject([{ id: 7, mode: 'enforce', entries: 2 }])
})

it('fetches a file again that was damaged on the disk', async () => {
  const text = '203.0.113.7\n'
  await build({ version: 5, text }).want([desiredOf(7, 5, text)])
  fs.writeFileSync(join(directory, 'lists', '7-5.gz'), 'damaged')
  expect(openListStore(directory).lists()).toEqual([])
  const again = build({ version: 5, text })
  expect(await again.want([desiredOf(7, 5, text)])).toMatchObject([{ held: 1, error: null }])
})

it.each([
  ['another digest', '203.0.113.8\n', /does not match/],
  ['everything', '0.0.0.0/0\n', /too wide/],
  ['loopback', '127.0.0.1\n', /loopback/],
  ['no entries', 'drop table\n', /no entry/],
])('keeps the version before when the server gives %s', async (name, text, reason) => {
  const good = '203.0.113.7\n'
  const content = { version: 5, text: good }
  const host = build(content)
  await host.want([desiredOf(7, 5, good)])
  Object.assign(content, { version: 6, text })
  const [report] = (await host.want([desiredOf(7, 6, name === 'another digest' ? 'x\n' : text)])) ?? []
  expect(report?.error).toMatch(reason)
  expect(report).toMatchObject({ version: 6, digest: contentDigest(good), held: 1 })
})

it('takes a list out again with which the server cannot be reached', async () => {
  const text = '203.0.113.7\n'
  const host = build({ version: 5, text })
  host.isReachable.now = false
  const [report] = (await host.want([desiredOf(7, 5, text, 'enforce')])) ?? []
  expect(report).toMatchObject({ held: 0, error: 'the server could not be reached while the list was in force' })
  expect(host.lists.isUsed()).toBe(false)
})

it('takes out lists that are no longer wanted, and their files', async () => {
  const text = '203.0.113.7\n'
  const host = build({ version: 5, text })
  await host.want([desiredOf(7, 5, text)])
  expect(await host.want([])).toEqual([])
  expect(fs.readdirSync(join(directory, 'lists'))).toEqual(['lists.json'])
})

it('sums packets over counters that begin again, and tells each sum once', async () => {
  const text = '203.0.113.7\n'
  const host = build({ version: 5, text })
  await host.want([desiredOf(7, 5, text)])
  for (const packets of [3, 5, 2]) {
    host.count(new Map([['list_7', packets]]))
    await host.lists.count()
  }
  expect(host.lists.changed()).toEqual([{ id: 7, packets: 7 }])
  host.lists.told([{ id: 7, packets: 7 }])
  expect(host.lists.changed()).toEqual([])
})

it('keeps 100,000 entries in a few bytes each', () => {
  const lines = Array.from({ length: 100_000 }, (_, n) => `8.${n >> 14}.${(n >> 6) & 255}.${(n & 63) * 4}`)
  const sets = parseListed(`${lines.join('\n')}\n`, 200_000)
  expect(sets).toHaveLength(1)
  expect(sets[0]?.keys).toHaveLength(400_000)
  expect(() => parseListed(`${lines.join('\n')}\n`, 99_999)).toThrow(/more than/)
})

it('ends at the last state, also when that is the one before, asked for while another is on its way to the kernel', async () => {
  const text = '198.51.100.0/24\n'
  const host = build({ version: 5, text })
  const list = desiredOf(3, 5, text)
  const held = { id: 3, version: 5, mode: 'observe', digest: list.digest, held: 1, error: null }
  expect(await host.want([list])).toEqual([held])
  let go = (): void => undefined
  host.slow.kernel = new Promise(resolve => (go = resolve))
  const without = host.want([])
  // The work on the state without the list waits for the kernel.
  await new Promise(resolve => setImmediate(resolve))
  const again = host.want([list])
  go()
  await without
  expect(await again).toEqual([held])
})

it('takes the last list out again after the kernel refused that once', async () => {
  const text = '198.51.100.0/24\n'
  const host = build({ version: 5, text })
  await host.want([desiredOf(3, 5, text)])
  host.isRefusing.now = true
  await host.want([])
  expect(host.inForce()).toEqual([3])
  host.isRefusing.now = false
  host.later(60_000)
  await host.lists.tick()
  expect(host.inForce()).toEqual([])
})
