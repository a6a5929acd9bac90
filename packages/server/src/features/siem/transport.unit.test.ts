import { createServer as createTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createOutgoing } from '../../outgoing/outgoing.ts'
import { httpReceiver } from './receivers.ts'
import type { HttpReceiver } from './receivers.ts'
import { createLine, tryOnce } from './transport.ts'
import type { Step, Target } from './line.ts'

/* What receivers do that don't do what they should. */

const outgoing = createOutgoing({ ports: [], databases: [], resolve: async () => ['127.0.0.1', '169.254.169.254'] })
/** Long enough for a busy machine. */
const times = { connect: 20_000, write: 20_000, answer: 20_000, fresh: 1000 }
/** For what never comes. */
const short = { connect: 200, write: 200, answer: 150, fresh: 1000 }
const target = (more: Partial<Target>): Target => ({
  format: 'json',
  way: 'http',
  tls: false,
  framing: 'octet-counting',
  verify: true,
  ca: null,
  host: '127.0.0.1',
  port: 1,
  path: '/',
  token: null,
  ...more,
})
const event = JSON.stringify({ id: '1' })
/** Takes connections and reads nothing, or closes them at once. */
const tcp = async (kind: 'deaf' | 'closing') => {
  const server = createTcp(socket => {
    socket.on('error', () => {})
    if (kind === 'closing') socket.destroy()
    else socket.pause()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

describe('HTTP', () => {
  let web: HttpReceiver
  beforeAll(async () => {
    web = await httpReceiver()
  })
  afterAll(() => web.stop())
  const lineTo = (more: Partial<Target> = {}, within = times) =>
    createLine(target({ port: web.port, ...more }), { outgoing, clock: Date.now, times: within })
  const answered = async (answer: HttpReceiver['answer'], within = times) => {
    web.answer = answer
    const line = lineTo({}, within)
    return line.send([event]).finally(() => line.end())
  }
  test('no answer in time is about the target', async () => {
    expect(await answered(() => null, short)).toMatchObject({
      ok: false,
      about: 'target',
      words: 'no answer within 0.15 s',
    })
  })
  test('a connection that is cut is about the target', async () => {
    expect(await answered(() => 'cut')).toMatchObject({
      ok: false,
      about: 'target',
      words: expect.stringContaining('reset'),
    })
  })
  test.each([
    [400, 'events'],
    [413, 'events'],
    [415, 'events'],
    [422, 'events'],
    [301, 'target'],
    [401, 'target'],
    [403, 'target'],
    [404, 'target'],
    [408, 'target'],
    [429, 'target'],
    [500, 'target'],
    [503, 'target'],
  ])('%i is about the %s', async (status, about) => {
    expect(await answered(() => ({ status }))).toMatchObject({ ok: false, about, status })
  })
  test.each([
    ['{"text":"Incorrect index","code":7,"invalid-event-number":1}', 'target'],
    ['{"text":"Data channel is missing","code":10}', 'target'],
    ['{"text":"Invalid data channel","code":11}', 'target'],
    ['{"text":"ACK is disabled","code":14}', 'target'],
    ['{"text":"Query string authorization is not enabled","code":16}', 'target'],
    ['{"text":"Token disabled","code":1}', 'target'],
    ['{"text":"No data","code":5}', 'events'],
    ['{"text":"Invalid data format","code":6,"invalid-event-number":0}', 'events'],
    ['{"text":"Event field is required","code":12}', 'events'],
    ['{"text":"Event field cannot be blank","code":13}', 'events'],
    ['{"text":"Error in handling indexed fields","code":15}', 'events'],
    ['Bad Request', 'events'],
  ])('of the collector: 400 %s is about the %s', async (text, about) => {
    web.answer = () => ({ status: 400, text })
    const line = lineTo({ format: 'collector', path: '/services/collector/event' })
    const sent = line.send([
      JSON.stringify({
        time: 0,
        host: 'h',
        source: 'stockade',
        sourcetype: 'stockade:event',
        event: { timestamp: '1970-01-01T00:00:00.000Z' },
      }),
    ])
    expect(await sent.finally(() => line.end())).toMatchObject({ ok: false, about, status: 400 })
  })
  test.each([
    ['30', 30_000],
    ['999999', 3_600_000],
    ['nonsense', null],
    ['-5', null],
  ])('Retry-After: %s', async (header, expected) => {
    const outcome = await answered(() => ({ status: 503, headers: { 'retry-after': header } }))
    expect(outcome).toMatchObject({ retryAfter: expected })
  })
  test('Retry-After as a date', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T12:00:00Z') })
    onTestFinished(() => void vi.useRealTimers())
    const header = new Date(Date.now() + 60_000).toUTCString()
    const outcome = await answered(() => ({ status: 503, headers: { 'retry-after': header } }))
    expect(outcome).toMatchObject({ retryAfter: 60_000 })
  })
  test('an endless answer is cut off', async () => {
    const outcome = await answered(() => ({ status: 500, text: 'x'.repeat(500_000) }))
    expect(outcome).toMatchObject({ status: 500 })
    expect((outcome as { words: string }).words.length).toBeLessThan(400)
  })
  test('a name with one address that is nobody’s target is not called at all', async () => {
    const before = web.connections()
    const line = lineTo({ host: 'siem.example' })
    expect(await line.send([event])).toMatchObject({
      ok: false,
      about: 'target',
      words: expect.stringMatching(/^resolve: .*link-local/),
    })
    await expect(line.open()).rejects.toThrow(/link-local/)
    expect(web.connections()).toBe(before)
    await line.end()
  })
})

describe('streams', () => {
  test('a receiver that takes nothing more is given up after a while', async () => {
    const deaf = await tcp('deaf')
    const line = createLine(target({ format: 'syslog', way: 'stream', port: deaf.port }), {
      outgoing,
      clock: Date.now,
      times: { ...times, write: 200 },
    })
    await line.open()
    const outcome = await line.send(['x'.repeat(20_000_000)])
    expect(outcome).toMatchObject({ ok: false, about: 'target', words: expect.stringContaining('nothing is taken') })
    await expect.poll(() => [line.isOpen(), line.brokenAt()]).toEqual([false, expect.any(Number)])
    deaf.close()
  })
  test('one that closes at once is told of by the test', async () => {
    const closing = await tcp('closing')
    const steps: Step[] = []
    const tried = tryOnce(target({ format: 'syslog', way: 'stream', port: closing.port }), 'hello', {
      outgoing,
      clock: Date.now,
      times,
      note: step => steps.push(step),
    })
    await expect(tried).rejects.toThrow(/closed|reset/)
    expect(steps.at(-1)).toMatchObject({ ok: false })
    closing.close()
  })
  test('TLS with somebody who speaks none ends in time', async () => {
    const deaf = await tcp('deaf')
    const line = createLine(target({ format: 'syslog', way: 'stream', tls: true, port: deaf.port }), {
      outgoing,
      clock: Date.now,
      times: short,
    })
    await expect(line.open()).rejects.toMatchObject({ step: 'tls', message: 'no TLS within 0.2 s' })
    deaf.close()
  })
})
