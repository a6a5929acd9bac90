import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { clientLine, hostFor, shellLine } from './lines.ts'

const run = promisify(execFile)

it('gives the line of the client', () => {
  expect(clientLine({ protocol: 'tcp', knock_ports: [7000, 9000] }, 'web-01')).toBe('stockade knock web-01 7000 9000')
  expect(clientLine({ protocol: 'udp', knock_ports: [7000, 9000] }, 'web-01')).toBe(
    'stockade knock web-01 7000 9000 --udp',
  )
})

it('puts no name into a line that could mean something else to a shell', () => {
  expect(['web-01.example', '192.0.2.1'].map(hostFor)).toEqual(['web-01.example', '192.0.2.1'])
  for (const name of ['x; rm -rf ~', '$(id)', '-oProxyCommand=x', '`id`', 'a b', '', 'a\nb', undefined])
    expect(hostFor(name)).toBe('HOST')
})

/** Three listeners that write down which one was knocked at. */
const listeners = async (protocol: 'tcp' | 'udp') => {
  const heard: number[] = []
  const open = await Promise.all(
    [0, 1, 2].map(
      () =>
        new Promise<{ port: number; close: () => void }>(resolve => {
          if (protocol === 'udp') {
            const socket = createSocket('udp4')
            socket.on('message', () => heard.push(socket.address().port))
            socket.bind(0, '127.0.0.1', () => resolve({ port: socket.address().port, close: () => socket.close() }))
            return
          }
          const server = createServer(connection => {
            heard.push((server.address() as AddressInfo).port)
            connection.destroy()
          })
          server.listen(0, '127.0.0.1', () =>
            resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() }),
          )
        }),
    ),
  )
  return { heard, ports: open.map(({ port }) => port), close: () => open.forEach(({ close }) => close()) }
}

it.runIf(existsSync('/bin/bash')).each(['tcp', 'udp'] as const)('the line for a shell knocks by %s', async protocol => {
  const { heard, ports, close } = await listeners(protocol)
  try {
    const line = shellLine({ protocol, knock_ports: ports }, hostFor('127.0.0.1'))
    await run('/bin/sh', ['-c', line])
    // A busy process may take what came at several sockets at once, in any order.
    await expect.poll(() => heard.toSorted()).toEqual(ports.toSorted())
    expect(line).toContain(`for p in ${ports.join(' ')};`)
  } finally {
    close()
  }
})
