import { afterEach, describe, expect, it } from 'vitest'
import { createLine } from '../src/loops/line.ts'

describe('the line that heartbeats and polls share', () => {
  const stopping: AbortController[] = []
  afterEach(() => {
    for (const controller of stopping.splice(0)) controller.abort()
  })
  const create = () => {
    const clock = { now: 0 }
    const controller = new AbortController()
    stopping.push(controller)
    return { clock, line: createLine(() => clock.now, controller.signal) }
  }
  /** Work that ends when it is told to. */
  const held = () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    return { promise, end: () => resolve('done') }
  }
  const turn = () => new Promise(resolve => setImmediate(resolve))
  const holdOf = (line: ReturnType<typeof createLine>) => line.poll(hold => Promise.resolve(hold))

  it('has polls held until the next heartbeat, for 25 s at most', async () => {
    const { clock, line } = create()
    expect(await holdOf(line)).toBe(25)
    line.due(29_300)
    expect(await holdOf(line)).toBe(25)
    clock.now = 20_000
    expect(await holdOf(line)).toBe(10)
    clock.now = 29_200
    expect(await holdOf(line)).toBe(1)
    // A heartbeat that is late or that fails does not make polls shorter.
    clock.now = 60_000
    expect(await holdOf(line)).toBe(25)
    line.due(300_000)
    expect(await holdOf(line)).toBe(25)
  })
  it('lets a heartbeat wait for the poll that ends, and the next poll for the heartbeat', async () => {
    const { clock, line } = create()
    const order: string[] = []
    line.due(10_000)
    const [poll, beat] = [held(), held()]
    const polled = line.poll(() => poll.promise).then(() => order.push('poll'))
    await turn()
    clock.now = 10_000
    const beaten = line.heartbeat(() => {
      order.push('heartbeat begins')
      return beat.promise
    })
    const next = line.poll(() => Promise.resolve(order.push('next poll begins')))
    poll.end()
    await polled
    await expect.poll(() => order).toEqual(['poll', 'heartbeat begins'])
    beat.end()
    expect(await beaten).toBe('done')
    await next
    expect(order).toEqual(['poll', 'heartbeat begins', 'next poll begins'])
  })
  it('lets what a poll caused be reported before the next one, but not for long', async () => {
    const { line } = create()
    const order: string[] = []
    const report = held()
    line.first(report.promise.then(() => order.push('report')))
    const polled = line.poll(() => Promise.resolve(order.push('poll')))
    await turn()
    expect(order).toEqual([])
    report.end()
    await polled
    expect(order).toEqual(['report', 'poll'])
    line.first(held().promise)
    await line.poll(() => Promise.resolve(order.push('next poll')))
    expect(order).toEqual(['report', 'poll', 'next poll'])
  })
  it('does not keep an early heartbeat, or one whose poll does not end', async () => {
    const { clock, line } = create()
    line.due(20_000)
    const poll = held()
    const polled = line.poll(() => poll.promise)
    await turn()
    let isSent = false
    void line.heartbeat(() => Promise.resolve((isSent = true)))
    await turn()
    expect(isSent).toBe(true)
    clock.now = 25_000
    expect(await line.heartbeat(() => Promise.resolve('sent'))).toBe('sent')
    poll.end()
    await polled
  })
  it('goes on after failures of either', async () => {
    const { clock, line } = create()
    line.due(1000)
    await expect(line.poll(() => Promise.reject(new Error('cut off')))).rejects.toThrow('cut off')
    clock.now = 1000
    await expect(line.heartbeat(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(await holdOf(line)).toBe(25)
  })
})
