import { describe, expect, it } from 'vitest'
import { attributesOf, decode, encode, readText } from './codec.ts'
import type { Draft } from './codec.ts'
import { createConnection, NetlinkError } from './connection.ts'
import type { NetlinkChannel } from './connection.ts'
import { deleteElements, getRules, getTable, newElements, newSet, newTable, readElements } from './tables.ts'

const body = (draft: Draft | undefined): string => draft?.body.toString('hex') ?? ''
const address = (...parts: number[]): Buffer => Buffer.from(parts)

/** The bodies that nft 1.0.6 sends for the same commands (`nft --debug=mnl`). */
const nft = {
  tableName: '1100010073746f636b6164655f74727900000000',
  set:
    '1100010073746f636b6164655f74727900000000' +
    '0600020061000000' +
    '0800030000000010' +
    '0800040000000007' +
    '0800050000000004' +
    '08000a0000000001' +
    '0c00098008000100000003e8' +
    '0a000d000004020000000000' +
    '140011800c000100636f756e7465720004000280',
  elements: '200003801c0001800c00040000000000000013880c00018008000100c0000201',
}

describe('the messages of nf_tables', () => {
  it('are the bytes that nft sends', () => {
    expect(body(newTable('stockade_try', 0))).toBe(`${nft.tableName}0800020000000000`)
    expect(body(getTable('stockade_try'))).toBe(nft.tableName)
    const set = { name: 'a', family: 4, hasTimeout: true, hasCounter: true, size: 1000 } as const
    expect(body(newSet('stockade_try', set, 1))).toBe(nft.set)
    const [elements] = newElements('stockade_try', 'a', [{ key: address(192, 0, 2, 1), timeout: 5000 }])
    expect(body(elements)).toBe(`${nft.tableName}0600020061000000${nft.elements}`)
  })

  it('hold at most 64 kB of elements each, and lose none', () => {
    const elements = Array.from({ length: 10_000 }, (_, i) => ({ key: address(10, 0, i >> 8, i & 255), timeout: 1000 }))
    const drafts = newElements('t', 's', elements)
    expect(drafts.length).toBeGreaterThan(1)
    expect(Math.max(...drafts.map(draft => draft.body.length))).toBeLessThan(65_536)
    const found = drafts.flatMap(draft => readElements(decode(encode(draft, 1))))
    expect(found.map(({ key }) => key.toString('hex'))).toEqual(elements.map(({ key }) => key.toString('hex')))
  })

  it('hold a ban of two months, whose milliseconds need more than 32 bits', () => {
    const twoMonths = 60 * 86_400_000
    const [draft] = newElements('t', 's', [{ key: address(192, 0, 2, 1), timeout: twoMonths }])
    expect(body(draft)).toContain(`0c000400${twoMonths.toString(16).padStart(16, '0')}`)
  })

  it('delete elements without their timeout', () => {
    const [draft] = deleteElements('t', 's', [{ key: address(192, 0, 2, 1), timeout: 5000 }])
    expect(body(draft)).not.toContain('1388')
  })
})

/** A kernel that answers each request with the next list of replies. */
const aChannel = (replies: (Buffer | NodeJS.ErrnoException)[][], short = 0) => {
  const sent: Buffer[] = []
  let waiting: (Buffer | NodeJS.ErrnoException)[] = []
  const channel: NetlinkChannel = {
    send(bytes) {
      sent.push(bytes)
      waiting = [...(replies.shift() ?? [])]
      return bytes.length - short
    },
    receive() {
      const next = waiting.shift()
      if (next instanceof Error) throw next
      return next ?? null
    },
  }
  return { channel, sent }
}

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })

/** The kernel's reply to the request with that sequence number. */
const refusal = (sequence: number, number: number): Buffer => {
  const bytes = Buffer.alloc(36)
  bytes.writeUInt32LE(36, 0)
  bytes.writeUInt16LE(2, 4)
  bytes.writeUInt32LE(sequence, 8)
  bytes.writeInt32LE(-number, 16)
  return bytes
}

/** The mark at the end of a dump. */
const ended = (sequence: number): Buffer => {
  const bytes = Buffer.alloc(20)
  bytes.writeUInt32LE(20, 0)
  bytes.writeUInt16LE(3, 4)
  bytes.writeUInt32LE(sequence, 8)
  return bytes
}

describe('the connection', () => {
  const subsystem = 10

  it('frames a transaction, and names the error that the kernel answers with', () => {
    const { channel, sent } = aChannel([[], [refusal(5, 23)]])
    const connection = createConnection(channel, subsystem)
    connection.commit([newTable('t', 0)])
    expect(decode(sent[0] ?? Buffer.alloc(0)).map(({ type }) => type)).toEqual([16, 0x0a00, 17])
    expect(() => connection.commit([newTable('t', 0)])).toThrow(expect.objectContaining({ code: 'ENFILE' }) as Error)
  })

  it('ignores replies to earlier requests', () => {
    const reply = encode(newTable('mine', 0), 1)
    const { channel } = aChannel([[refusal(77, 1), reply]])
    const [message] = createConnection(channel, subsystem).ask(getTable('mine'))
    expect(message && readText(attributesOf(message).get(1))).toBe('mine')
  })

  it('repeats a request whose replies were lost, but never a transaction', () => {
    const reply = encode(newTable('mine', 0), 2)
    const { channel, sent } = aChannel([[failure('ENOBUFS')], [reply]])
    expect(createConnection(channel, subsystem).ask(getTable('mine'))).toHaveLength(1)
    expect(sent).toHaveLength(2)
    const lost = aChannel([[failure('ENOBUFS')]])
    expect(() => createConnection(lost.channel, subsystem).commit([newTable('t', 0)])).toThrow(NetlinkError)
    expect(lost.sent).toHaveLength(1)
  })

  it('reads until the answer, or the mark that ends a dump, and no further', () => {
    const { channel } = aChannel([[encode(newTable('mine', 0), 1)], [encode(newTable('mine', 0), 2), ended(2)], []])
    let reads = 0
    const receive = (): Buffer | null => {
      reads += 1
      return channel.receive()
    }
    const { ask } = createConnection({ ...channel, receive }, subsystem)
    // Before the first request somebody else may have used the socket.
    expect(ask(getTable('mine'))).toHaveLength(1)
    expect(reads).toBe(2)
    expect(ask(getRules('mine'))).toHaveLength(1)
    expect(reads).toBe(4)
    expect(ask(getTable('mine'))).toHaveLength(0)
    expect(reads).toBe(5)
  })

  it('takes a short write for a failure', () => {
    const { channel } = aChannel([[]], 1)
    const commit = (): void => createConnection(channel, subsystem).commit([newTable('t', 0)])
    expect(commit).toThrow(expect.objectContaining({ code: 'EMSGSIZE' }) as Error)
  })
})
