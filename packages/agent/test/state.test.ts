import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createCarrier } from '../src/loops/carrier.ts'
import { createLink } from '../src/loops/link.ts'
import { createStateLoop } from '../src/loops/state.ts'
import { ServerError } from '../src/transport.ts'
import { createStore } from '../src/whitelist/store.ts'
import type { Whitelist } from '../src/whitelist/whitelist.ts'
import type { Acknowledgement, DesiredState, Wire } from '../src/wire.ts'

const directories: string[] = []
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  for (const place of directories.splice(0)) fs.rmSync(place, { recursive: true, force: true })
})

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const stateOf = (version: string, list: string, count = 1, spread = 0): DesiredState => ({
  version,
  whitelist: { version: list, count, spread },
  portknock: null,
  fleetBans: null,
  lists: null,
  move: null,
})

/** A server with a script of answers, and a host that takes every list. */
const build = (
  states: (DesiredState | null | Error)[],
  lists: ({ version: string; text: string } | null)[] = [],
  applying: Promise<unknown> = Promise.resolve(),
) => {
  const place = fs.mkdtempSync(join(tmpdir(), 'stockade-state-'))
  directories.push(place)
  const calls: string[] = []
  const acks: Acknowledgement[] = []
  const kept = createStore(place)
  let looks = 0
  const store = {
    ...kept,
    state: () => {
      // A loop that never rests would starve everything else, this test too.
      if ((looks += 1) > 10_000) throw new Error('the loop never rests')
      return kept.state()
    },
  }
  const wire = {
    state: (known: string | null) => {
      calls.push(`state ${known}`)
      const answer = states.shift() ?? null
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    whitelist: (known: string | null) => {
      calls.push(`list ${known}`)
      return Promise.resolve(lists.shift() ?? null)
    },
    acknowledge: (done: Acknowledgement) => Promise.resolve(void acks.push(done)),
  }
  const whitelist = {
    version: store.version,
    held: () => ({ entries: 1, error: null }),
    take: (text: string, version: string, count: number) => {
      if (text.split('\n').length - 1 < count) throw new Error('too short')
      store.putList(text, version)
    },
    apply: () => {
      calls.push('apply')
      return applying
    },
  }
  let taken: unknown = null
  const knock = {
    even: () => performance.now(),
    holds: (version: string | null) => version !== null && version === store.state(),
    take: (value: unknown) => {
      if (value !== null) calls.push(`knocks ${String(value)}`)
      taken = value
      return Promise.resolve(value !== null)
    },
    report: () => (taken === null ? undefined : { sequences: [], openings: [String(taken)] }),
    followWhitelist: () => Promise.resolve(),
  }
  const stopping = new AbortController()
  const loop = createStateLoop({
    wire: wire as unknown as Wire,
    link: createLink(quiet),
    carrier: createCarrier(),
    store,
    whitelist: whitelist as unknown as Whitelist,
    knock,
    lists: { want: () => undefined, report: () => Promise.resolve(null), isUsed: () => false },
    mover: { want: () => undefined, report: () => undefined },
    fleet: {
      version: () => 0,
      report: () => Promise.resolve(null),
      take: desired => {
        if (desired !== null) calls.push(`fleet ${desired.version}`)
        return Promise.resolve(desired !== null)
      },
    },
    signal: stopping.signal,
    random: () => 0.5,
    log: quiet,
  })
  const running = loop.run()
  stops.push(async () => {
    stopping.abort()
    loop.wake()
    await running
  })
  return {
    loop,
    calls,
    acks,
    store,
    looks: () => looks,
    settled: () => new Promise(resolve => setTimeout(resolve, 50)),
  }
}

it('fetches, applies, acknowledges, and remembers for the next start', async () => {
  const { loop, calls, acks, store, settled } = build([stateOf('s1', 'w1')], [{ version: 'w1', text: '192.0.2.1\n' }])
  expect(loop.version()).toBeNull()
  loop.want('s1')
  expect(loop.version()).toBe('s1')
  await settled()
  expect(calls).toEqual(['state null', 'list null', 'apply'])
  expect(acks).toEqual([{ version: 's1', whitelistVersion: 'w1', entries: 1, error: null }])
  expect(store.state()).toBe('s1')
})

it('a new state with the same list is applied again and acknowledged, without fetching', async () => {
  const { loop, calls, acks, store, settled } = build([stateOf('s2', 'w1')])
  store.putList('192.0.2.1\n', 'w1')
  loop.want('s2')
  await settled()
  expect(calls).toEqual(['state null', 'apply'])
  loop.want('s2')
  loop.want(null)
  await settled()
  expect(acks).toHaveLength(1)
  loop.again()
  await settled()
  expect(acks.map(({ version }) => version)).toEqual(['s2', 's2'])
})

it('what came with the answer to a poll is not requested again', async () => {
  const { loop, calls, acks, store, settled } = build([stateOf('s2', 'w2')], [{ version: 'w2', text: '192.0.2.2\n' }])
  loop.want('s1', { state: stateOf('s1', 'w1', 1, 60), list: { version: 'w1', text: '192.0.2.1\n' } })
  await settled()
  expect(calls).toEqual(['apply'])
  expect(acks).toEqual([{ version: 's1', whitelistVersion: 'w1', entries: 1, error: null }])
  expect(store.text()).toBe('192.0.2.1\n')
  // Each part is used once, and only as what it says that it is.
  loop.want('s2', { state: stateOf('s3', 'w2'), list: { version: 'w1', text: '192.0.2.1\n' } })
  await settled()
  expect(calls).toEqual(['apply', 'state s1', 'list w1', 'apply'])
  expect(acks.at(-1)).toMatchObject({ version: 's2', whitelistVersion: 'w2' })
})

it('a refused list of a poll is requested at the next try', async () => {
  const { loop, acks, calls, settled } = build([stateOf('s1', 'w1')], [{ version: 'w1', text: '192.0.2.1\n' }])
  loop.want('s1', { state: stateOf('s1', 'w1', 5), list: { version: 'w1', text: '192.0.2.1\n' } })
  await settled()
  loop.wake()
  await settled()
  expect(calls).toEqual(['state null', 'list null', 'apply'])
  expect(acks).toMatchObject([
    { version: 's1', whitelistVersion: '', error: 'too short' },
    { version: 's1', whitelistVersion: 'w1', error: null },
  ])
})

it('a list that changed in between makes it ask for the state again', async () => {
  const { loop, calls, acks, settled } = build(
    [stateOf('s1', 'w1'), stateOf('s2', 'w2')],
    [
      { version: 'w2', text: '192.0.2.2\n' },
      { version: 'w2', text: '192.0.2.2\n' },
    ],
  )
  loop.want('s1')
  await settled()
  expect(calls).toEqual(['state null', 'list null', 'state null', 'list null', 'apply'])
  expect(acks).toEqual([{ version: 's2', whitelistVersion: 'w2', entries: 1, error: null }])
  expect(loop.version()).toBe('s2')
})

it('waits its part of the spread before it fetches', async () => {
  const { loop, calls, settled } = build([stateOf('s1', 'w1', 1, 1)], [{ version: 'w1', text: '192.0.2.1\n' }])
  loop.want('s1')
  await settled()
  expect(calls).toEqual(['state null'])
  await new Promise(resolve => setTimeout(resolve, 600))
  expect(calls).toEqual(['state null', 'list null', 'apply'])
})

it('a refused list is told with its reason, and the next state is tried at once', async () => {
  const { loop, acks, settled } = build(
    [stateOf('s1', 'w1', 5), stateOf('s2', 'w2', 1)],
    [
      { version: 'w1', text: '192.0.2.1\n' },
      { version: 'w2', text: '192.0.2.2\n' },
    ],
  )
  await settled()
  loop.want('s1')
  await settled()
  expect(acks).toMatchObject([{ version: 's1', whitelistVersion: '', error: 'too short' }])
  loop.want('s2')
  await settled()
  expect(acks.at(-1)).toMatchObject({ version: 's2', whitelistVersion: 'w2', error: null })
})

it('a server that keeps no state is left in peace', async () => {
  const { loop, calls, acks, settled } = build([new ServerError('answered 404', 404, null, true)])
  loop.want('s1')
  await settled()
  expect(calls).toEqual(['state null'])
  expect(acks).toEqual([])
  expect(loop.version()).toBeNull()
})

it('knocks do not wait for a long whitelist, and where only knocks changed the list is left alone', async () => {
  let applied = (): void => undefined
  const applying = new Promise<void>(resolve => (applied = resolve))
  const knocks = (version: string, opening: string): DesiredState => ({ ...stateOf(version, 'w1'), portknock: opening })
  const { loop, calls, acks, store, settled } = build(
    [knocks('s1', 'one'), knocks('s2', 'two'), knocks('s2', 'two'), knocks('s3', 'three')],
    [{ version: 'w1', text: '192.0.2.1\n' }],
    applying,
  )
  loop.want('s1')
  await settled()
  expect(calls.at(-1)).toBe('apply')
  expect(acks).toMatchObject([{ version: 's1', whitelistVersion: '', portknock: { openings: ['one'] } }])
  loop.want('s2')
  await settled()
  expect(calls.slice(-2)).toEqual(['state null', 'knocks two'])
  expect(acks.at(-1)).toMatchObject({ version: 's2', whitelistVersion: '', portknock: { openings: ['two'] } })
  expect(store.state()).toBeNull()
  applied()
  await settled()
  expect(acks.at(-1)).toMatchObject({ version: 's2', whitelistVersion: 'w1', portknock: { openings: ['two'] } })
  const applications = calls.filter(call => call === 'apply').length
  loop.want('s3')
  await settled()
  expect(acks.at(-1)).toMatchObject({ version: 's3', whitelistVersion: 'w1', portknock: { openings: ['three'] } })
  expect(calls.filter(call => call === 'apply')).toHaveLength(applications)
})

it('takes fleet bans over without applying a list that is held', async () => {
  const { loop, calls, acks, store, settled } = build([
    stateOf('s1', 'w1'),
    { ...stateOf('s2', 'w1'), fleetBans: { version: 5, digest: 'd' } },
  ])
  store.putList('192.0.2.1\n', 'w1')
  loop.want('s1')
  await settled()
  loop.want('s2')
  await settled()
  expect(calls).toEqual(['state null', 'apply', 'state s1', 'fleet 5'])
  expect(acks.map(({ version }) => version)).toEqual(['s1', 's2'])
})

it('rests while it is asked for a report before the first state, and reports then', async () => {
  const { loop, acks, looks, settled } = build([stateOf('s1', 'w1')], [{ version: 'w1', text: '192.0.2.1\n' }])
  loop.again()
  await settled()
  expect(looks()).toBeLessThan(100)
  expect(acks).toEqual([])
  loop.want('s1')
  await settled()
  expect(acks).toHaveLength(1)
})
