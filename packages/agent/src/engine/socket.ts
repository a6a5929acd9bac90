import * as fs from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { codeOf } from '@stockade/contract/error-code.ts'
import { asFields, isList } from '../json.ts'
import { decodePickle, encodePickle } from './pickle.ts'
import type { Pickled, Word } from './pickle.ts'
import { errorText } from '../text.ts'

const endMark = Buffer.from('<F2B_END_COMMAND>')
const maxReplyBytes = 32 * 1024 * 1024

/** fail2ban does not run, does not answer or answers nonsense. The agent waits; it never stops for this. */
export class EngineDown extends Error {}

/** fail2ban took the connection and does not answer: it is stopped, stuck or very busy. */
export class EngineHung extends EngineDown {}

/** fail2ban understood the request and refused it. */
export class EngineRefused extends Error {}

/** Reads a reply. Throws PickleError. */
export type ReadReply = (bytes: Buffer) => Pickled

interface Request {
  readonly words: Word
  readonly timeout: number
  readonly read: ReadReply
  resolve(reply: Pickled): void
  reject(error: Error): void
}

export interface EngineSocket {
  /** The data of a good reply. Throws EngineRefused (fail2ban said no) or EngineDown. */
  call(words: readonly Word[], timeout?: number, read?: ReadReply): Promise<Pickled>
  close(): void
}

/**
 * fail2ban's control socket: one request at a time over one connection that is made when needed. `onLost` hears that a
 * connection broke, which is how a stop or restart of the daemon shows.
 */
export const createEngineSocket = (options: {
  path: string
  /** A container has the folder of the socket, and can put a link to another socket of the host in its place. */
  refusesLinks?: boolean
  onLost: () => void
}): EngineSocket => {
  const queue: Request[] = []
  let socket: Socket | null = null
  let received: Buffer[] = []
  let current: { request: Request; timer: NodeJS.Timeout } | null = null

  const next = (): void => {
    if (current || queue.length === 0) return
    const request = queue.shift()
    if (!request) return
    const timer = setTimeout(
      () => drop(new EngineHung(`fail2ban did not answer within ${request.timeout} ms`)),
      request.timeout,
    )
    current = { request, timer }
    if (socket === null && options.refusesLinks === true && isLink(options.path))
      return drop(new EngineDown(`${options.path} is a link, and no link of a container is followed`))
    socket ??= open()
    socket.write(Buffer.concat([encodePickle(request.words), endMark]))
  }

  const open = (): Socket => {
    const opened = connect({ path: options.path })
    received = []
    opened.on('data', (chunk: Buffer) => {
      if (opened === socket) onData(chunk)
    })
    opened.on('error', error => {
      // The few places for waiting connections are full.
      const isFull = codeOf(error) === 'EAGAIN'
      if (opened === socket) drop(new (isFull ? EngineHung : EngineDown)(errorText(error)))
    })
    opened.on('close', () => {
      if (opened === socket) drop(new EngineDown('fail2ban closed the connection'))
    })
    return opened
  }

  const onData = (chunk: Buffer): void => {
    received.push(chunk)
    const size = received.reduce((sum, part) => sum + part.length, 0)
    if (size > maxReplyBytes) return drop(new EngineDown('the reply is unreasonably large'))
    if (!endsWithMark(received)) return
    const whole = Buffer.concat(received)
    let reply: Pickled
    try {
      reply = (current?.request.read ?? decodePickle)(whole.subarray(0, whole.length - endMark.length))
    } catch (error) {
      // The mark may be part of a log line inside the reply; the rest is on its way, or the timeout ends this.
      if (errorText(error).includes('too early')) {
        received = [whole]
        return
      }
      return drop(new EngineDown(`fail2ban's reply is not readable: ${errorText(error)}`))
    }
    received = []
    settle(request => request.resolve(reply))
  }

  const settle = (end: (request: Request) => void): void => {
    const done = current
    current = null
    if (done) {
      clearTimeout(done.timer)
      end(done.request)
    }
    next()
  }

  /** The connection is unusable: the request in flight and all waiting ones fail, and the next call connects again. */
  const drop = (error: EngineDown): void => {
    const lost = socket
    socket = null
    received = []
    lost?.destroy()
    const waiting = queue.splice(0)
    settle(request => request.reject(error))
    for (const request of waiting) request.reject(error)
    if (lost) options.onLost()
  }

  return {
    async call(words: readonly Word[], timeout = 10_000, read: ReadReply = decodePickle): Promise<Pickled> {
      refuseMarks(words)
      const reply = await new Promise<Pickled>((resolve, reject) => {
        queue.push({ words, timeout, read, resolve, reject })
        next()
      })
      return dataOf(reply)
    },
    close(): void {
      drop(new EngineDown('closed'))
    },
  }
}

const isLink = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const endsWithMark = (parts: readonly Buffer[]): boolean => {
  let tail: Buffer = Buffer.alloc(0)
  for (let i = parts.length - 1; i >= 0 && tail.length < endMark.length; i -= 1)
    tail = Buffer.concat([parts[i] ?? tail, tail])
  return tail.length >= endMark.length && tail.subarray(tail.length - endMark.length).equals(endMark)
}

/** fail2ban splits its input at the mark, so a word that holds it would be a second command. */
const refuseMarks = (word: Word): void => {
  if (typeof word === 'string' && word.includes('<F2B_')) throw new EngineRefused('a value must not contain "<F2B_"')
  if (isList(word)) for (const item of word) refuseMarks(item)
}

const dataOf = (reply: Pickled): Pickled => {
  if (typeof reply === 'string') throw new EngineRefused(reply)
  if (!isList(reply)) throw new EngineDown('fail2ban answered with something that is not a reply')
  const [code, data] = reply
  if (code === 0) return data ?? null
  throw new EngineRefused(describe(data ?? null))
}

const describe = (data: Pickled): string => {
  const { py, args } = asFields(data)
  if (typeof py === 'string' && isList(args)) {
    const name = py.slice(py.lastIndexOf('.') + 1)
    return `${name}: ${args.map(arg => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ')}`
  }
  return typeof data === 'string' ? data : JSON.stringify(data)
}
