import { conflict, invalid } from '../../core/problem.ts'

/** Ports of a sequence, which is all that two of them can quarrel about. */
export interface Ports {
  readonly protected_port: number
  readonly knock_ports: readonly number[]
  readonly protocol: 'tcp' | 'udp'
}
interface Named extends Ports {
  readonly name: string
}

/** @throws Problem 400 where no host could enforce it. */
export const checkPorts = ({ protected_port, knock_ports }: Ports): void => {
  knock_ports.forEach((port, index) => {
    const path = `knock_ports.${index}`
    if (port === protected_port)
      throw invalid(path, `${path}: the protected port can't be knocked at, it is closed then.`)
    if (index > 0 && port === knock_ports[index - 1])
      throw invalid(path, `${path}: two neighbours are equal; a repeated packet would count as the next knock.`)
  })
}

/** Why two sequences can't be in force on one host; null where they can. Shared knocks are not named: they are secret. */
const quarrel = (one: Named, other: Named): string | null => {
  if (one.protected_port === other.protected_port)
    return `The sequence "${other.name}" protects port ${one.protected_port} there already`
  if (other.knock_ports.includes(one.protected_port))
    return `The port ${one.protected_port} is a knock of the sequence "${other.name}"`
  if (one.knock_ports.includes(other.protected_port))
    return `The port ${other.protected_port}, which the sequence "${other.name}" protects, is among the knocks`
  if (one.protocol === other.protocol && one.knock_ports.some(port => other.knock_ports.includes(port)))
    return `The sequence "${other.name}" shares a knock port with it`
  return null
}
/** @throws Problem 409 naming the first of those on the same hosts that it can't stand beside. */
export const checkBeside = (one: Named, others: readonly (Named & { readonly hostname: string })[]): void => {
  for (const other of others) {
    const reason = quarrel(one, other)
    if (reason) throw conflict(`${reason} (on ${other.hostname}). Choose other ports or other servers.`)
  }
}

export const warningsOf = ({ knock_ports }: Ports): string[] => {
  const steps = knock_ports.slice(1).map((port, index) => port - (knock_ports[index] ?? 0))
  const rises = steps.every(step => step > 0)
  return rises || steps.every(step => step < 0)
    ? [`The knock ports only ${rises ? 'rise' : 'fall'}: a port scan in that order would open the port. Mix them.`]
    : []
}
