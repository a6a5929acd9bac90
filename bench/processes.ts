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
/** A process and those that it started. */
const treeOf = (first: number): number[] => {
  const all = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []))
  return [first, ...all.filter(pid => statOf(pid)?.parent === first)]
}
/** CPU seconds of a process and of all that it started. */
export const cpuOfTree = (first: number): number =>
  treeOf(first).reduce((sum, pid) => sum + cpuOf(pid), statOf(first)?.ended ?? 0)
/** Megabytes of a process and of all that it started; what several processes share counts in parts (PSS). */
export const memoryOfTree = (first: number): number =>
  treeOf(first).reduce((sum, pid) => {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
      return sum + Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
    } catch {
      // It ended meanwhile.
      return sum
    }
  }, 0)
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
