import type { Target } from '../../self-test/probe.ts'
import type { Closed } from './closed.ts'
import { isWithin } from './ports.ts'
import type { Listener } from './ports.ts'

/** Where a packet of a banned address is sent to. `closed`: nobody listens there. */
export interface ProofTarget extends Target {
  readonly kind: 'own' | 'forwarded' | 'closed'
}

/** A port whose packets go elsewhere: `leadsTo` is an address with a port. */
export interface Published {
  readonly port: number
  readonly leadsTo: string
}

/** Where this server can be reached. */
export interface Doors {
  readonly addresses: readonly string[]
  readonly listeners: readonly Listener[]
  readonly published: readonly Published[]
}

const mostPorts = 4
/** A closed port answers with a reset, which serves as well as a listener. */
const anyPort = 9
const usual = [22, 443, 80]

/**
 * Where the bans of a jail have to stop packets: ports that the jail closes and on which this server listens, or which it forwards. Where
 * there are more than four, each turn takes other ones.
 */
export const targetsOf = (closed: readonly Closed[], isIPv6: boolean, doors: Doors, turn: number): ProofTarget[] => {
  const addresses = doors.addresses.filter(address => address.includes(':') === isIPv6)
  const [first] = addresses
  const provable = closed.filter(({ isTcp, isOfDevice, bySource }) => isTcp && !isOfDevice && bySource)
  if (first === undefined || provable.length === 0) return []
  const published = doors.published.filter(({ leadsTo }) => /:.*:/.test(leadsTo) === isIPv6)
  const isPublished = (port: number): boolean => doors.published.some(each => each.port === port)
  const isClosed = (port: number): boolean => provable.some(({ ports }) => isWithin(ports, port))

  const own = new Map<number, ProofTarget>()
  for (const { address, port, isIPv6: isOf6 } of doors.listeners) {
    // A socket on any address of IPv6 takes IPv4, too.
    const isOfFamily = address === null ? isOf6 || !isIPv6 : addresses.includes(address)
    if (isOfFamily && isClosed(port) && !isPublished(port))
      own.set(port, { kind: 'own', address: address ?? first, port })
  }
  const forwarded = published
    .filter(({ port, leadsTo }) => provable.some(each => isMeantFor(each, port, leadsTo)))
    .map(({ port, leadsTo }): ProofTarget => ({ kind: 'forwarded', address: first, port, leadsTo }))
  const targets = [...inTurn([...own.values()], turn), ...inTurn(forwarded, turn)]
  if (targets.length > 0 || provable.every(({ hook }) => hook === 'forward')) return targets
  const [range] = provable.flatMap(({ ports }) => ports ?? [])
  return [{ kind: 'closed', address: first, port: range === undefined ? anyPort : range.first || anyPort }]
}

/** Whether a jail means the packets that go to a container: behind the translation they have the port of the container. */
const isMeantFor = ({ hook, ports }: Closed, port: number, leadsTo: string): boolean => {
  const inner = Number(/:(\d+)$/.exec(leadsTo)?.[1] ?? port)
  if (hook === 'input') return ports !== null && isWithin(ports, port)
  return isWithin(ports, inner) || isWithin(ports, port)
}

const inTurn = (targets: readonly ProofTarget[], turn: number): readonly ProofTarget[] => {
  const rank = ({ port }: ProofTarget): number => (usual.includes(port) ? usual.indexOf(port) : port + usual.length)
  const sorted = [...targets].sort((a, b) => rank(a) - rank(b))
  if (sorted.length <= mostPorts) return sorted
  const from = (turn * mostPorts) % sorted.length
  return [...sorted, ...sorted].slice(from, from + mostPorts)
}
