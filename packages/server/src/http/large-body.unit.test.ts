import { expect, test } from 'vitest'
import { createLargeBodies } from './large-body.ts'

test('what waits for the thread has a bound in characters, and room comes back', async () => {
  const large = createLargeBodies()
  try {
    const text = `{"bans":[],"x":"${'y'.repeat(16 * 1024 * 1024 - 100)}"}`
    const read = () => large.read('POST /bans/batch', text)
    const answers = await Promise.allSettled(Array.from({ length: 12 }, read))
    const taken = answers.flatMap((answer, index) => (answer.status === 'fulfilled' ? [index] : []))
    expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(answers[8]).toMatchObject({ reason: { status: 503 } })
    expect(await read()).toMatchObject({ bans: [] })
  } finally {
    await large.close()
  }
})
