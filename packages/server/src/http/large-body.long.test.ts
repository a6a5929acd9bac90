import { expect, test } from 'vitest'
import { createLargeBodies } from './large-body.ts'

const usual = { time: 20_000, memory: 256, waiting: 64, characters: 128 * 1024 * 1024 }
const filler = (length: number) => `{"bans":[],"x":"${'y'.repeat(length)}"}`

test('a body that takes too much memory is refused, and the next one is read', async () => {
  const large = createLargeBodies({ ...usual, memory: 24 })
  try {
    const many = `{"bans":[${'{"a":1},'.repeat(59_000)}{}]}`
    const small = large.read('POST /bans/batch', filler(70_000))
    const [first, second, third] = await Promise.allSettled([
      large.read('POST /bans/batch', `{"bans":[],"x":${JSON.stringify(many.repeat(12))}}`),
      large.read('POST /bans/batch', filler(80_000)),
      small,
    ])
    expect(first).toMatchObject({ reason: { status: 400, message: 'The body takes more memory to read than 24 MiB.' } })
    expect([second.status, third.status]).toEqual(['fulfilled', 'fulfilled'])
  } finally {
    await large.close()
  }
})

test('a body that takes too long is refused, and the next one is read', async () => {
  // The thread alone takes longer to start than that; the second body finds it at work.
  const large = createLargeBodies({ ...usual, time: 1 })
  try {
    await expect(large.read('POST /bans/batch', filler(70_000))).rejects.toMatchObject({
      status: 400,
      message: 'The body takes longer to read than 0.001 s.',
    })
    await expect(large.read('POST /bans/batch', filler(70_000))).rejects.toMatchObject({ status: 400 })
  } finally {
    await large.close()
  }
})

test('the end of the server ends what waits', async () => {
  const large = createLargeBodies()
  const reading = expect(large.read('POST /bans/batch', filler(70_000))).rejects.toMatchObject({ status: 503 })
  await large.close()
  await reading
})

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
