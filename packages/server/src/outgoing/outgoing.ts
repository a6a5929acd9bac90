import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { networkInterfaces } from 'node:os'
import { covers, isLoopback, parseIp, parseRange } from '../core/ip.ts'
import type { IpRange } from '../core/ip.ts'

/** An address that this server may not call, or that can't be called. The message is fit for operators. */
export class Refused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Refused'
  }
}
export interface Reached {
  /** The address to connect to; names were resolved once, and nothing is resolved again. */
  readonly address: string
  readonly family: 4 | 6
  /** As it was written, for TLS and the Host header. */
  readonly host: string
  readonly port: number
}
export interface OutgoingRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Milliseconds for all of it. */
  readonly timeout: number
  /** Bytes of the answer that are read; what is beyond is dropped. */
  readonly most?: number
}
export interface OutgoingReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Every connection that this server makes to an address that somebody typed goes through here. */
export interface Outgoing {
  /** Resolves a host once and checks every address that it has. @throws Refused */
  reach(host: string, port: number): Promise<Reached>
  /** One HTTP(S) request to a checked address, without redirects. @throws Refused, or the connection's error */
  request(url: string, options: OutgoingRequest): Promise<OutgoingReply>
}

/*
 * Nobody's target: "this network" (RFC 1122), link-local (RFC 3927, RFC 4291) where clouds keep their metadata, their other
 * metadata addresses, multicast and reserved ranges (RFC 5771, RFC 1112, RFC 4291). Private and loopback addresses are
 * allowed: that is where relays and collectors live.
 */
const refusedRanges = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'fec0::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'ff00::/8',
].flatMap(text => parseRange(text) ?? [])

/** The IPv4 address inside an IPv6 one that only wraps it: NAT64 (RFC 6052), 6to4 (RFC 3056), compatible (RFC 4291). */
const wrapped = ({ bytes }: IpRange): IpRange | null => {
  if (bytes.length !== 16) return null
  const text = (part: Uint8Array) => parseIp(part.join('.'))
  if (bytes[0] === 0x20 && bytes[1] === 0x02) return text(bytes.slice(2, 6))
  const head = Buffer.from(bytes.subarray(0, 12)).toString('hex')
  if (head === '0064ff9b0000000000000000' || head.startsWith('0064ff9b0001')) return text(bytes.slice(12))
  // ::1 and :: stand for themselves.
  return head === '0'.repeat(24) && !isLoopback({ bytes, prefix: null, text: '' }) ? text(bytes.slice(12)) : null
}
/** Whether a connection to the address is refused whatever the port. */
export const isRefused = (ip: IpRange): boolean => {
  const inner = wrapped(ip)
  return refusedRanges.some(range => covers(range, ip)) || (inner !== null && isRefused(inner))
}

export const createOutgoing = (own: {
  /** Ports of this machine that are nobody else's business: our own listener. */
  readonly ports: readonly number[]
  /** The database's host and port; null where it is a file. */
  readonly database: { readonly host: string; readonly port: number } | null
}): Outgoing => {
  const isOwn = (ip: IpRange) =>
    isLoopback(ip) ||
    Object.values(networkInterfaces()).some(list => list?.some(({ address }) => parseIp(address)?.text === ip.text))
  const addressesOf = async (host: string): Promise<string[]> => {
    const bare = host.replace(/^\[|\]$/g, '')
    if (parseIp(bare)) return [bare]
    const found = await lookup(bare, { all: true, verbatim: true }).catch((error: Error & { code?: string }) => {
      throw new Refused(`${bare} can't be resolved (${error.code ?? error.message}).`)
    })
    return found.map(({ address }) => address)
  }
  const reach: Outgoing['reach'] = async (host, port) => {
    if (host.length === 0 || host.length > 253 || /[\s/@%\\?#]/.test(host))
      throw new Refused('The host is no host name and no address.')
    const ips = (await addressesOf(host)).map(text => {
      const ip = parseIp(text)
      if (!ip || isRefused(ip))
        throw new Refused(`${host} is at ${text}: link-local, metadata and reserved addresses are never called.`)
      return ip
    })
    const [first] = ips
    if (!first) throw new Refused(`${host} has no address.`)
    if (own.ports.includes(port) && ips.some(isOwn)) throw new Refused(`${host}:${port} is this server itself.`)
    if (own.database?.port === port) {
      const database = (await addressesOf(own.database.host).catch(() => [])).flatMap(text => parseIp(text) ?? [])
      if (ips.some(ip => database.some(other => other.text === ip.text || (isLoopback(other) && isOwn(ip)))))
        throw new Refused(`${host}:${port} is this server's database.`)
    }
    return { address: first.text, family: first.bytes.length === 4 ? 4 : 6, host, port }
  }
  return {
    reach,
    async request(text, { method = 'GET', headers = {}, body, timeout, most = 64 * 1024 }) {
      const url = URL.parse(text)
      if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
        throw new Refused('The address must begin with http:// or https://.')
      if (url.username || url.password) throw new Refused('The address must not hold a user name or password.')
      const tls = url.protocol === 'https:'
      const to = await reach(url.hostname, Number(url.port) || (tls ? 443 : 80))
      const send = tls ? requestHttps : requestHttp
      return new Promise<OutgoingReply>((resolve, reject) => {
        const outgoing = send(
          {
            host: to.address,
            family: to.family,
            port: to.port,
            path: url.pathname + url.search,
            method,
            headers: {
              host: url.host,
              ...headers,
              ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
            },
            // A name that TLS checks; an address has none to send.
            ...(tls && !parseIp(url.hostname.replace(/^\[|\]$/g, '')) ? { servername: url.hostname } : {}),
            signal: AbortSignal.timeout(timeout),
            agent: false,
          },
          reply => {
            const pieces: Buffer[] = []
            let size = 0
            const done = () =>
              resolve({
                status: reply.statusCode ?? 0,
                headers: reply.headers,
                text: Buffer.concat(pieces).subarray(0, most).toString('utf8'),
              })
            reply.on('data', (piece: Buffer) => {
              pieces.push(piece)
              size += piece.length
              if (size > most) {
                done()
                reply.destroy()
              }
            })
            reply.on('end', done)
            reply.on('error', reject)
          },
        )
        outgoing.on('error', error =>
          reject(
            error.name === 'TimeoutError' || error.name === 'AbortError'
              ? new Error(`no answer within ${timeout / 1000} s`)
              : error,
          ),
        )
        outgoing.end(body)
      })
    },
  }
}
