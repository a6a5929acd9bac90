import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openJournal } from '../src/commands/journal.ts'
import { createAcknowledging } from '../src/loops/acknowledging.ts'
import { createCarrier } from '../src/loops/carrier.ts'
import { createLine } from '../src/loops/line.ts'
import { createLink } from '../src/loops/link.ts'
import { createPoll } from '../src/loops/poll.ts'
import { createResults } from '../src/loops/results.ts'
import { ServerError } from '../src/transport.ts'
import type { Acknowledgement, Cargo, News, Offer, RowResult } from '../src/wire.ts'

/* What the answer to a poll leads to goes with the next poll. The loops are those of the agent; the server is a script of answers. */

const quiet = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const done = { success: true, output: 'done', exit_code: 0 }
const command = (id: string) => ({ id, type: 'jail-status', params: {} })
const offered = (version: string): Offer => ({
  state: {
    version,
    whitelist: { version: 'w1', count: 0, spread: 0 },
    portknock: null,
    lists: null,
    move: null,
    fleetBans: null,
  },
  list: null,
})
const nothing = { commands: [], stateVersion: null, offer: null, turns: true }

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type Answer = News & { readonly results?: readonly RowResult[] }

/** The loops of an agent. `answers` are those to its polls, in order, each when `next` is called; the last poll is held. */
const build = () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-turn-'))
  const stopping = new AbortController()
  const { signal } = stopping
  const journal = openJournal(join(folder, 'journal.json'), Date.now)
  /** Each request as it was sent: `poll`, or what it reported. */
  const sent: (Cargo | 'poll')[] = []
  const answers: ((answer: Promise<Answer>) => void)[] = []
  const held = () =>
    new Promise<Answer>((resolve, reject) => {
      answers.push(resolve)
      signal.addEventListener('abort', () => reject(new Error('stopped')))
    })
  const carrier = createCarrier()
  const wire = {
    pending: () => {
      sent.push('poll')
      return held()
    },
    turn: async (cargo: Cargo) => {
      sent.push(cargo)
      const answer = await held()
      return { ...answer, results: answer.results ?? cargo.results?.map(({ id }) => ({ id, error: null })) ?? [] }
    },
    acknowledge: async (applied: Acknowledgement) => void sent.push({ applied }),
    results: async (results: NonNullable<Cargo['results']>) => {
      sent.push({ results })
      return results.map(({ id }) => ({ id, error: null }))
    },
  }
  const common = { wire, carrier, signal, link: createLink(quiet), log: quiet, now: () => performance.now() }
  const line = createLine(() => performance.now(), signal)
  let state = 's1'
  let lost = 0
  const acknowledge = createAcknowledging({
    ...common,
    whitelist: { held: () => ({ entries: 1, error: null }) },
    knock: { report: () => undefined },
    fleet: { report: () => Promise.resolve(null) },
    lists: { report: () => Promise.resolve(null) },
    mover: { report: () => undefined },
    onLost: () => void (lost += 1),
  })
  const results = createResults({ ...common, journal })
  const finish = async (id: string) => {
    await journal.started(id)
    await journal.finished(id, done)
    results.wake()
  }
  const poll = createPoll({
    ...common,
    line,
    onCommands(commands) {
      if (commands.length > 0) line.first(results.turned())
      for (const { id } of commands) void finish(id)
    },
    state: () => state,
    onState(version, offer) {
      if (version === null || offer === null) return
      state = version
      line.first(acknowledge(version, 'w1'))
    },
    interval: () => 0.01,
  })
  const running = [poll.run(), results.run()]
  ends.push(async () => {
    stopping.abort()
    for (const loop of [poll, results]) loop.wake()
    await Promise.all(running)
    rmSync(folder, { recursive: true })
  })
  return {
    ...{ sent, acknowledge, finish },
    lost: () => lost,
    untold: () => journal.untold(100).map(({ id }) => id),
    /** Waits until this number of requests was sent, then answers the poll that is held. */
    async answer(requests: number, answer: Answer | ServerError) {
      await expect.poll(() => [sent.length, answers.length]).toEqual([requests, 1])
      answers.pop()?.(answer instanceof ServerError ? Promise.reject(answer) : Promise.resolve(answer))
    },
    async requests(count: number) {
      await expect.poll(() => sent.length).toBeGreaterThanOrEqual(count)
      return sent
    },
  }
}
const applied = (version: string) => ({
  version,
  whitelistVersion: 'w1',
  entries: 1,
  error: null,
  move: undefined,
  portknock: undefined,
})
const results = (...ids: string[]) => ids.map(id => ({ id, ...done }))

it('takes along what was applied and what a command did, and counts it as said with the answer', async () => {
  const agent = build()
  await agent.answer(1, { ...nothing, commands: [command('a')], stateVersion: 's2', offer: offered('s2') })
  expect(await agent.requests(2)).toEqual(['poll', { applied: applied('s2'), results: results('a') }])
  expect(agent.untold()).toEqual(['a'])
  await agent.answer(2, { ...nothing, commands: [command('b')] })
  expect(await agent.requests(3)).toEqual([expect.anything(), expect.anything(), { results: results('b') }])
  expect(agent.untold()).toEqual(['b'])
  expect(agent.lost()).toBe(0)
})

it('says it by requests of their own to a server that does not take it along', async () => {
  const agent = build()
  const answer = { ...nothing, turns: false, commands: [command('a')], stateVersion: 's2', offer: offered('s2') }
  await agent.answer(1, answer)
  const sent = await agent.requests(4)
  expect(sent).toHaveLength(4)
  expect(sent).toEqual(expect.arrayContaining([{ applied: applied('s2') }, { results: results('a') }]))
  // The poll goes last.
  expect(sent.at(-1)).toBe('poll')
  await expect.poll(agent.untold).toEqual([])
})

it('says it again where the poll failed', async () => {
  const agent = build()
  await agent.answer(1, { ...nothing, commands: [command('a')], stateVersion: 's2', offer: offered('s2') })
  await agent.answer(2, new ServerError('answered 503', 503))
  await expect.poll(agent.untold).toEqual([])
  expect(agent.sent).toContainEqual({ results: results('a') })
  expect(agent.lost()).toBe(1)
})

it('does not wait with a result that comes while a poll is held, and does not repeat those aboard', async () => {
  const agent = build()
  await agent.answer(1, { ...nothing, commands: [command('a')] })
  await agent.requests(2)
  await agent.finish('b')
  expect(await agent.requests(3)).toEqual(['poll', { results: results('a') }, { results: results('b') }])
  await expect.poll(agent.untold).toEqual(['a'])
})

it('says those results again that the answer does not name', async () => {
  const agent = build()
  await agent.answer(1, { ...nothing, commands: [command('a')] })
  await agent.answer(2, { ...nothing, results: [{ id: 'other', error: null }] })
  await expect.poll(agent.untold).toEqual([])
  expect(agent.sent.filter(request => request !== 'poll')).toEqual([
    { results: results('a') },
    { results: results('a') },
  ])
})

it('says again what is in force where a newer word went by itself meanwhile', async () => {
  const agent = build()
  await agent.answer(1, { ...nothing, stateVersion: 's2', offer: offered('s2') })
  await agent.requests(2)
  await agent.acknowledge('s2', 'w2')
  expect(agent.lost()).toBe(0)
  await agent.answer(3, nothing)
  await expect.poll(agent.lost).toBe(1)
})
