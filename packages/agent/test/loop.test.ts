import { afterEach, expect, it } from 'vitest'
import { createLink } from '../src/loops/link.ts'
import { createLoop } from '../src/loops/loop.ts'
import type { Loop } from '../src/loops/loop.ts'
import { createSerial } from '../src/serial.ts'
import { ServerError } from '../src/transport.ts'
import { eventually } from '../../server/src/testing/waiting.ts'

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const hour = 3_600_000
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Runs a loop whose turns do what the script says, in order, and then sleep for an hour. */
const build = (script: (() => number)[], more: Partial<Parameters<typeof createLoop>[0]> = {}) => {
  const stopping = new AbortController()
  const link = createLink(quiet)
  let turns = 0
  const loop: Loop = createLoop({
    link,
    signal: stopping.signal,
    speaker: 'other',
    turn: async () => {
      turns += 1
      return script.shift()?.() ?? hour
    },
    firstWait: () => hour,
    longestWait: hour,
    random: () => 1,
    ...more,
  })
  const running = loop.run()
  ends.push(async () => {
    stopping.abort()
    loop.wake()
    await running
  })
  return { link, loop, turns: () => turns }
}
const fails = (error: Error) => () => {
  throw error
}

it('takes the next turn at once, after the sleep, or when it is woken', async () => {
  const { loop, turns } = build([() => 0, () => 1])
  await eventually(() => expect(turns()).toBe(3))
  loop.wake()
  await eventually(() => expect(turns()).toBe(4))
})

it('says when a turn has ended, also one that failed', async () => {
  const { loop, turns } = build([() => hour, fails(new ServerError('answered 503', 503))])
  await eventually(() => expect(turns()).toBe(1))
  for (const next of [2, 3]) {
    const ended = loop.turned().then(turns)
    loop.wake()
    expect(await ended).toBe(next)
  }
})

it('backs off after a failure until another loop reaches the server', async () => {
  const { link, turns } = build([fails(new ServerError('answered 503', 503))])
  await eventually(() => expect(turns()).toBe(1))
  await eventually(() => {
    link.good('other')
    expect(turns()).toBe(2)
  })
})

it('waits as long as the handler of the failure says', async () => {
  const { turns } = build([fails(new Error('no')), fails(new Error('no'))], { onFailure: () => 1 })
  await eventually(() => expect(turns()).toBe(3))
})

it('takes no turn while another host uses the key, except for the heartbeat', async () => {
  const { link, loop, turns } = build([])
  await eventually(() => expect(turns()).toBe(1))
  link.bad(new ServerError('answered 409', 409), 'heartbeat')
  loop.wake()
  await new Promise(resolve => setImmediate(resolve))
  loop.wake()
  await new Promise(resolve => setImmediate(resolve))
  expect(turns()).toBe(1)
  link.good('heartbeat')
  await eventually(() => expect(turns()).toBe(2))
})

it('the queue runs one work at a time, in order, also after a failure', async () => {
  const inTurn = createSerial()
  const steps: string[] = []
  const work = (name: string) => async (): Promise<string> => {
    steps.push(`${name} begins`)
    await new Promise(resolve => setImmediate(resolve))
    steps.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
    return name
  }
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(name => inTurn(work(name))))
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
