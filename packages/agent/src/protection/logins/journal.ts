import { readOr } from '@stockade/contract/untrusted.ts'
import { canonicalIp } from '../../ip.ts'
import { asFields, asText } from '../../json.ts'
import { runProgram } from '../../process.ts'
import { journalMark } from '../journal/journald.ts'
import { noLogins } from './logins.ts'
import type { LoginSource, Logins } from './logins.ts'

/* Messages of sshd in the journal, read by `journalctl`: fail2ban's Python has the journal's module only where a jail reads it. */

/** Entries of one look, the newest ones where there are more; and how old they are at most, three looks. */
const mostEntries = 3000
const oldest = '-15min'
const maxOutput = 4 * 1024 * 1024
const deadline = 5000

/** A message of sshd. Microseconds of the clock that nobody sets, since the boot; the process that serves the connection. */
interface Message {
  readonly at: number
  readonly connection: string
  readonly text: string
}

/** The address stands at the end, behind the user name, which is the attacker's. */
const failure = /^Failed (?:password|keyboard-interactive\/pam) for .* from (\S+) port \d+(?: ssh2?)?$/
/** Where sshd takes keys only, this is all that it says. fail2ban counts it in every mode of the filter. */
const stranger = /^Invalid user .* from (\S+)(?: port \d+)?$/
const success = /^Accepted \S+ for .* from (\S+) port \d+(?: ssh2?)?(?:: .*)?$/

const addressIn = (pattern: RegExp, text: string): string | null => {
  const [, address] = pattern.exec(text) ?? []
  return address === undefined ? null : canonicalIp(address)
}

/** Null: no entry, or a text that is binary or longer than 4096 bytes. */
const messageOf = (line: string): Message | null => {
  const fields = asFields(readOr(null, () => JSON.parse(line)))
  const at = Number(fields['__MONOTONIC_TIMESTAMP'])
  const text = fields['MESSAGE']
  if (!(at > 0) || typeof text !== 'string') return null
  return { at, connection: asText(fields['SYSLOG_PID']) || asText(fields['_PID']), text }
}

/** A failed login by password is counted once for each try, an unknown user without one once for each connection. */
const failuresOf = (messages: readonly Message[]): string[] => {
  const tries = messages.flatMap(({ connection, text }) => {
    const address = addressIn(failure, text)
    return address === null ? [] : [{ connection, address }]
  })
  const connections = new Set(tries.map(({ connection }) => connection))
  const strangers = messages.flatMap(({ connection, text }) =>
    connections.has(connection) ? [] : (addressIn(stranger, text) ?? []),
  )
  return [...tries.map(({ address }) => address), ...strangers]
}

/** The logins in lines of JSON of `journalctl` that are later than a time, and the time of the last one. */
export const loginsIn = (text: string, after: number): { readonly logins: Logins; readonly lastAt: number } => {
  const messages = text.split('\n').flatMap(line => messageOf(line) ?? [])
  const news = messages.filter(({ at }) => at > after)
  return {
    logins: {
      failed: failuresOf(news),
      accepted: news.flatMap(({ text: message }) => addressIn(success, message) ?? []),
    },
    lastAt: news.reduce((last, { at }) => Math.max(last, at), after),
  }
}

/** Microseconds since the boot, of the clock that the journal notes with each entry. */
const sinceBoot = (): number => Number(process.hrtime.bigint() / 1000n)

/**
 * Logins of SSH in the journal. Only messages of root count: anybody may write there as `sshd`. A journal that is missing, cannot be read or hangs
 * has none. `namespace`: of journald.
 */
export const createJournalLogins = ({
  namespace = null as string | null,
  journalctl = 'journalctl',
} = {}): LoginSource => {
  let lastAt = sinceBoot()
  const command = [
    ...[journalctl, '--no-pager', '--quiet', '--boot', '--reverse', `--lines=${mostEntries}`],
    ...[`--since=${oldest}`, '--identifier=sshd', '--identifier=sshd-session', '_UID=0'],
    ...['--output=json', '--output-fields=MESSAGE,SYSLOG_PID,_PID'],
    ...(namespace === null ? [] : [`--namespace=${namespace}`]),
  ]
  return async () => {
    if (journalMark(namespace) === null) return noLogins
    const { stdout } = await runProgram(command, { timeout: deadline, maxOutput })
    const news = loginsIn(stdout, lastAt)
    lastAt = news.lastAt
    return news.logins
  }
}
