import * as fs from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../../server/src/testing/waiting.ts'
import { actionName, createHook } from '../src/bans/hook.ts'
import { createEngine, EngineDown, EngineRefused, sharedAge } from '../src/engine/engine.ts'
import { createPlaces } from '../src/engine/places.ts'
import { decodePickle, encodePickle } from '../src/engine/pickle.ts'
import type { Word } from '../src/engine/pickle.ts'
import { createEngineSocket } from '../src/engine/socket.ts'
import { engineCheck } from '../src/protection/checks/engine.ts'

const endMark = '<F2B_END_COMMAND>'
let directory = ''
let path = ''
let server: Server | null = null
const clients: Socket[] = []

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-socket-'))
  path = join(directory, 'f2b.sock')
})
afterEach(async () => {
  await stop()
  fs.rmSync(directory, { recursive: true, force: true })
})

/** A peer that answers as `reply` says: a value to pickle, or the bytes themselves. */
const listen = async (reply: (words: readonly Word[], socket: Socket) => Word | Buffer | undefined): Promise<void> => {
  server = createServer(socket => {
    clients.push(socket)
    socket.on('error', () => undefined)
    let waiting = Buffer.alloc(0)
    socket.on('data', chunk => {
      waiting = Buffer.concat([waiting, chunk])
      for (let end = waiting.indexOf(endMark); end >= 0; end = waiting.indexOf(endMark)) {
        const answer = reply(decodePickle(waiting.subarray(0, end)) as readonly Word[], socket)
        waiting = waiting.subarray(end + endMark.length)
        if (answer !== undefined)
          socket.write(Buffer.isBuffer(answer) ? answer : Buffer.concat([encodePickle(answer), Buffer.from(endMark)]))
      }
    })
  })
  await new Promise<void>(resolve => server?.listen(path, resolve))
}

const stop = async (): Promise<void> => {
  for (const client of clients.splice(0)) client.destroy()
  const closing = server
  server = null
  await new Promise<void>(resolve => (closing ? closing.close(() => resolve()) : resolve()))
}

it('asks one thing at a time, in order, over one connection', async () => {
  let open = 0
  await listen(words => {
    open += 1
    expect(open).toBe(1)
    open -= 1
    return [0, words]
  })
  const socket = createEngineSocket({ path, onLost: () => undefined })
  expect(await Promise.all([1, 2, 3].map(n => socket.call(['echo', n])))).toEqual([
    ['echo', 1],
    ['echo', 2],
    ['echo', 3],
  ])
  expect(clients).toHaveLength(1)
  socket.close()
})

it('takes an answer in pieces, and one that holds the mark itself', async () => {
  const text = `log line with ${endMark} inside`
  await listen((_, socket) => {
    const bytes = Buffer.concat([encodePickle([0, text]), Buffer.from(endMark)])
    const inner = bytes.indexOf(endMark) + endMark.length
    socket.write(bytes.subarray(0, 5))
    setTimeout(() => socket.write(bytes.subarray(5, inner)), 20)
    setTimeout(() => socket.write(bytes.subarray(inner)), 40)
    return undefined
  })
  const socket = createEngineSocket({ path, onLost: () => undefined })
  expect(await socket.call(['get'])).toBe(text)
  socket.close()
})

it('never sends a word that would be a second command', async () => {
  const asked: unknown[] = []
  await listen(words => {
    asked.push(words)
    return [0, null]
  })
  const socket = createEngineSocket({ path, onLost: () => undefined })
  await expect(socket.call(['set', 'sshd', 'banip', `x${endMark}`])).rejects.toThrow(EngineRefused)
  await expect(socket.call(['multi', ['a', ['<F2B_CLOSE_COMMAND>']]])).rejects.toThrow(EngineRefused)
  expect(asked).toEqual([])
  socket.close()
})

it('tells a refusal from an engine that is gone', async () => {
  await listen(([what]) =>
    what === 'no' ? [1, 'Invalid command'] : what === 'text' ? 'ERROR: x' : what === 'odd' ? { a: 1 } : [0, 'fine'],
  )
  const socket = createEngineSocket({ path, onLost: () => undefined })
  await expect(socket.call(['no'])).rejects.toThrow(EngineRefused)
  await expect(socket.call(['text'])).rejects.toThrow(EngineRefused)
  await expect(socket.call(['odd'])).rejects.toThrow(EngineDown)
  expect(await socket.call(['yes'])).toBe('fine')
  socket.close()
})

it('no socket, a dead one, silence and nonsense are all "down", and the next call tries again', async () => {
  let lost = 0
  const socket = createEngineSocket({ path, onLost: () => (lost += 1) })
  await expect(socket.call(['ping'])).rejects.toThrow(EngineDown)
  await listen(() => undefined)
  await expect(socket.call(['ping'], 100)).rejects.toThrow(/did not answer/)
  await stop()
  await listen(() => Buffer.from(`\xff garbage${endMark}`, 'latin1'))
  await expect(socket.call(['ping'])).rejects.toThrow(EngineDown)
  await stop()
  await listen((_, peer) => void peer.destroy())
  await expect(Promise.all([socket.call(['ping']), socket.call(['ping'])])).rejects.toThrow(EngineDown)
  await stop()
  await listen(() => [0, 'pong'])
  expect(await socket.call(['ping'])).toBe('pong')
  expect(lost).toBe(4)
  socket.close()
})

it('the engine says when it came and went', async () => {
  const news: string[] = []
  const engine = createEngine({
    socketPath: path,
    onUp: () => news.push('up'),
    onDown: () => news.push('down'),
  })
  await expect(engine.ping()).rejects.toThrow(EngineDown)
  expect({ version: engine.version(), connectedFor: engine.connectedFor() }).toEqual({
    version: null,
    connectedFor: null,
  })
  await listen(([what]) => [
    0,
    what === 'version'
      ? '1.0.2'
      : what === 'status'
        ? [
            ['Number of jail', 2],
            ['Jail list', 'sshd, nginx'],
          ]
        : 'pong',
  ])
  expect(await engine.jails()).toEqual(['sshd', 'nginx'])
  expect(engine.version()).toBe('1.0.2')
  await stop()
  await eventually(() => expect(engine.version()).toBeNull())
  await listen(() => [0, '1.1.0'])
  await engine.ping()
  expect(news).toEqual(['up', 'down', 'up'])
  engine.close()
})

const jailList = (...names: string[]): Word => [
  ['Number of jail', names.length],
  ['Jail list', names.join(', ')],
]

it('looks that are due together share one list of jails, and a command gets a fresh one', async () => {
  let lists = 0
  await listen(([what]) => {
    if (what === 'status') lists += 1
    return what === 'status' ? [0, jailList('sshd', `look-${lists}`)] : [0, '1.0.2']
  })
  const engine = createEngine({ socketPath: path, onUp: () => undefined, onDown: () => undefined })
  await engine.ping()
  const looks = await Promise.all([engine.jails(), engine.jails(sharedAge), engine.jails(sharedAge)])
  expect(looks).toEqual(Array(3).fill(['sshd', 'look-1']))
  expect(await engine.jails()).toEqual(['sshd', 'look-2'])
  expect(await engine.jails(sharedAge)).toEqual(['sshd', 'look-2'])
  engine.close()
})

it('a link in the place of the socket of a container is not followed', async () => {
  await listen(() => [0, '1.0.2'])
  fs.symlinkSync(path, join(directory, 'link.sock'))
  const places = createPlaces({ map: [], share: null })
  const common = { onUp: () => undefined, onDown: () => undefined }
  const engine = createEngine({ socketPath: join(directory, 'link.sock'), places, ...common })
  await expect(engine.ping()).rejects.toThrow('link.sock is a link, and no link of a container is followed')
  engine.close()
  const direct = createEngine({ socketPath: path, places, ...common })
  await direct.ping()
  direct.close()
})

const aHook = (onLost: () => void = () => undefined) => {
  const engine = createEngine({ socketPath: path, onUp: () => undefined, onDown: () => undefined })
  const hook = createHook({
    ...{
      engine,
      files: {
        file: join(directory, 'action.py'),
        inside: { name: actionName, file: 'action.py', spool: 'spool' },
        isShared: () => true,
      },
      source: '',
      onLost,
    },
    log: { info: () => undefined, warn: () => undefined, debug: () => undefined },
  })
  return { engine, hook }
}

it('what was asked before fail2ban was started again counts for nothing', async () => {
  const { engine, hook } = aHook()
  const attached: string[] = []
  let isStartedAgain = false
  await listen(words => {
    const [what, jail, property] = words.map(String)
    if (what === 'status') return [0, jailList('sshd')]
    if (property === 'addaction') attached.push(String(jail))
    if (property !== 'actions') return [0, '1.0.2']
    const actions = isStartedAgain ? ['nftables'] : ['nftables', actionName]
    if (!isStartedAgain) hook.forget()
    isStartedAgain = true
    return [0, actions]
  })
  expect(await hook.run()).toBe(false)
  expect(await hook.run()).toBe(true)
  expect(attached).toEqual(['sshd'])
  engine.close()
})

it('jails are asked for their actions when they are new, and when an action of ours has ended', async () => {
  const asked: string[] = []
  let jails = ['sshd']
  const withAction = new Set<string>()
  await listen(words => {
    const [what, jail, property] = words.map(String)
    if (what === 'status') return [0, jailList(...jails)]
    if (what === 'get' && property === 'actions') {
      asked.push(String(jail))
      return [0, withAction.has(String(jail)) ? ['nftables', actionName] : ['nftables']]
    }
    if (property === 'addaction') withAction.add(String(jail))
    return [0, '1.0.2']
  })
  let lost = 0
  const { engine, hook } = aHook(() => (lost += 1))
  expect(await hook.run()).toBe(true)
  jails = ['sshd', 'nginx']
  expect(await hook.run()).toBe(true)
  expect(await hook.run()).toBe(false)
  expect(asked).toEqual(['sshd', 'nginx'])
  // A reload by hand.
  withAction.clear()
  hook.suspect()
  expect(await hook.run()).toBe(true)
  expect(lost).toBe(2)
  expect([...withAction]).toEqual(['sshd', 'nginx'])
  engine.close()
})

it('the check of fail2ban keeps its connection while the same socket stands at the path', async () => {
  await listen(() => [0, 'pong'])
  const check = engineCheck({ socketPath: path, sockets: () => '' })
  const states = async () => (await check.look())?.map(({ state }) => state)
  expect(await states()).toEqual(['ok'])
  expect(await states()).toEqual(['ok'])
  expect(clients).toHaveLength(1)
  // fail2ban-client finds no daemon then, although the one that runs would still answer us.
  fs.renameSync(path, `${path}.away`)
  expect(await states()).toEqual(['bad'])
  fs.renameSync(`${path}.away`, path)
  expect(await states()).toEqual(['ok'])
  expect(clients).toHaveLength(2)
  await stop()
  expect(await states()).toEqual(['bad'])
})

it('the check of fail2ban waits for a daemon that takes questions, and calls it stuck when it goes on', async () => {
  let isSilent = true
  await listen(() => (isSilent ? undefined : [0, 'pong']))
  const check = engineCheck({ socketPath: path, sockets: () => '', deadline: 20 })
  const states = async () => (await check.look())?.map(({ state }) => state) ?? null
  const silence = async (looks: number) => {
    const seen = []
    for (let look = 0; look < looks; look += 1) seen.push(await states())
    return seen
  }
  expect(await silence(2)).toEqual([null, null])
  isSilent = false
  expect(await states()).toEqual(['ok'])
  isSilent = true
  expect(await silence(4)).toEqual([null, null, ['bad'], ['bad']])
})
