import { expect, test } from 'vitest'
import { createLatest } from './latest.ts'

test('a slow read does not bring back what a later one saw removed', async () => {
  const latest = createLatest()
  let value = 'nothing'
  const answers: ((found: string) => void)[] = []
  const read = () =>
    latest(
      () => new Promise<string>(resolve => answers.push(resolve)),
      found => (value = found),
    )
  const [slow, quick] = [read(), read()]
  answers[1]?.('new')
  await quick
  answers[0]?.('old')
  await slow
  expect(value).toBe('new')
  const after = read()
  answers[2]?.('newest')
  await after
  expect(value).toBe('newest')
  expect(latest.taken()).toBe(3)
})

test('a read that fails takes nothing, and the next one works', async () => {
  const latest = createLatest()
  let value = 1
  await expect(
    latest(
      () => Promise.reject(new Error('away')),
      () => (value = 2),
    ),
  ).rejects.toThrow('away')
  await latest(
    () => Promise.resolve(3),
    found => (value = found),
  )
  expect(value).toBe(3)
})
