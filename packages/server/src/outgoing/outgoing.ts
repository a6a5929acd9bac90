import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { networkInterfaces } from 'node:os'
import { errorText } from '@stockade/contract/error-code.ts'
import { covers, isLoopback, parseIp, parseRange } from '../core/ip.ts'
import type { IpRange } from '../core/ip.ts'
import { stepsOf } from './steps.ts'
import type { Note } from './steps.ts'

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
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Milliseconds for all of it. */
  readonly timeout: number
  /** Bytes of the answer that are read; what is beyond is dropped. */
  readonly most?: number
  /** PEM certificates to trust in place of the system's. */
  readonly ca?: string
  /** Hears of every step, for endpoints that test a target. */
  readonly note?: Note
  readonly judge?: Judge
}
/**
 * Why this request may not reach an address; null where it may. Asked of every address of the target, and of the IPv4 addresses inside IPv6 ones. What it
 * lets through is connected to without another look at the name.
 */
export type Judge = (ip: IpRange) => string | null
export interface OutgoingReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly body: Buffer
  /** There was more than `most` bytes. */
  readonly isCut: boolean
}

/** Every connection that this server makes to an address that somebody typed goes through here. */
export interface Outgoing {
  /** Resolves a host once and checks every address that it has. @throws Refused */
  reach(host: string, port: number, judge?: Judge): Promise<Reached>
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

/**
 * The IPv4 addresses inside an IPv6 one that only wraps them, wherever a translator or tunnel may look for one: 6to4
 * (RFC 3056), Teredo's server and client (RFC 4380), NAT64 with its prefixes of 96 and 48 bits (RFC 6052, RFC 8215),
 * translated (RFC 2765), ISATAP (RFC 5214) and compatible (RFC 4291).
 */
const wrapped = ({ bytes }: IpRange): IpRange[] => {
  if (bytes.length !== 16) return []
  const at = (...places: number[]) => places.map(place => bytes[place] ?? 0)
  const hex = Buffer.from(bytes).toString('hex')
  const last = at(12, 13, 14, 15)
  const ranges: number[][] = []
  if (hex.startsWith('2002')) ranges.push(at(2, 3, 4, 5))
  if (hex.startsWith('20010000'))
    ranges.push(
      at(4, 5, 6, 7),
      last.map(byte => byte ^ 0xff),
    )
  if (hex.startsWith('0064ff9b0000000000000000')) ranges.push(last)
  if (hex.startsWith('0064ff9b0001')) ranges.push(last, at(6, 7, 9, 10))
  if (hex.startsWith('0000000000000000ffff0000')) ranges.push(last)
  if (/^.{16}0[02]005efe/.test(hex)) ranges.push(last)
  // ::1 and :: are not IPv4-compatible addresses.
  if (hex.startsWith('0'.repeat(24)) && !/^0+1?$/.test(hex)) ranges.push(last)
  return ranges.flatMap(parts => parseIp(parts.join('.')) ?? [])
}
/** Whether a connection to the address is refused whatever the port. */
const isRefused = (ip: IpRange): boolean =>
  refusedRanges.some(range => covers(range, ip)) || wrapped(ip).some(isRefused)

/**
 * A host as a browser would understand it, so that nothing is checked as one thing and called as another: decimal, octal and
 * hexadecimal addresses become plain, names ASCII and lower case, brackets and the last dot go.
 * @returns null when it is no host.
 */
const plainHost = (host: string): string | null => {
  if (host.length === 0 || host.length > 255 || /[\s/@%\\?#\p{Cc}]/u.test(host)) return null
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const isV6 = bare.includes(':')
  if (isV6 && !parseIp(bare)) return null
  const hostText = URL.parse(`http://${isV6 ? `[${bare}]` : bare}/`)?.hostname.replace(/^\[|\]$|\.$/g, '')
  return hostText !== undefined && hostText.length > 0 && hostText.length <= 253 ? hostText : null
}
const portOf = (url: URL) => (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))

const resolveBySystem = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

export const createOutgoing = (own: {
  /** Ports of this machine that no target may name: our own listener. */
  readonly ports: readonly number[]
  /** Where others reach this server, maybe through a proxy. */
  readonly baseUrl?: () => string
  /** Host and port of the database and of its replica; none where it is a file. */
  readonly databases: readonly { readonly host: string; readonly port: number }[]
  /** All addresses of a name; the system's resolver unless given. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
}): Outgoing => {
  const { resolve: resolveName = resolveBySystem } = own
  const isOwn = (ip: IpRange): boolean =>
    isLoopback(ip) ||
    Object.values(networkInterfaces()).some(list => list?.some(({ address }) => parseIp(address)?.text === ip.text)) ||
    wrapped(ip).some(isOwn)
  const addressesOf = async (host: string): Promise<readonly string[]> =>
    parseIp(host)
      ? [host]
      : resolveName(host).catch((error: Error & { code?: string }) => {
          throw new Refused(`${host} can't be resolved (${error.code ?? error.message}).`)
        })
  const isOwnSite = (host: string, port: number): boolean => {
    const site = own.baseUrl ? URL.parse(own.baseUrl()) : null
    return site !== null && plainHost(site.hostname) === host && portOf(site) === port
  }
  const reach: Outgoing['reach'] = async (typed, port, judge) => {
    const host = plainHost(typed)
    if (host === null) throw new Refused('The host is no host name and no address.')
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Refused('The port must be from 1 to 65535.')
    if (isOwnSite(host, port)) throw new Refused(`${host}:${port} is this server itself.`)
    const ips = (await addressesOf(host)).map(text => {
      const ip = parseIp(text)
      if (!ip || isRefused(ip))
        throw new Refused(`${host} is at ${text}: link-local, metadata and reserved addresses are never called.`)
      const refusal = judge ? [ip, ...wrapped(ip)].map(judge).find(said => said !== null) : null
      if (refusal) throw new Refused(refusal)
      return ip
    })
    const [first] = ips
    if (!first) throw new Refused(`${host} has no address.`)
    if (own.ports.includes(port) && ips.some(isOwn)) throw new Refused(`${host}:${port} is this server itself.`)
    for (const database of own.databases.filter(other => other.port === port)) {
      const databaseHost = plainHost(database.host)
      const databaseAddresses = databaseHost === null ? [] : await addressesOf(databaseHost).catch(() => [])
      const itsIps = databaseAddresses.flatMap(text => parseIp(text) ?? [])
      if (
        host === databaseHost ||
        ips.some(ip => itsIps.some(other => other.text === ip.text || (isOwn(other) && isOwn(ip))))
      )
        throw new Refused(`${host}:${port} is this server's database.`)
    }
    return { address: first.text, family: first.bytes.length === 4 ? 4 : 6, host, port }
  }
  return {
    reach,
    async request(text, { method = 'GET', headers = {}, body, timeout, most = 64 * 1024, ca, note, judge }) {
      const url = URL.parse(text)
      if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
        throw new Refused('The address must begin with http:// or https://.')
      if (url.username || url.password) throw new Refused('The address must not hold a user name or password.')
      const tls = url.protocol === 'https:'
      const late = () => new Error(`no answer within ${timeout / 1000} s`)
      const deadline = AbortSignal.timeout(timeout)
      const steps = stepsOf(note, ['resolve', 'connect', ...(tls ? (['tls'] as const) : []), 'write', 'answer'])
      const to = await Promise.race([
        reach(url.hostname, portOf(url), judge),
        new Promise<never>((_, reject) => deadline.addEventListener('abort', () => reject(late()), { once: true })),
      ]).catch((error: unknown) => {
        steps.failed(errorText(error))
        throw error
      })
      steps.done('resolve', to.address)
      const send = tls ? requestHttps : requestHttp
      return new Promise<OutgoingReply>((resolve, reject) => {
        const fail = (error: Error) => {
          const why = deadline.aborted ? late() : error
          steps.failed(why.message)
          reject(why)
        }
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
            ...(ca === undefined ? {} : { ca }),
            signal: deadline,
            agent: false,
          },
          reply => {
            const pieces: Buffer[] = []
            let size = 0
            const status = reply.statusCode ?? 0
            steps.done('answer', `HTTP ${status}`, status >= 200 && status < 300)
            const done = () => {
              const body = Buffer.concat(pieces).subarray(0, most)
              resolve({
                status,
                headers: reply.headers,
                body,
                isCut: size > most,
                // Made for who reads it: the body of a list may have megabytes.
                get text() {
                  return body.toString('utf8')
                },
              })
            }
            reply.on('data', (piece: Buffer) => {
              pieces.push(piece)
              size += piece.length
              if (size > most) {
                done()
                reply.destroy()
              }
            })
            reply.on('end', done)
            reply.on('error', fail)
          },
        )
        outgoing.on('error', fail)
        outgoing.on('socket', socket => {
          socket.once('connect', () => steps.done('connect', `${to.address} port ${to.port}`))
          socket.once('secureConnect', () => steps.done('tls', 'certificate checked'))
        })
        outgoing.on('finish', () => steps.done('write', `${Buffer.byteLength(body ?? '')} bytes`))
        outgoing.end(body)
      })
    },
  }
}
