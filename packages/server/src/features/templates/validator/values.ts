import { bounds } from '@stockade/contract/limits.ts'

/*
 * What the value of an option may be. Each check answers what is wrong, or null. A template is root's configuration on
 * every host, and the engine evaluates some values as programs: so these say what passes, not what does not.
 */
export type Check = (value: string) => string | null

const oneOf =
  (...values: string[]): Check =>
  value =>
    values.includes(value.toLowerCase()) ? null : `It must be one of ${values.join(', ')}.`
const like =
  (pattern: RegExp, what: string): Check =>
  value =>
    value.length <= 1024 && pattern.test(value) ? null : what

export const truth = oneOf('true', 'false', 'yes', 'no', 'on', 'off', '1', '0')
export const whole =
  (least: number, most: number): Check =>
  value =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? null
      : `It must be a whole number from ${least} to ${most}.`

const units: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|sec|second|seconds)$/i, 1],
  [/^(?:m|min|minute|minutes)$/i, 60],
  [/^(?:h|hour|hours)$/i, 3600],
  [/^(?:d|day|days)$/i, 86_400],
  [/^(?:w|week|weeks)$/i, 604_800],
  [/^(?:mo|mon|month|months)$/i, 2_629_800],
  [/^(?:y|year|years)$/i, 31_557_600],
]
/** Seconds of `90`, `10m`, `1d 12h`; null for anything else. The engine would evaluate arithmetic, which is refused. */
export const secondsOf = (value: string): number | null => {
  if (/^-?\d{1,9}$/.test(value)) return Number(value)
  if (value.length > 64 || !/^(?:\d{1,9} ?[a-z]{1,7} ?)+$/i.test(value)) return null
  let seconds = 0
  for (const [, digits, unit] of value.matchAll(/(\d+) ?([a-z]+)/gi)) {
    const knownUnit = units.find(([pattern]) => pattern.test(unit ?? ''))
    if (!knownUnit) return null
    seconds += Number(digits) * knownUnit[1]
  }
  return seconds
}
export const span =
  (permanent: boolean): Check =>
  value => {
    const seconds = secondsOf(value)
    if (seconds !== null && ((permanent && seconds === -1) || (seconds >= 1 && seconds <= bounds.seconds))) return null
    return `It must be a time such as 600, 10m or 1d 12h, from 1 second to a year${permanent ? ', or -1 for ever' : ''}.`
  }

export const port: Check = value => {
  const parts = value.split(',')
  for (const part of parts) {
    const [, low, high] = /^ ?(\d{1,5})(?::(\d{1,5}))?$/.exec(part) ?? []
    const isName = /^ ?[a-z][a-z0-9-]{0,30}$/.test(part)
    if (
      !isName &&
      (low === undefined || Number(low) > 65_535 || Number(high ?? low) > 65_535 || Number(high ?? low) < Number(low))
    )
      return 'It must be ports, ranges such as 6000:6010 or names of services, with commas between them.'
  }
  return parts.length > 15 ? 'Firewalls take 15 ports at most.' : null
}
export const protocol = like(
  /^(?:all|(?:tcp|udp|sctp|icmp)(?:,(?:tcp|udp))?)$/,
  'It must be tcp, udp, or both with a comma between them.',
)
export const backend: Check = value =>
  /^(?:auto|polling|pyinotify|systemd(?:\[journalflags=\d{1,2}\])?)$/.test(value) ||
  variablePattern('backend').test(value)
    ? null
    : 'It must be auto, polling, pyinotify, systemd or systemd[journalflags=1].'
/** With `raw` the engine bans a name as it stands in the log: text of strangers would reach the firewall. */
export const usedns = oneOf('yes', 'warn', 'no')
export const mode = like(/^[a-z][a-z0-9-]{0,30}$/, 'It must be one word.')
export const factor = like(/^\d{1,4}(?:\.\d{1,4})?$/, 'It must be a number.')
/** Factors of one ban after the other; the engine takes whole numbers. */
export const multipliers = like(
  /^\d{1,9}(?: \d{1,9}){0,49}$/,
  'It must be whole numbers with a blank between them, at most 50.',
)
export const logencoding = oneOf(
  ...['auto', 'ascii', 'utf-8', 'utf8', 'utf-16', 'latin-1', 'latin1', 'iso-8859-1', 'iso-8859-2', 'iso-8859-15'],
  ...['cp1250', 'cp1251', 'cp1252', 'koi8-r', 'gbk', 'gb18030', 'big5', 'euc-jp', 'shift_jis', 'euc-kr'],
)
export const logtimezone = like(
  /^(?:Z|(?:UTC|GMT)?[+-][01]\d(?::?[0-5]\d)?|UTC|GMT)$/,
  'It must be UTC, GMT or an offset such as UTC+0200.',
)
/** A field of the journal and its value; a "+" between them means "or". */
const field = '[A-Z_][A-Z0-9_]{0,63}=[A-Za-z0-9._@:/-]{1,128}'
const fields = new RegExp(`^${field}(?: (?:\\+ )?${field}){0,20}$`)
export const journalmatch: Check = value =>
  value === '' || fields.test(value)
    ? null
    : 'It must be fields of the journal such as _SYSTEMD_UNIT=ssh.service, with blanks or " + " between them.'

/** The variables of the engine's own files that name logs and backends, as its packages set them. */
const pathVariables =
  'apache_access apache_error auditd dovecot dropbear exim_main lighttpd_error mysql nginx_access nginx_error postfix proftpd pureftpd roundcube_errors solidpop3d sshd suhosin vsftpd wuftpd'
    .split(' ')
    .map(name => `${name}_log`)
    .concat(
      'syslog_authpriv syslog_daemon syslog_ftp syslog_local0 syslog_mail syslog_mail_warn syslog_user'.split(' '),
    )
const backendVariables = 'default dovecot dropbear mysql postfix proftpd pureftpd sshd syslog wuftpd'
  .split(' ')
  .map(name => `${name}_backend`)
const variablePattern = (which: 'log' | 'backend') =>
  new RegExp(`^%\\((?:${(which === 'log' ? pathVariables : backendVariables).join('|')})\\)s$`)
const logVariable = variablePattern('log')

const roots = /^\/(?:var\/log|var\/lib|opt|srv|home)\//

/** One path: an absolute one where logs may lie, with globs if need be, or one of the engine's variables for paths. */
export const logpath: Check = value => {
  if (logVariable.test(value)) return null
  if (value.startsWith('%(')) return 'It names a variable that is none of the engine for log paths.'
  if (!value.startsWith('/')) return 'It must be an absolute path.'
  if (!/^[A-Za-z0-9._/@=+*?[\]~-]+$/.test(value)) return 'It holds a character that paths of logs may not have here.'
  if (value.length > 1024) return 'It is longer than 1024 characters.'
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(value)) return 'It must not hold "." or ".." as a folder.'
  if (value.endsWith('/')) return 'It must be a file, not a folder.'
  if (value === '/dev/null' || roots.test(value)) return null
  return 'It must lie under /var/log, /var/lib, /opt, /srv or /home, or be /dev/null.'
}
/** Lines of paths, each with ` tail` or ` head` after it if need be. */
export const logpaths: Check = value => {
  const lines = value.split('\n').filter(line => line !== '')
  if (lines.length === 0) return 'It must name a log.'
  if (lines.length > 50) return 'It names more than 50 logs.'
  for (const line of lines) {
    const wrong = logpath(line.replace(/ (?:tail|head)$/, ''))
    if (wrong) return wrong
  }
  return null
}
