import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

/** What a name answers. `addresses` are of both families; `alias` is a chain of CNAMEs before them. */
export type DnsReply =
  | { readonly addresses: readonly string[]; readonly ttl?: number; readonly alias?: readonly string[] }
  /** A code of RFC 1035: 2 for a failure, 3 for no such name, 5 for a refusal. */
  | { readonly code: number }
  | 'silence'
  | 'junk'

export interface DnsServer {
  /** As `STOCKADE_DNS_SERVERS` takes it. */
  readonly address: string
  /** Replies by name, in lower case; other names do not exist. A pair is for A and for AAAA. */
  readonly replies: Map<string, DnsReply | readonly [DnsReply, DnsReply]>
  /** Names that were asked for, once for each query. */
  readonly asked: string[]
  close(): Promise<void>
}

const types = { A: 1, CNAME: 5, AAAA: 28 } as const
const labels = (name: string): Buffer =>
  Buffer.concat([...name.split('.').flatMap(part => [Buffer.from([part.length]), Buffer.from(part)]), Buffer.from([0])])
const bytesOf = (address: string): Buffer => {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
      [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map(word => word.toString(16)).join(':'),
    )
    .split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map(word => Number.parseInt(word, 16)))
  const [first, last] = [words(head), words(tail ?? '')]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap(word => [word >> 8, word & 0xff]))
}
const record = (name: string, type: number, ttl: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(ttl, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([labels(name), head, data])
}

/** A DNS server on loopback that answers A and AAAA over UDP. */
export const startDnsServer = async (): Promise<DnsServer> => {
  const replies: DnsServer['replies'] = new Map()
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const parts: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      parts.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const question = query.subarray(12, at + 5)
    const name = parts.join('.').toLowerCase()
    asked.push(name)
    const set = replies.get(name) ?? { code: 3 }
    const reply = Array.isArray(set) ? (set as readonly DnsReply[])[type === types.AAAA ? 1 : 0] : (set as DnsReply)
    if (reply === undefined || reply === 'silence') return
    if (reply === 'junk')
      return socket.send(
        Buffer.concat([query.subarray(0, 2), Buffer.from('81800001ffff', 'hex')]),
        from.port,
        from.address,
      )
    const { alias = [], ttl = 300, addresses } = 'code' in reply ? { addresses: [] } : reply
    const names = [name, ...alias]
    const answers = [
      ...alias.map((target, index) => record(names[index] ?? name, types.CNAME, ttl, labels(target))),
      ...addresses
        .filter(address => isIPv6(address) === (type === types.AAAA))
        .map(address => record(names.at(-1) ?? name, type, ttl, bytesOf(address))),
    ]
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | ('code' in reply ? reply.code : 0), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([head, question, ...answers]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    replies,
    asked,
    close: () => new Promise(resolve => socket.close(() => resolve())),
  }
}
