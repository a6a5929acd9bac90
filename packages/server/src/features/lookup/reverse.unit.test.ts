import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createReverse } from './reverse.ts'

/* A resolver that speaks DNS and knows two names; what it does not know it refuses, and for one address it says nothing. */

const asked: string[] = []
const names: Record<string, string> = {
  '7.113.0.203.in-addr.arpa': 'scan\u001b[31m.attacker.example',
  '9.113.0.203.in-addr.arpa': 'mail.shop.example',
}
const silent = '8.113.0.203.in-addr.arpa'
const labels = (name: string) =>
  Buffer.concat([
    ...name.split('.').map(label => Buffer.concat([Buffer.from([Buffer.byteLength(label)]), Buffer.from(label)])),
    Buffer.from([0]),
  ])
const socket = createSocket('udp4', (query, from) => {
  let at = 12
  const parts: string[] = []
  while (query[at]) {
    const length = query[at] ?? 0
    parts.push(query.subarray(at + 1, at + 1 + length).toString())
    at += length + 1
  }
  const question = query.subarray(12, at + 5)
  const name = parts.join('.')
  asked.push(name)
  if (name === silent) return
  const found = names[name]
  const answer = found === undefined ? null : labels(found)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(answer ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(answer ? 1 : 0, 6)
  const record = answer
    ? Buffer.concat([
        Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 60, answer.length >> 8, answer.length & 255]),
        answer,
      ])
    : Buffer.alloc(0)
  socket.send(Buffer.concat([head, question, record]), from.port, from.address)
})
let at: string
beforeAll(async () => {
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  at = `127.0.0.1:${(socket.address() as AddressInfo).port}`
})
afterAll(() => void socket.close())
beforeEach(() => void asked.splice(0))

test('a name is asked for once, by all who want it', async () => {
  const reverse = createReverse([at])
  expect(await Promise.all([reverse('203.0.113.9'), reverse('203.0.113.9')])).toEqual(
    Array(2).fill('mail.shop.example'),
  )
  expect(await reverse('203.0.113.9')).toBe('mail.shop.example')
  expect(asked).toEqual(['9.113.0.203.in-addr.arpa'])
})
test('no name is null, and what an attacker put into one is tamed', async () => {
  const reverse = createReverse([at])
  expect(await reverse('203.0.113.10')).toBeNull()
  expect(await reverse('2001:db8::1')).toBeNull()
  // A resolver that checks names gives none at all.
  expect(await reverse('203.0.113.7')).not.toContain('\u001b')
})
test('a resolver that says nothing is given up', async () => {
  expect(await createReverse([at])('203.0.113.8')).toBeNull()
})
