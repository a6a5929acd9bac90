import * as fs from 'node:fs'
import { getSystemErrorName } from 'node:util'
import { codeOf, errorText } from '@stockade/contract/error-code.ts'
import { decode, encode, flag } from './codec.ts'
import type { Draft, Message } from './codec.ts'

/** The kernel refused a request. `code` is the name of the error number, such as ENOENT. */
export class NetlinkError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface NetlinkConnection {
  /** Executes the messages as one transaction: all or nothing, and done on return. @throws NetlinkError */
  commit(drafts: readonly Draft[]): void
  /** The replies to one request, without the end mark of a dump. @throws NetlinkError */
  ask(draft: Draft): Message[]
}

/** How the bytes get to the kernel and back. `receive` is null when nothing is left to read. */
export interface NetlinkChannel {
  send(bytes: Buffer): number
  receive(): Buffer | null
}

/** The variable in which the launcher names the descriptor. */
const descriptorVariable = 'STOCKADE_NETLINK_FD'

const errorType = 2
const doneType = 3
const batchBegin = 16
const batchEnd = 17
/** The kernel sends at most 32 KiB in one datagram of a dump. */
const receiveBytes = 256 * 1024
/** A request that meets a full receive buffer is repeated. */
const maxTries = 3

/** The socket that the launcher opened, or null if there is none. */
const inheritedChannel = (environment: NodeJS.ProcessEnv): NetlinkChannel | null => {
  const descriptor = Number(environment[descriptorVariable] ?? '')
  if (!Number.isInteger(descriptor) || descriptor < 3) return null
  try {
    if (!fs.fstatSync(descriptor).isSocket()) return null
  } catch {
    return null
  }
  const buffer = Buffer.alloc(receiveBytes)
  return {
    send: bytes => fs.writeSync(descriptor, bytes),
    receive() {
      try {
        // A copy, since the next call uses the buffer again.
        return Buffer.from(buffer.subarray(0, fs.readSync(descriptor, buffer)))
      } catch (error) {
        if (codeOf(error) === 'EAGAIN') return null
        throw error
      }
    },
  }
}

/** A connection over the launcher's socket; null if there is none. Open it once: two of them would read each other's replies. */
export const inheritedConnection = (subsystem: number): NetlinkConnection | null => {
  const channel = inheritedChannel(process.env)
  return channel === null ? null : createConnection(channel, subsystem)
}

/** `subsystem` is the number of the nfnetlink subsystem, whose transactions these are. */
export const createConnection = (channel: NetlinkChannel, subsystem: number): NetlinkConnection => {
  let sequence = 0
  /** Every reply was read. One more read would throw an exception, which costs more than the request. */
  let isEmpty = false

  const receiveAll = (): Message[] => {
    const messages: Message[] = []
    for (let bytes = channel.receive(); bytes !== null; bytes = channel.receive()) messages.push(...decode(bytes))
    return messages
  }

  /** Discards replies that an interrupted request left behind. */
  const drain = (): void => {
    while (!isEmpty) {
      try {
        receiveAll()
        isEmpty = true
      } catch (error) {
        if (!isOverflow(error)) throw asNetlinkError(error)
      }
    }
  }

  const send = (bytes: Buffer): void => {
    isEmpty = false
    let sent: number
    try {
      sent = channel.send(bytes)
    } catch (error) {
      throw asNetlinkError(error)
    }
    if (sent !== bytes.length)
      throw new NetlinkError('EMSGSIZE', `the kernel took ${sent} of ${bytes.length} bytes of a request`)
  }

  /** The kernel ends a dump by a mark, and answers another request, or refuses it, by one message. */
  const repliesTo = (number: number, isDump: boolean): Message[] => {
    const replies: Message[] = []
    while (!isEmpty) {
      const bytes = channel.receive()
      const ownReplies = (bytes === null ? [] : decode(bytes)).filter(message => message.sequence === number)
      replies.push(...ownReplies)
      isEmpty = bytes === null || ownReplies.some(({ type }) => !isDump || type === doneType || type === errorType)
    }
    for (const reply of replies) throwIfError(reply)
    return replies.filter(({ type }) => type !== doneType && type !== errorType)
  }

  return {
    commit(drafts) {
      drain()
      const frame = (type: number): Draft => ({ type, flags: 0, family: 0, resource: subsystem, body: Buffer.alloc(0) })
      const first = sequence + 1
      const all = [frame(batchBegin), ...drafts, frame(batchEnd)].map(draft => encode(draft, (sequence += 1)))
      send(Buffer.concat(all))
      let replies: Message[]
      try {
        replies = receiveAll()
        isEmpty = true
      } catch (error) {
        // A transaction without error has no replies, so an overflow means that errors got lost.
        throw asNetlinkError(error)
      }
      for (const reply of replies) if (reply.sequence >= first && reply.sequence <= sequence) throwIfError(reply)
    },
    ask(draft) {
      for (let tries = 1; ; tries += 1) {
        drain()
        sequence += 1
        send(encode(draft, sequence))
        try {
          return repliesTo(sequence, (draft.flags & flag.dump) === flag.dump)
        } catch (error) {
          if (!isOverflow(error) || tries === maxTries) throw asNetlinkError(error)
        }
      }
    },
  }
}

const throwIfError = ({ type, flags, payload }: Message): void => {
  if (type === doneType && (flags & interrupted) !== 0) throw new NetlinkError('EINTR', 'a dump was interrupted')
  if (type !== errorType || payload.length < 4) return
  const number = payload.readInt32LE(0)
  if (number === 0) return
  const code = getSystemErrorName(number)
  throw new NetlinkError(code, `the kernel refused the request: ${code}`)
}

/** The content changed while it was dumped (NLM_F_DUMP_INTR). */
const interrupted = 0x10

const isOverflow = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 'ENOBUFS' || code === 'EINTR'
}

const asNetlinkError = (error: unknown): NetlinkError => {
  if (error instanceof NetlinkError) return error
  return new NetlinkError(codeOf(error) ?? 'EIO', `netlink: ${errorText(error)}`)
}
