import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { steadyNow } from '../clock.ts'
import { canonicalIp, fromNumber, isOwnGround, overlaps } from '../ip.ts'
import { readText } from '../files.ts'
import { readProxy } from '../proxy.ts'

/** Addresses that no command may ban, whatever `force` or the policy say: the host would cut itself off. */
export interface Floor {
  /** Why an address or a range is never banned; null when it may be. */
  whyNeverBan(ip: string): string | null
  /** The addresses of the Stockade server, as far as they are known. */
  servers(): string[]
  /** The host's own addresses, its gateways, its resolvers and the addresses of the Stockade server. */
  addresses(): string[]
}

const lookUpEvery = 600_000
/** Looks that are due at the same time share one list of addresses, milliseconds. */
const listAge = 1000

/**
 * Loopback, the host's own addresses, its gateways, its resolvers and the addresses of the Stockade server. All but the
 * last are read again for each command, from the kernel and from /etc/resolv.conf.
 */
export const createFloor = (needs: {
  /** Where the server is reached; it may move. */
  baseUrls: () => readonly string[]
  /** URL of the HTTP proxy on the way to the server, without which the server is not reached; null: none. */
  proxy?: string | null
  /** The address of the connection to the server; null before the first. */
  peer: () => string | null
  now: () => number
  read?: (path: string) => string | null
  resolve?: (host: string) => Promise<readonly string[]>
  own?: () => readonly string[]
}) => {
  const read = needs.read ?? readText
  const resolve = needs.resolve ?? resolveAll
  const own = needs.own ?? interfaceAddresses
  const hosts = (): string[] => [
    ...new Set([
      ...needs.baseUrls().map(url => new URL(url).hostname.replace(/^\[|\]$/g, '')),
      ...(needs.proxy ? [readProxy(needs.proxy).host] : []),
    ]),
  ]
  let servers: readonly string[] = []
  let lookedUp = -Infinity

  const lookUpServer = async (): Promise<void> => {
    if (needs.now() - lookedUp < lookUpEvery) return
    lookedUp = needs.now()
    const addresses = canonical((await Promise.all(hosts().map(host => resolve(host).catch(() => [])))).flat())
    if (addresses.length > 0) servers = addresses
    else lookedUp = -Infinity
  }

  let ofHost: readonly string[] = []
  let listedAt = -Infinity
  /** The addresses of the host, its gateways and its resolvers. */
  const hostAddresses = (): readonly string[] => {
    if (steadyNow() - listedAt >= listAge) {
      ofHost = [...own(), ...gateways(read), ...resolvers(read)]
      listedAt = steadyNow()
    }
    return ofHost
  }

  const serverAddresses = (): string[] => [...servers, ...canonical([needs.peer() ?? '', ...hosts()])]

  return {
    servers: serverAddresses,
    addresses: () => [...new Set([...hostAddresses(), ...serverAddresses()])],
    /** Looks up the server's addresses if they are old; keeps the known ones if there is no answer. */
    lookUpServer,
    whyNeverBan(ip: string): string | null {
      if (isOwnGround(ip)) return `${ip} is loopback or link-local: a ban of it would cut this host off from itself`
      const covers = (addresses: readonly string[]): boolean => addresses.some(address => overlaps(address, ip))
      if (covers(own())) return `${ip} covers an address of this host`
      if (covers(gateways(read))) return `${ip} covers a gateway of this host: it would be cut off from the network`
      if (covers(resolvers(read))) return `${ip} covers a resolver of this host: it could look up no name`
      if (covers(serverAddresses()))
        return `${ip} covers the address of the Stockade server: this host would be cut off from it`
      return null
    },
  }
}

const canonical = (addresses: readonly string[]): string[] =>
  addresses.map(address => canonicalIp(address.replace(/%.*$/, ''))).filter(ip => ip !== null)

const resolveAll = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

const interfaceAddresses = (): string[] =>
  canonical(
    Object.values(networkInterfaces())
      .flatMap(list => list ?? [])
      .map(({ address }) => address),
  )

/** The next hops of all routes, as the kernel's tables show them. */
const gateways = (read: (path: string) => string | null): string[] => {
  const rows = (path: string): string[][] => (read(path) ?? '').split('\n').map(line => line.trim().split(/\s+/))
  const v4 = rows('/proc/net/route')
    .map(([, , gateway = '']) => gateway)
    .filter(gateway => /^[0-9A-F]{8}$/i.test(gateway) && !/^0+$/.test(gateway))
    // Bytes in the order of a little-endian machine.
    .map(gateway => fromNumber(BigInt(`0x${(gateway.match(/../g) ?? []).reverse().join('')}`), 32))
  const v6 = rows('/proc/net/ipv6_route')
    .map(([, , , , gateway = '']) => gateway)
    .filter(gateway => /^[0-9a-f]{32}$/i.test(gateway) && !/^0+$/.test(gateway))
    .map(gateway => fromNumber(BigInt(`0x${gateway}`), 128))
  return canonical([...v4, ...v6])
}

const resolvers = (read: (path: string) => string | null): string[] => {
  const lines = (read('/etc/resolv.conf') ?? '').split('\n')
  return canonical(lines.map(line => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? ''))
}
