import * as fs from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { steadyNow } from '../clock.ts'
import { readText } from '../files.ts'

/* Whether fail2ban runs in a container, as far as the kernel shows it without rights of its own. */

export interface Whereabouts {
  /** Its firewall is another one: what it bans can still reach this server. */
  hasOwnNetwork(): boolean
  /** What it says of files may be true although the agent does not find them. */
  hasOwnFiles(): boolean
  /** It reaches its socket by another path than the agent, so no path can be taken for the same. */
  hasOtherPaths(): boolean
  /** The path that its socket has in the kernel's list; null: it is not in the list of this network. */
  listensAs(): string | null
}

export const ownNetworkText =
  'this fail2ban has a network of its own, as in a container: its bans protect only what runs in that network, not this server'

/** Milliseconds. The kernel lists the sockets of all programs for it. */
const knownFor = 60_000
/** A listening socket: the kernel's flag for it. */
const listening = '00010000'

/** The paths of listening sockets. @param sockets /proc/net/unix, which has the sockets of one network */
export const listeningPaths = (sockets: string): string[] =>
  sockets
    .split('\n')
    .map(line => line.split(/\s+/))
    .filter(([, , , flags]) => flags === listening)
    .map(fields => fields.slice(7).join(' '))
    .filter(path => path !== '')

interface Files {
  /** Device and number of a file; null: there is none. */
  identity(path: string): string | null
  read(path: string): string | null
}

const filesOfHost: Files = {
  identity(path) {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    return stat === undefined ? null : `${stat.dev}:${stat.ino}`
  },
  read: readText,
}

/**
 * The name of a fail2ban's socket in a list of listening sockets; null: it listens in another network. A socket in another file system has a
 * name that leads to no file here, or to the socket of another fail2ban that listens as well.
 *
 * @param named what fail2ban calls its socket, where a map says it
 */
const findListener = (
  listed: readonly string[],
  socketPath: string,
  named: string | null,
  identity: Files['identity'],
): string | null => {
  const ours = identity(socketPath)
  const own = listed.find(
    path => path === socketPath || !isAbsolute(path) || (ours !== null && identity(path) === ours),
  )
  if (own !== undefined) return own
  const names = new Set(listed.filter(path => path === named || basename(path) === basename(socketPath)))
  const free = [...names].filter(
    name => listed.filter(path => path === name).length > (identity(name) === null ? 0 : 1),
  )
  return free.find(name => name === named) ?? free[0] ?? null
}

/** @param named what fail2ban calls its socket, where a map says it */
export const createWhereabouts = (needs: {
  socketPath: string
  named: string | null
  isMapped: boolean
  sockets?: () => string
  files?: Files
}): Whereabouts => {
  const { socketPath, named, isMapped } = needs
  const { identity, read } = needs.files ?? filesOfHost
  const sockets = needs.sockets ?? (() => readText('/proc/net/unix') ?? '')
  let lastLook: { readonly socket: string; readonly at: number; readonly name: string } | null = null

  const listensAs = (): string | null => {
    const socket = identity(socketPath)
    // Nobody is there, so nothing is known of where it is.
    if (socket === null) return socketPath
    if (lastLook?.socket === socket && steadyNow() - lastLook.at < knownFor) return lastLook.name
    const listed = listeningPaths(sockets())
    // The list is empty where it may not be read.
    const name = listed.length === 0 ? socketPath : findListener(listed, socketPath, named, identity)
    lastLook = name === null ? null : { socket, at: steadyNow(), name }
    return name
  }

  const hasOtherPaths = (): boolean => {
    const name = listensAs()
    if (name === null || name === socketPath || !isAbsolute(name)) return false
    return identity(name) === null || identity(name) !== identity(socketPath)
  }

  /** The first process of a container is number 1 in it, and its other numbers are those of other processes here. */
  const hasOtherProcesses = (): boolean => {
    const pid = Number(read(join(dirname(socketPath), 'fail2ban.pid')) ?? 0)
    if (!Number.isInteger(pid) || pid < 1) return false
    const commandLine = read(`/proc/${pid}/cmdline`)
    return pid === 1 || (commandLine !== null && commandLine !== '' && !commandLine.includes('fail2ban'))
  }

  const hasOwnNetwork = (): boolean => listensAs() === null
  return {
    listensAs,
    hasOwnNetwork,
    hasOtherPaths,
    hasOwnFiles: () => isMapped || hasOwnNetwork() || hasOtherPaths() || hasOtherProcesses(),
  }
}
