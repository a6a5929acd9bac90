import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOutgoing } from '../../outgoing/outgoing.ts'
import type { OutgoingRequest } from '../../outgoing/outgoing.ts'
import { fetchBlocklist } from './fetch.ts'

let source: Server
let port: number
let asked: string[] = []
/** What names resolve to, in the order of the questions; the last one stays. */
const names = new Map<string, string[]>()
const questions: string[] = []
const outgoing = createOutgoing({
  ports: [],
  databases: [],
  resolve: name => {
    questions.push(name)
    const answers = names.get(name) ?? []
    return Promise.resolve([(answers.length > 1 ? answers.shift() : answers[0]) ?? '192.0.2.1'])
  },
})

beforeAll(async () => {
  source = createServer((request, reply) => {
    asked.push(request.url ?? '')
    reply.writeHead(200, { 'content-type': 'text/plain' }).end('198.51.100.1\n')
  })
  await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
  port = (source.address() as AddressInfo).port
})
afterAll(() => source.close())
beforeEach(() => {
  asked = []
  questions.length = 0
})

const fetchFrom = (url: string, mayBePrivate = false) => fetchBlocklist(outgoing, { url, mayBePrivate }, null)

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '[::1]',
  '[fd00::1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::10.0.0.1]',
  '[::ffff:0:10.0.0.1]',
  '[2002:7f00:1::1]',
  '[2002:a00:1::1]',
  '[2001:db8::5efe:10.0.0.1]',
])('%s is not reached without the consent of an administrator', async host => {
  await expect(fetchFrom(`http://${host}:${port}/list`)).rejects.toThrow(/private or loopback address|never called/)
  expect(asked).toEqual([])
})

test('an address that is allowed to be private is reached', async () => {
  expect((await fetchFrom(`http://127.0.0.1:${port}/list`, true))?.body.toString()).toBe('198.51.100.1\n')
})

test('a name is resolved once for a request, and what was judged is what is reached', async () => {
  names.set('list.example', ['127.0.0.1', '10.9.9.9'])
  expect(await fetchFrom(`http://list.example:${port}/list`, true)).not.toBeNull()
  expect(questions).toEqual(['list.example'])
})

test('a name that turns to a private address is not reached any more', async () => {
  names.set('turned.example', ['127.0.0.1'])
  await expect(fetchFrom(`http://turned.example:${port}/list`)).rejects.toThrow(/private or loopback address/)
  expect(asked).toEqual([])
})

test('a redirect of a public source to a private address is refused, whatever the list may', async () => {
  names.set('lists.example', ['203.0.113.10'])
  names.set('inside.example', ['10.0.0.1'])
  names.set('twice.example', ['203.0.113.10', '127.0.0.1'])
  // Names are resolved and judged as always. Only the connection, to an address that is not here, is left out.
  const unconnected = {
    async request(url: string, { judge }: OutgoingRequest) {
      const { hostname, searchParams } = new URL(url)
      await outgoing.reach(hostname, 443, judge)
      const location = searchParams.get('to') ?? undefined
      const body = Buffer.from('198.51.100.1\n')
      return { status: location ? 302 : 200, headers: { location }, body, text: '', isCut: false }
    },
  }
  const fetchTo = (to: string, mayBePrivate: boolean) =>
    fetchBlocklist(unconnected, { url: `https://lists.example/?to=${encodeURIComponent(to)}`, mayBePrivate }, null)
  for (const mayBePrivate of [false, true])
    for (const to of ['https://inside.example/', 'https://127.0.0.1/', 'https://[64:ff9b::7f00:1]/', 'https://[::1]/'])
      await expect(fetchTo(to, mayBePrivate)).rejects.toThrow('The source redirects to a private address.')
  questions.length = 0
  expect(await fetchTo('https://twice.example/', false)).not.toBeNull()
  // Once for each request: another answer to a second question would be reached without being judged.
  expect(questions).toEqual(['lists.example', 'twice.example'])
})
