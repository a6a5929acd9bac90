import { expect, it } from 'vitest'
import { readPreview } from './preview.ts'

const address = { ip: '203.0.113.7', failures: 9, banned_at: '2026-11-21T08:00:00.000Z' }
const answer = {
  ...{ jail: 'sshd', banned: 1, whitelisted: 0, signed_in: 1, failures: 9 },
  addresses: [{ ...address, whitelisted: false, signed_in_at: '2026-11-21T09:00:00.000Z' }],
  log: { lines: 240, cut: 'cpu' },
}

it('reads what an agent answers, signed or not', () => {
  const read = readPreview(JSON.stringify(answer))
  expect(read).toEqual({
    ...{ banned: 1, whitelisted: 0, signedIn: 1, lines: 240, cut: 'cpu' },
    addresses: [{ ...address, whitelisted: false, signed_in_at: '2026-11-21T09:00:00.000Z' }],
  })
  expect(readPreview(`${JSON.stringify(answer)} (signed by anna)`)).toEqual(read)
})

it.each([
  ['a sentence', 'the jail sshd is not enabled on this host'],
  ['a count below none', JSON.stringify({ ...answer, banned: -1 })],
  ['addresses that are none', JSON.stringify({ ...answer, addresses: [{ ip: 7 }] })],
  ['a time that is none', JSON.stringify({ ...answer, addresses: [{ ...address, banned_at: 'soon' }] })],
  ['null', 'null'],
])('takes %s for no preview', (_, output) => {
  expect(readPreview(output)).toBeNull()
})
