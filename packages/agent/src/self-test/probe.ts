import { asFields, asList, asText } from '../json.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { createSerial } from '../serial.ts'

/** Where a probe goes to: one of the host's own addresses. */
export interface Target {
  readonly address: string
  readonly port: number
  /** Where the host forwards its packets to. */
  readonly leadsTo?: string
}
/**
 * `rst`: the port is closed, which is an answer too. `none`: nothing came back in time. `routed`: the host has a route for the source, so
 * nothing was sent.
 */
export type Answer = 'syn-ack' | 'rst' | 'unreachable' | 'routed' | 'none'
const answers: readonly Answer[] = ['syn-ack', 'rst', 'unreachable', 'routed', 'none']

/** Sends a SYN to each target as if it came from `source` on the network. @throws Error if the host cannot do that */
export type Probe = (source: string, targets: readonly Target[]) => Promise<readonly Answer[]>

/** A packet of a test: from where, and to which of the host's own addresses and ports. */
export interface TestPacket {
  readonly source: string
  readonly target: Target
}

/**
 * The same for many packets of both families at once, by one program. `hasAddress`: the device has an address, to which rules that redirect
 * packets send them.
 */
export type ProbeAll = (packets: readonly TestPacket[], hasAddress?: boolean) => Promise<readonly Answer[]>

const waitSeconds = 0.3

/** Probes run one at a time, because they share the name of their device. */
export const createProbes = (python: Interpreter, program: string): { probe: Probe; probeAll: ProbeAll } => {
  const inTurn = createSerial()
  const probeAll: ProbeAll = (packets, hasAddress = false) =>
    inTurn(async () => {
      const pairs = packets.map(({ source, target }) => [source, target.address, target.port])
      const output = await python.run(program, { pairs, wait: waitSeconds, address: hasAddress }, { timeout: 20_000 })
      const reply = asFields(JSON.parse(output))
      if (asText(reply['error']) !== '') throw new Error(`no test device: ${asText(reply['error'])}`)
      return asList(reply['answers']).map(answer => {
        const text = asText(answer)
        return answers.find(known => known === text) ?? 'none'
      })
    })
  return { probeAll, probe: (source, targets) => probeAll(targets.map(target => ({ source, target }))) }
}

/** TCP ports on which the host listens for any address, from /proc/net/tcp and tcp6. Well-known services first. */
export const listeningPorts = (tables: readonly (string | null)[]): number[] => {
  const ports = tables.flatMap(table =>
    (table ?? '').split('\n').flatMap(line => {
      const [, , local = '', , state] = line.split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      return state === listening && /^0+$/.test(address) ? [parseInt(port, 16)] : []
    }),
  )
  const rank = (port: number): number => (usual.includes(port) ? usual.indexOf(port) : usual.length)
  return [...new Set(ports)].sort((a, b) => rank(a) - rank(b) || a - b)
}
const listening = '0A'
const usual = [22, 443, 80]
