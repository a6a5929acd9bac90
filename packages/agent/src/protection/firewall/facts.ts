import { networkInterfaces } from 'node:os'
import { readText } from '../../files.ts'
import { canonicalIp, isOwnGround } from '../../ip.ts'
import { listenersOf } from './ports.ts'
import type { Listener } from './ports.ts'

/* What the kernel says of this server's network. */

/** This server's addresses without loopback and link-local. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .flatMap(({ address }) => canonicalIp(address) ?? [])
    .filter(address => !isOwnGround(address))

/** Who listens on TCP now. */
export const listeners = (): Listener[] => listenersOf(readText('/proc/net/tcp'), readText('/proc/net/tcp6'))

/** The network cards that a default route leads to. */
export const outerDevices = (): ReadonlySet<string> => {
  const of4 = (readText('/proc/net/route') ?? '')
    .split('\n')
    .map(line => line.split('\t'))
    .filter(([, target, , , , , , mask]) => target === '00000000' && mask === '00000000')
    .map(([device = '']) => device)
  const of6 = (readText('/proc/net/ipv6_route') ?? '')
    .split('\n')
    .map(line => line.split(/\s+/))
    .filter(([target = '', length]) => /^0+$/.test(target) && length === '00')
    .map(fields => fields[9] ?? '')
  return new Set([...of4, ...of6].filter(device => device !== '' && device !== 'lo'))
}

/** Whether iptables-legacy has tables, whose rules the kernel shows to programs with CAP_NET_RAW only. */
export const hasLegacyRules = (): boolean =>
  ['/proc/net/ip_tables_names', '/proc/net/ip6_tables_names'].some(file => (readText(file) ?? '').trim() !== '')
