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
/** CPU seconds of a process with all of its threads; 0 when it has ended. */
export const cpuOf = (pid: number): number => statOf(pid)?.cpu ?? 0

/** Resident megabytes and open files of a process; null when it has ended. */
export const heldBy = (pid: number): { readonly megabytes: number; readonly files: number } | null => {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    if (kilobytes === undefined) return null
    return { megabytes: Number(kilobytes) / 1024, files: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return null
  }
}
/** How many files this process and those that it starts may open. */
export const fileLimit = (): number => {
  const limit = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return limit === undefined ? Infinity : Number(limit)
}
