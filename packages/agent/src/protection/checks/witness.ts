import * as fs from 'node:fs'
import { steadyNow } from '../../clock.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Places } from '../../engine/places.ts'
import { ownJail } from '../../engine/own-files.ts'
import { bad } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/* Addresses that are banned and go on failing: fail2ban's own log names each line that it finds. */

/** fail2ban reads a batch of lines, of which the last may be younger than the ban that the first ones caused. Milliseconds. */
const inFlight = 3000
/** A connection from before a ban may end and be logged as late as this: sshd waits two minutes for a login. */
const oldConnections = 180_000
/** So many lines in this time come by new connections: old ones end with one line or two. */
const burst = 120_000
const leastOfBurst = 6
const spreadOfBurst = 3000
/** Fewer do, when they come so late. */
const leastLate = 3
const remembered = 600_000
/** An address is quiet after three times its usual pause, and at least after the first of these. */
const shortestQuiet = 10_000
const longestQuiet = 120_000
const maxLines = 100
const maxAddresses = 5000
const maxNamed = 10
const maxBytes = 1024 * 1024

/** A line of fail2ban's log. Times are of its own clock, in milliseconds; they are compared with each other only. */
interface LogLine {
  readonly jail: string
  readonly ip: string
  readonly event: 'found' | 'ban' | 'unban' | 'again'
  /** When it was written. */
  readonly at: number
  /** When the attempt was made that it is about. */
  readonly attemptAt: number
}

const shape = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3}) [^[]*\[\d+\]: +[A-Z]+ +\[(.+?)\] (.*)$/
const foundLine = /^Found (\S+)(?: - (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d))?/
const ban = /^(?:Restore )?Ban (\S+)$/
const unban = /^Unban (\S+)$/
const again = /^(\S+) already banned$/

const timeOf = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)

/** Null: it is about something else. */
export const parseLine = (line: string): LogLine | null => {
  const [, time = '', ms = '', jail = '', text = ''] = shape.exec(line) ?? []
  if (jail === '') return null
  const at = timeOf(time) + Number(ms)
  const [, foundIp, attempt] = foundLine.exec(text) ?? []
  if (foundIp !== undefined)
    return { jail, ip: foundIp, event: 'found', at, attemptAt: attempt === undefined ? at : timeOf(attempt) }
  for (const [event, pattern] of [
    ['ban', ban],
    ['unban', unban],
    ['again', again],
  ] as const) {
    const [, ip] = pattern.exec(text) ?? []
    if (ip !== undefined) return { jail, ip, event, at, attemptAt: at }
  }
  return null
}

/** What was found of a banned address since its ban. */
interface Trace {
  /** When it was banned, or was first seen to be. */
  readonly bannedAt: number
  /** The attempts after the ban, oldest first. */
  readonly attempts: readonly number[]
}

/** Whether these attempts can't be what was under way when the address was banned. `maxretry`: of the jail. */
const isThrough = ({ bannedAt, attempts }: Trace, maxretry: number, needsLate: boolean): boolean => {
  const late = attempts.filter(at => at >= bannedAt + oldConnections)
  if (late.length >= leastLate) return true
  if (needsLate) return false
  const last = attempts.at(-1) ?? 0
  const recent = attempts.filter(at => at > last - burst)
  return recent.length >= Math.max(leastOfBurst, 2 * maxretry) && last - (recent[0] ?? last) >= spreadOfBurst
}

interface Watched {
  readonly jail: string
  readonly ip: string
  bannedAt: number
  attempts: number[]
  lastHeard: number
}

/** Reads what a log gained since the last time; the first time nothing. A log that was rotated is read from its start. */
export const createLogTail = (): ((path: string) => string[]) => {
  let of: { path: string; inode: number; at: number; rest: string } | null = null
  return path => {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (!stat) return []
    if (of?.path !== path) {
      of = { path, inode: stat.ino, at: stat.size, rest: '' }
      return []
    }
    if (of.inode !== stat.ino || stat.size < of.at) of = { path, inode: stat.ino, at: 0, rest: '' }
    if (stat.size === of.at) return []
    const from = Math.max(of.at, stat.size - maxBytes)
    const file = fs.openSync(path, 'r')
    try {
      const buffer = Buffer.alloc(stat.size - from)
      const text = `${from === of.at ? of.rest : ''}${buffer.subarray(0, fs.readSync(file, buffer, 0, buffer.length, from)).toString('utf8')}`
      const lines = text.split('\n')
      of = { ...of, at: stat.size, rest: (lines.pop() ?? '').slice(-4096) }
      return lines
    } finally {
      fs.closeSync(file)
    }
  }
}

/** Whether addresses that a jail bans still write to its log. Needs no rights, and looks at no firewall. */
export const witnessCheck = (needs: {
  engine: Pick<Engine, 'banned' | 'logTarget' | 'sources' | 'thresholds'>
  places: Pick<Places, 'outside'>
  /** Whether packets of the address are refused wherever the program listens whose log the jail reads. */
  isRefused: (jail: string, ip: string) => boolean
  readLog?: (path: string) => string[]
  now?: () => number
}): Check => {
  const { engine } = needs
  const now = needs.now ?? steadyNow
  const read = needs.readLog ?? createLogTail()
  const watched = new Map<string, Watched>()
  /** With fail2ban's usual log level every attempt is named; with a higher one only that an address was to be banned again. */
  let namesAttempts = false
  /** fail2ban's log; undefined: not asked yet, null: no file. */
  let log: string | null | undefined

  const note = ({ jail, ip, event, at, attemptAt }: LogLine): void => {
    const key = `${jail}|${ip}`
    const knownWatch = watched.get(key)
    if (event === 'found') namesAttempts = true
    if (event === 'unban') return void watched.delete(key)
    if (event === 'ban') return void watched.set(key, { jail, ip, bannedAt: at, attempts: [], lastHeard: -Infinity })
    // Not banned, or banned before the agent looked: then the ban is older than this line.
    if (!knownWatch) return void watched.set(key, { jail, ip, bannedAt: at, attempts: [], lastHeard: -Infinity })
    if (event === 'again' && namesAttempts) return
    if (attemptAt <= knownWatch.bannedAt + inFlight || attemptAt > at + inFlight) return
    knownWatch.attempts = [...knownWatch.attempts, attemptAt].slice(-maxLines)
    knownWatch.lastHeard = now()
  }

  /** Jails over fail2ban's own log find bans of other jails, and no attempts. */
  const readsEngineLog = async (jail: string, log: string): Promise<boolean> =>
    (await engine.sources(jail)).files.includes(log)

  const forgetEnded = async (): Promise<void> => {
    const banned = await engine.banned(sharedAge)
    for (const [key, { jail, ip }] of watched) if (banned.get(jail)?.has(ip) !== true) watched.delete(key)
    for (const key of [...watched.keys()].slice(maxAddresses)) watched.delete(key)
  }

  const judge = async (each: Watched, log: string): Promise<Finding | null> => {
    const { jail, ip, attempts } = each
    const [first = 0] = attempts
    const last = attempts.at(-1) ?? 0
    const pause = attempts.length < 2 ? longestQuiet : (last - first) / (attempts.length - 1)
    const quiet = Math.min(Math.max(3 * pause, shortestQuiet), longestQuiet)
    if (now() - each.lastHeard > quiet || (await readsEngineLog(jail, log))) return null
    if ((await engine.banned(sharedAge)).get(jail)?.has(ip) !== true) {
      watched.delete(`${jail}|${ip}`)
      return null
    }
    const { maxretry } = await engine.thresholds(jail)
    if (!isThrough(each, maxretry, needs.isRefused(jail, ip))) return null
    const minutes = Math.max(1, Math.ceil((last - first) / 60_000))
    return bad(
      `${jail}: ${ip}`,
      `${ip} is banned in ${jail} and still writes to its log (${attempts.length} lines in ${minutes} min)`,
    )
  }

  return {
    id: 'enforced',
    every: 15_000,
    badAfter: 0,
    looks: 1,
    needsEngine: true,
    async look() {
      if (log === undefined) log = await engine.logTarget()
      if (log === null) return []
      const path = needs.places.outside(log)
      if (path === null) return []
      for (const line of read(path)) {
        const parsed = parseLine(line)
        if (parsed !== null && parsed.jail !== ownJail) note(parsed)
      }
      if (watched.size > maxAddresses) await forgetEnded()
      const findings: Finding[] = []
      for (const each of [...watched.values()].filter(({ attempts }) => attempts.length >= leastLate)) {
        const finding = await judge(each, log)
        if (finding !== null) findings.push(finding)
        if (now() - each.lastHeard > remembered) each.attempts = []
      }
      return findings.slice(0, maxNamed)
    },
    forget() {
      log = undefined
    },
  }
}
