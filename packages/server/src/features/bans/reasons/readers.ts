import type { BanReasonKind } from '@stockade/contract'

/** The part of a log line that tells why an address was banned. */
export interface Finding {
  readonly kind: BanReasonKind
  /** Attempts that the line stands for; one unless it says another number. */
  readonly attempts?: number
  readonly user?: string
  readonly path?: string
}
/** Reads one line; null when the line is of another program. */
type Reader = (line: string, jail: string) => Finding | null

/*
 * Every search is by `indexOf` or by an expression without nested repetition, so the time is linear in the length of the
 * line. The caller bounds lines and values.
 */

/** The text between two markers; to the end where the second one is missing and `open` is given. Null without the first. */
const between = (line: string, start: string, end: string, open = false): string | null => {
  const at = line.indexOf(start)
  if (at < 0) return null
  const from = at + start.length
  const to = line.indexOf(end, from)
  return to < 0 ? (open ? line.slice(from) : null) : line.slice(from, to)
}
/** The same with the last occurrence of the end marker, because a user name may contain the marker itself. */
const betweenLast = (line: string, start: string, end: string): string | null => {
  const at = line.indexOf(start)
  if (at < 0) return null
  const from = at + start.length
  const to = line.lastIndexOf(end)
  return to < from ? null : line.slice(from, to)
}
const has = (line: string, ...words: readonly string[]): boolean => words.some(word => line.includes(word))
const withUser = (kind: BanReasonKind, user: string | null, attempts?: number): Finding => ({
  kind,
  ...(attempts === undefined ? {} : { attempts }),
  ...(user === null || user === '' ? {} : { user }),
})

const sshUser = (text: string): string => text.replace(/^(?:invalid|illegal) user /i, '')
const sshStarts = [
  ['Failed password for ', ' from '],
  ['Failed publickey for ', ' from '],
  ['Failed keyboard-interactive/pam for ', ' from '],
  ['Failed none for ', ' from '],
  ['maximum authentication attempts exceeded for ', ' from '],
  ['PAM: Authentication failure for ', ' from '],
  ['PAM: User not known to the underlying authentication module for ', ' from '],
  ['Invalid user ', ' from '],
  ['Connection closed by authenticating user ', ' '],
  ['Connection reset by authenticating user ', ' '],
  ['Disconnected from authenticating user ', ' '],
  ['Connection closed by invalid user ', ' '],
  ['Connection reset by invalid user ', ' '],
  ['Disconnected from invalid user ', ' '],
] as const
const ssh: Reader = (line, jail) => {
  if (!line.includes('sshd') && !jail.startsWith('ssh')) return null
  for (const [start, end] of sshStarts) {
    if (!line.includes(start)) continue
    const user = end === ' from ' ? betweenLast(line, start, end) : between(line, start, end, true)
    return withUser('failed-logins', user === null ? null : sshUser(user))
  }
  if (has(line, ' not allowed because ')) return withUser('failed-logins', between(line, 'User ', ' from '))
  if (line.includes('authentication failure')) return withUser('failed-logins', pamUser(line))
  const probed = [
    'identification string',
    'Bad protocol version',
    'Unable to negotiate',
    'banner exchange',
    '[preauth]',
  ]
  return has(line, ...probed) ? { kind: 'probes' } : null
}

/** `user=NAME` at the end of a line of PAM; `ruser=` is another field. */
const pamUser = (line: string): string | null => {
  const at = line.lastIndexOf(' user=')
  return at < 0 ? null : (line.slice(at + 6).split(' ')[0] ?? null)
}

const mail: Reader = (line, jail) => {
  const isMail =
    has(line, 'postfix', 'dovecot', 'exim', '-login:', 'sendmail', 'saslauthd') ||
    /postfix|dovecot|exim|sasl|courier/.test(jail)
  if (!isMail) return null
  if (line.includes('auth failed') || line.includes('no auth attempts')) {
    const attempts = Number(/(?:auth failed, |no auth attempts, )(\d{1,6}) attempts?/.exec(line)?.[1] ?? 1)
    return withUser('mail-logins', between(line, 'user=<', '>'), attempts)
  }
  if (has(line, 'authentication failed', 'AUTH failed', 'authenticator failed', 'lost connection after AUTH'))
    return withUser('mail-logins', between(line, 'sasl_username=', ',', true) ?? between(line, '(set_id=', ')'))
  if (line.includes('authentication failure'))
    return withUser('mail-logins', pamUser(line) ?? between(line, 'ruser=', ' '))
  if (has(line, 'unknown user', 'Password mismatch', 'password mismatch', 'user unknown'))
    return withUser('mail-logins', dovecotUser(line))
  return has(
    line,
    'NOQUEUE: reject',
    'improper command pipelining',
    'lost connection after',
    'Relay access denied',
    'rejected RCPT',
  )
    ? { kind: 'probes' }
    : null
}
/** `passwd-file(NAME,ADDRESS)`: the user name stands before the comma. */
const dovecotUser = (line: string): string | null => {
  const inner = between(line, 'auth: ', ')')
  const open = inner?.indexOf('(') ?? -1
  return inner && open >= 0 ? (inner.slice(open + 1).split(',')[0] ?? null) : null
}

const roundcube: Reader = (line, jail) =>
  !jail.includes('roundcube') && !line.includes('roundcube')
    ? null
    : has(line, 'Failed login for ', 'Login failed for ')
      ? withUser(
          'mail-logins',
          betweenLast(line, line.includes('Failed login for ') ? 'Failed login for ' : 'Login failed for ', ' from '),
        )
      : null

const ftp: Reader = (line, jail) => {
  if (line.includes('FAIL LOGIN'))
    return withUser(
      'failed-logins',
      between(line.slice(0, line.indexOf('FAIL LOGIN')).replace(/^.*\[pid [^\]]*\]/, ''), '[', ']'),
    )
  if (!line.includes('ftpd') && !jail.includes('ftp')) return null
  if (line.includes('authentication failure'))
    return withUser('failed-logins', pamUser(line) ?? between(line, 'ruser=', ' '))
  if (line.includes('SECURITY VIOLATION'))
    return withUser('failed-logins', between(line, 'SECURITY VIOLATION: ', ' login'))
  if (has(line, 'no such user', 'Login failed', 'Incorrect password')) {
    const user = between(line, 'USER ', ': ') ?? between(line, 'USER ', ' (')
    return withUser('failed-logins', user?.replace(/ \(Login failed\)?$/, '') ?? null)
  }
  if (line.includes('Authentication failed for user'))
    return withUser('failed-logins', between(line, 'for user [', ']'))
  return line.includes('Maximum login attempts') ? { kind: 'failed-logins' } : null
}

const database: Reader = line => {
  if (line.includes('Access denied for user')) return withUser('failed-logins', betweenLast(line, "for user '", "'@"))
  if (line.includes('password authentication failed for user'))
    return withUser('failed-logins', betweenLast(line, 'for user "', '"'))
  return null
}

const wordpress: Reader = (line, jail) => {
  if (!line.includes('wordpress') && !jail.startsWith('wordpress') && !jail.startsWith('wp')) return null
  for (const start of [
    'Authentication failure for ',
    'authentication attempt for unknown user ',
    'Authentication attempt for unknown user ',
    'XML-RPC authentication failure for ',
  ])
    if (line.includes(start)) return withUser('failed-logins', betweenLast(line, start, ' from '))
  return has(line, 'user enumeration', 'Pingback', 'Spammed', 'XML-RPC multicall') ? { kind: 'probes' } : null
}

const repeat: Reader = (line, jail) =>
  /\] (?:Ban|Restore Ban|Increase Ban) /.test(line) && (jail.startsWith('recidive') || has(line, 'NOTICE', 'fail2ban'))
    ? { kind: 'repeat-offender' }
    : null

const isProbing = (jail: string): boolean =>
  /bot|script|scan|overflow|nohome|shellshock|bad-request|probe|exploit|phpmyadmin|url-fopen/.test(jail)
const kindOfRequest = (jail: string, status: number): BanReasonKind =>
  jail.includes('limit') || status === 429
    ? 'rate-limit'
    : isProbing(jail)
      ? 'probes'
      : /auth|login|wordpress|wp-/.test(jail)
        ? 'failed-logins'
        : 'requests'

/** `"GET /path HTTP/1.1" 404`: the path, and the status where one follows. */
const requestOf = (line: string): { path: string; status: number } | null => {
  const request = /"(?:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH|PROPFIND|CONNECT|TRACE) ([^ "]+)/.exec(line)
  if (!request?.[1]) return null
  const rest = line.slice(request.index + request[0].length)
  const status = Number(/^(?: HTTP\/[\d.]{1,5})?" (\d{3})\b/.exec(rest)?.[1] ?? 0)
  return { path: request[1].split('?')[0] ?? request[1], status }
}
/** A refused sign-in to a web server. */
const webLogin = (line: string): Finding | null => {
  if (has(line, '" was not found in "', '": password mismatch', 'no user/password was provided'))
    return withUser('failed-logins', between(line, 'user "', '"'))
  const isRefused = has(line, 'authentication failure for', 'AH01617', 'AH01618', 'AH01790', 'Password Mismatch')
  if (!isRefused && !/user .{1,200} not found: /.test(line)) return null
  const place = between(line, 'failure for "', '"') ?? between(line, 'not found: ', ',', true)
  const user =
    between(line, ' not found: ', '') === null ? between(line, 'user ', ': ') : between(line, 'user ', ' not found')
  return { ...withUser('failed-logins', user), ...(place ? { path: place } : {}) }
}
const web: Reader = (line, jail) => {
  const request = requestOf(line)
  const path = request ? { path: request.path } : {}
  if (has(line, 'limiting requests', 'limiting connections')) return { kind: 'rate-limit', ...path }
  const login = webLogin(line)
  if (login) return { ...path, ...login }
  const missing = /(?:File does not exist: |script '|client denied by server configuration: )([^ ',]+)/.exec(line)?.[1]
  if (missing) return { kind: isProbing(jail) || line.includes("script '") ? 'probes' : 'requests', path: missing }
  if (line.includes('open() "') && line.includes('failed (2'))
    return { kind: isProbing(jail) ? 'probes' : 'requests', ...path }
  return request ? { kind: kindOfRequest(jail, request.status), path: request.path } : null
}

const general: Reader = line =>
  has(
    line,
    'authentication failure',
    'Authentication failure',
    'authentication failed',
    'Login failed',
    'login failed',
    'Failed login',
    'invalid password',
  )
    ? withUser('failed-logins', pamUser(line))
    : null

/** The first reader that knows a line speaks for it; general ones come last. */
export const readers: readonly Reader[] = [repeat, ssh, roundcube, mail, ftp, database, wordpress, web, general]
