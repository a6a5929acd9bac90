import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { stockadeProcess } from '../../server/src/testing/command.ts'
import { within } from '../../server/src/testing/waiting.ts'
import { stockade } from './run.ts'

/* The command against real sockets. */

const run = async (...args: string[]) => {
  const began = performance.now()
  const ran = await stockade({}, ['knock', ...args])
  return { ...ran, took: performance.now() - began }
}

interface Doors {
  readonly ports: readonly number[]
  /** At which door each knock came, in order. */
  readonly heard: number[]
  close(): Promise<void>
}
const tcpDoors = async (host: string, count: number): Promise<Doors> => {
  const heard: number[] = []
  const servers = Array.from({ length: count }, (_, index) => createServer(() => heard.push(index)))
  for (const server of servers) await once(server.listen(0, host), 'listening')
  return {
    ports: servers.map(server => (server.address() as AddressInfo).port),
    heard,
    close: async () => {
      for (const server of servers) await new Promise(resolve => server.close(resolve))
    },
  }
}
const udpDoors = async (host: string, count: number): Promise<Doors> => {
  const heard: number[] = []
  const sockets = Array.from({ length: count }, (_, index) =>
    createSocket(host.includes(':') ? 'udp6' : 'udp4').on('message', () => heard.push(index)),
  )
  for (const socket of sockets) await once(socket.bind(0, host), 'listening')
  return {
    ports: sockets.map(socket => socket.address().port),
    heard,
    close: async () => {
      for (const socket of sockets) await new Promise<void>(resolve => socket.close(resolve))
    },
  }
}

/** A busy process may take what came at several doors at once, in any order. Hosts of the engine's tests judge the order. */
const inOrder = (heard: readonly number[]) => heard.toSorted((a, b) => a - b)
const cameAt = ({ heard }: Doors, indexes: readonly number[]) =>
  expect.poll(() => inOrder(heard)).toEqual(inOrder(indexes))

test.each([
  ['TCP', '127.0.0.1', tcpDoors],
  ['TCP', '::1', tcpDoors],
  ['UDP', '127.0.0.1', udpDoors],
  ['UDP', '::1', udpDoors],
] as const)('by %s at %s, each once', async (protocol, host, doorsAt) => {
  const doors = await doorsAt(host, 3)
  try {
    const ports = [2, 0, 1, 0].map(index => doors.ports[index] ?? 0)
    const udp = protocol === 'UDP' ? ['--udp'] : []
    expect(await run(host, ...ports.map(String), '--delay', '20', ...udp)).toMatchObject({
      code: 0,
      err: '',
      out: `Knocked at ${host} by ${protocol}: ${ports.join(', ')}. If the sequence was right, the port is open now.\n`,
    })
    await cameAt(doors, [2, 0, 1, 0])
  } finally {
    await doors.close()
  }
})
test('a name is looked up, in the family that is asked for', async () => {
  const doors = await tcpDoors('127.0.0.1', 2)
  try {
    // As an operator runs it, without an address of a server or a key.
    const done = await stockadeProcess({}, ['knock', 'localhost', ...doors.ports.map(String), '-4', '--json'])
    expect(JSON.parse(done.out)).toEqual({
      host: 'localhost',
      address: '127.0.0.1',
      protocol: 'tcp',
      ports: doors.ports,
    })
    await cameAt(doors, [0, 1])
  } finally {
    await doors.close()
  }
})
test('closed ports are knocked at like any other', async () => {
  const doors = await tcpDoors('127.0.0.1', 3)
  const [first, , third] = doors.ports
  await doors.close()
  expect(await run('127.0.0.1', String(first), String(third))).toMatchObject({ code: 0 })
  expect(await run('127.0.0.1', String(first), String(third), '--udp')).toMatchObject({ code: 0 })
})

/** A port where the kernel drops each SYN, as a firewall would: its listener's queue is full, and nobody accepts. */
const aDeafPort = async () => {
  const code = `const s = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(s.address().port + '\\n', () => process.kill(process.pid, 'SIGSTOP')) })`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = (await within(once(child.stdout, 'data'), 'the first line')) as [Buffer]
  const port = Number(String(line).trim())
  const waiting: Socket[] = []
  const answers = (socket: Socket) =>
    new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true)).on('error', () => {})
      // An answer that came while this process was away counts before the time does.
      setTimeout(() => setImmediate(() => resolve(false)), 150)
    })
  const fill = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1')
    waiting.push(socket)
    if (await answers(socket)) await fill()
  }
  await fill()
  return {
    port,
    close: async () => {
      for (const socket of waiting) socket.destroy()
      child.kill('SIGKILL')
      await within(exited, 'the end of the command')
    },
  }
}
test('where no answer comes it goes on after the delay', async () => {
  const [deaf, doors] = [await aDeafPort(), await tcpDoors('127.0.0.1', 2)]
  try {
    const [one, two] = doors.ports.map(String)
    const slow = await run('127.0.0.1', one ?? '', String(deaf.port), two ?? '', '--delay', '900')
    expect(slow).toMatchObject({ code: 0 })
    await cameAt(doors, [0, 1])
    // It waited for the deaf port; nothing bounds how long a busy machine takes for the rest.
    expect(slow.took).toBeGreaterThanOrEqual(900)
  } finally {
    await Promise.all([deaf.close(), doors.close()])
  }
})

test.each([
  [['127.0.0.1', '7000'], 2, '2 to 10 ports'],
  [['127.0.0.1', '7000', '65536'], 2, 'from 1 to 65535'],
  [['127.0.0.1', '7000', '8000', '--delay', '5'], 2, 'from 10 to 10000'],
  [['127.0.0.1', '7000', '8000', '-4', '-6'], 2, 'one of -4 and -6'],
  [['no host', '7000', '8000'], 1, "Can't find no host: there is no host of that name."],
  [['::1', '7000', '8000', '-4'], 1, '::1 is no IPv4 address.'],
])('refused: %j', async (args, code, message) => {
  expect(await run(...args)).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
})
