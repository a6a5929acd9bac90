import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startServer, within } from '../testing/index.ts'

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
