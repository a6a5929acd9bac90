import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startServer, within } from '../testing/index.ts'
import { openRedirect } from './redirect.ts'

test('a connection that sends nothing does not hold up the end of the server', async () => {
  const server = await startServer()
  const silent = connect(server.port, '127.0.0.1')
  onTestFinished(() => void silent.destroy())
  await within(once(silent, 'connect'), 'the connection')
  const ended = within(once(silent, 'close'), 'the end of the connection')
  await within(server.close(), 'the end of the server')
  await ended
  // No answer of a time-out: the server ended it at once.
  expect(silent.bytesRead).toBe(0)
})

test.each([
  ['one address', 1],
  ['many addresses', 20],
])('200 idle connections of %s keep nobody from the redirect and from a challenge', async (_, addresses) => {
  const redirect = await openRedirect(
    { host: '127.0.0.1', port: 0 },
    { baseUrl: () => 'https://stockade.example', port: () => 443, challenge: token => `${token}.answer` },
  )
  onTestFinished(() => {
    redirect.closeAllConnections()
    redirect.close()
  })
  const { port } = redirect.address() as AddressInfo
  const idle: Socket[] = []
  onTestFinished(() => {
    for (const socket of idle) socket.destroy()
  })
  for (let n = 0; n < 200; n++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (n % addresses)}` })
    socket.on('error', () => undefined)
    idle.push(socket)
    await within(once(socket, 'connect'), 'an idle connection')
  }
  const ask = (path: string) =>
    within(fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' }), `the answer for ${path}`)
  expect((await ask('/bans')).headers.get('location')).toBe('https://stockade.example/bans')
  expect(await (await ask('/.well-known/acme-challenge/abc')).text()).toBe('abc.answer')
  // None of them was answered by a time-out to make room.
  expect(idle.filter(({ bytesRead }) => bytesRead > 0)).toEqual([])
})
