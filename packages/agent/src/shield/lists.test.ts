import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unapprovedBan } from '@stockade/contract/seal.ts'
import { defaultRules } from '../policy/format.ts'
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
  const world = {
    limits: defaultRules.lists,
    isPolicyUnreadable: false,
    approved: null as ReadonlySet<string> | null,
    texts: new Map<number, string>(),
  }
  const store = openListStore(directory, () => world.approved)
  let inKernel: readonly HeldList[] = []
  const calls: string[] = []
  let counts = new Map<string, number>()
  const isReachable = { now: true }
  const slow = { kernel: Promise.resolve() }
  const isRefusing = { now: false }
  let clock = 0
  const lists = createLists({
    store,
    limits() {
      if (world.isPolicyUnreadable) throw new Error('policy.json can not be read')
      return world.limits
    },
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
        return Promise.resolve({ version: String(content.version), text: world.texts.get(id) ?? content.text })
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
    world,
    /** What was decided again is in force. */
    async judgeAgain() {
      lists.judgeAgain()
      await lists.settled()
      return lists.report()
    },
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
  expect(openListStore(directory, () => null).lists()).toMatchObject([{ id: 7, mode: 'enforce', entries: 2 }])
})

it('fetches a file again that was damaged on the disk', async () => {
  const text = '203.0.113.7\n'
  await build({ version: 5, text }).want([desiredOf(7, 5, text)])
  fs.writeFileSync(join(directory, 'lists', '7-5.gz'), 'damaged')
  expect(openListStore(directory, () => null).lists()).toEqual([])
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

describe('the policy of the host', () => {
  const limits = { maxEntries: 100, maxShare: 0.01, widestIpv4: 8, widestIpv6: 19, allowsUnapproved: false }
  /** Lists of these texts, which are all enforced. */
  const aHost = (...texts: string[]) => {
    const host = build({ version: 5, text: '' })
    Object.assign(host.world, { limits })
    texts.forEach((text, id) => host.world.texts.set(id + 1, text))
    return { ...host, desired: texts.map((text, id) => desiredOf(id + 1, 5, text, 'enforce')) }
  }
  const change = (line: string): string => expect.stringContaining(`its owner would change "lists${line}"`) as string

  it('refuses a list of nearly everything', async () => {
    const lines = Array.from({ length: 126 }, (_, n) => `${n + 1}.0.0.0/8\n`).join('')
    const host = aHost(lines)
    Object.assign(host.world, { limits: { ...limits, maxEntries: 250_000, maxShare: 1 / 8 } })
    expect(await host.want(host.desired)).toMatchObject([{ held: 0, error: change('.max_share') }])
    expect(host.inForce()).toEqual([])
  })

  it('counts all lists together, what two of them hold once, and refuses the last', async () => {
    const host = aHost('45.0.0.0/8\n', '46.0.0.0/8\n', '45.0.0.0/9\n45.128.0.0/9\n', '47.0.0.0/8\n', '48.0.0.1\n')
    expect(await host.want(host.desired)).toMatchObject([
      { id: 1, held: 1, error: null },
      { id: 2, held: 1, error: null },
      { id: 3, held: 2, error: null },
      { id: 4, held: 0, error: change('.max_share') },
      { id: 5, held: 1, error: null },
    ])
    expect(host.inForce()).toEqual([1, 2, 3, 5])
  })

  it('does not let a new list take the room of one that holds, and keeps the version before of one that grows', async () => {
    const host = aHost('45.0.0.0/8\n', '46.0.0.0/8\n', '47.0.0.0/8\n')
    const [first, ...others] = host.desired
    await host.want(others)
    expect(host.inForce()).toEqual([2, 3])
    const grown = '46.0.0.0/8\n48.0.0.0/8\n'
    host.world.texts.set(2, grown)
    const next = [first, desiredOf(2, 5, grown, 'enforce'), others[1]].filter(list => list !== undefined)
    expect(await host.want(next)).toMatchObject([
      { id: 1, held: 0, error: change('.max_share') },
      { id: 2, held: 1, error: change('.max_share'), digest: others[0]?.digest },
      { id: 3, held: 1, error: null },
    ])
  })

  it('fetches a refused list again only for another wish, or when it is changed itself', async () => {
    const host = aHost('45.0.0.0/8\n46.0.0.0/8\n47.0.0.0/8\n')
    await host.want(host.desired)
    await host.want(host.desired)
    host.later(3_600_000)
    await host.lists.tick()
    expect(host.calls.filter(call => call === 'list 1')).toHaveLength(1)
    Object.assign(host.world, { limits: { ...limits, maxShare: 0.02 } })
    expect(await host.judgeAgain()).toMatchObject([{ held: 3, error: null }])
    Object.assign(host.world, { limits })
    expect(await host.judgeAgain()).toMatchObject([{ held: 0, error: change('.max_share') }])
    expect(host.inForce()).toEqual([])
  })

  it('bounds entries and their width, allows none, and holds what is only counted to no share', async () => {
    const host = aHost('45.0.0.0/8\n', '46.0.0.1\n46.0.0.2\n', '2600::/19\n2600:2000::/19\n')
    Object.assign(host.world, { limits: { ...limits, maxEntries: 3, widestIpv4: 9, maxShare: 1 } })
    expect(await host.want(host.desired)).toMatchObject([
      { error: change('.widest_ipv4') },
      { held: 2, error: null },
      { error: change('.max_entries') },
    ])
    Object.assign(host.world, { limits: { ...limits, maxShare: 0 } })
    await host.judgeAgain()
    expect(host.inForce()).toEqual([])
    await host.want(host.desired.map(list => ({ ...list, mode: 'observe' })))
    expect(host.inForce()).toEqual([1, 2, 3])
    expect(await host.want(host.desired)).toMatchObject(
      [1, 2, 3].map(id => ({ id, mode: 'observe', error: change('.max_share') })),
    )
    Object.assign(host.world, { limits: null })
    expect(await host.judgeAgain()).toMatchObject([{ error: change('') }, { error: change('') }, { error: change('') }])
    expect(host.inForce()).toEqual([])
  })

  it('that cannot be read leaves lists in force, and takes no new one', async () => {
    const host = aHost('45.0.0.1\n', '46.0.0.1\n')
    await host.want(host.desired.slice(0, 1))
    host.world.isPolicyUnreadable = true
    await host.judgeAgain()
    expect(await host.want(host.desired)).toMatchObject([
      { held: 1, error: null },
      { held: 0, error: 'policy.json can not be read' },
    ])
  })

  it('believes no server that announces fewer entries than it gives', async () => {
    const text = '45.0.0.1\n45.0.0.2\n'
    const host = aHost(text)
    expect(await host.want([{ ...desiredOf(1, 5, text), entries: 1 }])).toMatchObject([
      { held: 0, error: 'the list came with 2 entries, and the server announced 1' },
    ])
  })

  it('leaves out wide ranges without an approval, also at the next start, and ranges that stand for IPv4', async () => {
    const text = '198.51.0.0/16\n198.52.0.0/16\n192.0.2.0/24\n2001:db8::/47\n64:ff9b::/96\n64:ff9b::c633:6407\n'
    const host = aHost(text)
    host.world.approved = new Set(['198.52.0.0/16'])
    const error = `the host leaves out wide ranges of the list (2): ${unapprovedBan('198.51.0.0/16')}; the host leaves out ranges that stand for IPv4 addresses (1), such as 64:ff9b::/96`
    expect(await host.want(host.desired)).toMatchObject([{ version: 5, held: 3, error }])
    expect(openListStore(directory, () => host.world.approved).lists()[0]?.approved).toEqual(['198.52.0.0/16'])
    host.world.approved = new Set(['198.51.0.0/16', '198.52.0.0/16', '2001:db8::/47'])
    expect(await host.judgeAgain()).toMatchObject([
      { held: 5, error: expect.stringContaining('64:ff9b::/96') as string },
    ])
    expect(host.calls.filter(call => call === 'list 1')).toHaveLength(1)
    host.world.approved = null
    expect(await host.judgeAgain()).toMatchObject([{ held: 5 }])
  })
})
