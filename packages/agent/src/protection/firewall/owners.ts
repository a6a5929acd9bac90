import * as fs from 'node:fs'
import { basename } from 'node:path'
import { readText } from '../../files.ts'
import { runProgram } from '../../process.ts'
import type { Listener } from './ports.ts'

/* Which program of this server listens where. */

/** The programs that write what a filter of fail2ban reads: by their processes and by their units. */
const usual: Readonly<Record<string, readonly string[]>> = {
  sshd: ['sshd', 'ssh'],
  apache: ['apache2', 'httpd'],
  postfix: ['master', 'postfix'],
  exim: ['exim4', 'exim'],
  mysqld: ['mysqld', 'mariadbd', 'mysql', 'mariadb'],
  named: ['named', 'bind9'],
}

/** `filter`: as a jail names it, such as nginx-http-auth. */
export const programsOf = (filter: string): readonly string[] => {
  const [first = ''] = filter.split(/[-_[]/)
  return usual[first] ?? (first === '' ? [] : [first])
}

/** The names of a process: its program's, and the one that it gives itself. */
const namesOf = (pid: string): string[] => {
  const [own = ''] = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0')
  return [(readText(`/proc/${pid}/comm`) ?? '').trim(), basename((own.split(' ')[0] ?? '').replace(/:$/, ''))]
}

/** Ports by program. Null where the kernel does not show the agent whose sockets they are. */
const portsByProcess = (
  wanted: ReadonlySet<string>,
  listeners: readonly Listener[],
): Map<string, Set<number>> | null => {
  const portOf = new Map(listeners.map(({ inode, port }) => [inode, port]))
  const portsByOwner = new Map<string, Set<number>>()
  for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const name = namesOf(pid).find(each => wanted.has(each))
      if (name === undefined) continue
      for (const fd of fs.readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''
        const port = portOf.get(inode)
        if (port !== undefined) portsByOwner.set(name, (portsByOwner.get(name) ?? new Set()).add(port))
      }
    } catch (error) {
      if (/EACCES|EPERM/.test(String(error))) return null
      // The process ended meanwhile.
    }
  }
  return portsByOwner
}

/** The same by the units of the init system, which `ss` names without more rights. */
const portsByUnit = async (wanted: ReadonlySet<string>): Promise<Map<string, Set<number>>> => {
  const { stdout } = await runProgram(['ss', '-Hltn', '--cgroup'], { timeout: 20_000 })
  const portsByOwner = new Map<string, Set<number>>()
  for (const line of stdout.split('\n')) {
    const [, , , local = ''] = line.trim().split(/\s+/)
    const unit = /cgroup:\S*\/([\w-]+)(?:@[^/\s]*)?\.service\b/.exec(line)?.[1] ?? ''
    if (wanted.has(unit) && !/^(?:127\.|\[::1\])/.test(local))
      portsByOwner.set(unit, (portsByOwner.get(unit) ?? new Set()).add(Number(/:(\d+)$/.exec(local)?.[1])))
  }
  return portsByOwner
}

export type PortsOf = (
  programs: ReadonlySet<string>,
  listeners: readonly Listener[],
) => Promise<ReadonlyMap<string, ReadonlySet<number>>>

/** The ports other than those of loopback on which each of these programs listens. */
export const portsOf: PortsOf = async (wanted, listeners) =>
  portsByProcess(wanted, listeners) ?? (await portsByUnit(wanted))
