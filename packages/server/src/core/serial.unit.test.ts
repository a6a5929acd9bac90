import { expect, test } from 'vitest'
import { createSerial, shareRuns } from './serial.ts'

test('serial work runs in the order of the calls, also after a failure', async () => {
  const inTurn = createSerial()
  const steps: string[] = []
  const work = (name: string) => async () => {
    steps.push(`${name} begins`)
    await new Promise(resolve => setImmediate(resolve))
    steps.push(`${name} ends`)
    if (name === 'one') throw new Error('one failed')
    return name
  }
  const results = await Promise.allSettled([inTurn(work('one')), inTurn(work('two'))])
  expect(results).toMatchObject([{ reason: { message: 'one failed' } }, { value: 'two' }])
  expect(steps).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
})

test('calls during a run share it, and the next call runs again', async () => {
  let runs = 0
  const run = shareRuns(async () => {
    runs++
    await new Promise(resolve => setImmediate(resolve))
  })
  await Promise.all([run(), run()])
  expect(runs).toBe(1)
  await run()
  expect(runs).toBe(2)
})
