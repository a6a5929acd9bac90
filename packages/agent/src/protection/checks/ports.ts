import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import type { EngineConfig } from '../../engine/config.ts'
import { ownJail } from '../../engine/own-files.ts'
import type { JailFirewalls } from '../firewall/jail-firewalls.ts'
import { programsOf } from '../firewall/owners.ts'
import type { PortsOf } from '../firewall/owners.ts'
import { isWithin } from '../firewall/ports.ts'
import type { Listener, PortRange } from '../firewall/ports.ts'
import { warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** Looking for the owners of sockets reads all processes, so it is done when somebody listens elsewhere, and so often. Milliseconds. */
const lookedFor = 600_000
const maxNamed = 8

/** What a jail closes, and where the program listens whose log it reads. */
interface Doors {
  readonly program: string
  readonly open: readonly number[]
  readonly closed: readonly number[]
  /** Null: all. */
  readonly ranges: readonly PortRange[] | null
}

/** One port that is not closed is a way in for a login; a web server may have others for itself. */
const countsEach = new Set(['sshd', 'ssh', 'dropbear'])

/** Whether a jail closes the ports of the program whose log it reads. */
export const createPortsCheck = (needs: {
  engine: Pick<Engine, 'jails'>
  config: Pick<EngineConfig, 'jails'>
  firewalls: JailFirewalls
  listeners: () => readonly Listener[]
  portsOf: PortsOf
  steadyNow: () => number
}): { check: Check; isWhollyClosed: (jail: string) => boolean } => {
  let lastDoors: { readonly mark: string; readonly at: number; readonly doors: ReadonlyMap<string, Doors> } | null =
    null

  const rangesOfJail = async (jail: string): Promise<readonly PortRange[] | null | undefined> => {
    const firewalls = (await needs.firewalls.of(jail, 'ipv4')).filter(
      ({ closed }) => closed.isTcp && closed.hook !== 'forward',
    )
    if (firewalls.length === 0) return undefined
    return firewalls.some(({ closed }) => closed.ports === null)
      ? null
      : firewalls.flatMap(({ closed }) => closed.ports ?? [])
  }

  const look = async (jails: readonly string[], listeners: readonly Listener[]): Promise<Map<string, Doors>> => {
    const configured = (await needs.config.jails()).filter(({ name }) => name !== ownJail && jails.includes(name))
    const programs = new Set(configured.flatMap(({ filter }) => programsOf(filter)))
    const ports = await needs.portsOf(programs, listeners)
    const doors = new Map<string, Doors>()
    for (const { name, filter } of configured) {
      const ranges = await rangesOfJail(name)
      const program = programsOf(filter).find(each => (ports.get(each)?.size ?? 0) > 0)
      if (ranges === undefined || program === undefined) continue
      const own = [...(ports.get(program) ?? [])].sort((a, b) => a - b)
      const closed = own.filter(port => isWithin(ranges, port))
      doors.set(name, { program, ranges, closed, open: own.filter(port => !closed.includes(port)) })
    }
    return doors
  }

  const check: Check = {
    id: 'enforced',
    every: 120_000,
    badAfter: 0,
    looks: 2,
    needsEngine: true,
    async look() {
      const listeners = needs.listeners()
      const jails = await needs.engine.jails(sharedAge)
      const where = listeners.map(({ address, port, inode }) => `${address} ${port} ${inode}`).sort()
      const mark = JSON.stringify([where, jails])
      if (lastDoors?.mark !== mark || needs.steadyNow() - lastDoors.at > lookedFor)
        lastDoors = { mark, at: needs.steadyNow(), doors: await look(jails, listeners) }
      return [...lastDoors.doors].flatMap(([jail, doors]) => findingOf(jail, doors))
    },
    forget() {
      lastDoors = null
    },
  }
  return {
    check,
    isWhollyClosed(jail) {
      const doors = lastDoors?.doors.get(jail)
      return doors !== undefined && doors.closed.length > 0 && doors.open.length === 0
    },
  }
}

const findingOf = (jail: string, { program, open, closed, ranges }: Doors): Finding[] => {
  if (ranges === null || open.length === 0 || (closed.length > 0 && !countsEach.has(program))) return []
  const ports = ranges.slice(0, maxNamed).map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`))
  const listens = open.slice(0, maxNamed).join(', ')
  return [
    warning(
      `${jail}: ports`,
      `jail ${jail} closes port ${ports.join(', ')}; ${program} listens on ${listens}${closed.length > 0 ? ', too' : ''}`,
    ),
  ]
}
