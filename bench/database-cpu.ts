import { readFileSync, readdirSync } from 'node:fs'

/** Of the clock of /proc, in a second. */
const ticks = 100

/** CPU seconds of a process, and of its children that ended. */
const statOf = (pid: number): { parent: number; cpu: number; ended: number } | null => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ').map(Number) ?? []
    const [, parent = 0] = fields
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    return { parent, cpu: (user + system) / ticks, ended: (endedUser + endedSystem) / ticks }
  } catch {
    // It ended meanwhile.
    return null
  }
}
/** CPU seconds of PostgreSQL's first process and of all that it started. */
export const cpuOfDatabase = (postmaster: number): number => {
  const all = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []))
  return all.reduce((sum, pid) => {
    const stat = statOf(pid)
    if (pid === postmaster) return sum + (stat?.cpu ?? 0) + (stat?.ended ?? 0)
    return stat?.parent === postmaster ? sum + stat.cpu : sum
  }, 0)
}
