import { describe, expect, test } from 'vitest'
import { mergeReasons, reasonOf } from './reason.ts'

const nothing = { users: [], paths: [], text: null }
const of = (jail: string, ...lines: string[]) => reasonOf({ jail, lines: lines.join('\n') })

describe('the reason of a ban', () => {
  test.each([
    [
      'sshd',
      'Nov 23 10:00:01 web sshd[7]: Failed password for root from 192.0.2.7 port 4242 ssh2',
      'failed-logins',
      ['root'],
      [],
    ],
    [
      'sshd',
      'sshd[7]: Failed password for invalid user o from x from 192.0.2.7 port 4242 ssh2',
      'failed-logins',
      ['o from x'],
      [],
    ],
    ['sshd', 'sshd-session[7]: Invalid user admin from 192.0.2.7 port 4242', 'failed-logins', ['admin'], []],
    [
      'sshd',
      'sshd[7]: Connection closed by authenticating user git 192.0.2.7 port 4242 [preauth]',
      'failed-logins',
      ['git'],
      [],
    ],
    [
      'sshd',
      'sshd[7]: pam_unix(sshd:auth): authentication failure; logname= uid=0 ruser= rhost=192.0.2.7  user=deploy',
      'failed-logins',
      ['deploy'],
      [],
    ],
    ['sshd', 'sshd[7]: Did not receive identification string from 192.0.2.7', 'probes', [], []],
    [
      'nginx-http-auth',
      '2026/11/23 10:00:00 [error] 1#1: *5 user "joe" was not found in "/etc/nginx/htpasswd", client: 192.0.2.7',
      'failed-logins',
      ['joe'],
      [],
    ],
    [
      'nginx-http-auth',
      '[error] user "joe": password mismatch, client: 192.0.2.7, request: "GET /private HTTP/1.1"',
      'failed-logins',
      ['joe'],
      ['/private'],
    ],
    [
      'nginx-botsearch',
      '192.0.2.7 - - [23/Nov/2026:10:00:00 +0000] "GET /wp-login.php?x=1 HTTP/1.1" 404 162 "-" "bot"',
      'probes',
      [],
      ['/wp-login.php'],
    ],
    [
      'nginx-limit-req',
      '[error] limiting requests, excess: 20.4 by zone "a", client: 192.0.2.7, request: "POST /login HTTP/1.1"',
      'rate-limit',
      [],
      ['/login'],
    ],
    ['web', '192.0.2.7 - - [23/Nov/2026] "POST /api HTTP/2.0" 403 9', 'requests', [], ['/api']],
    [
      'apache-auth',
      '[auth_basic:error] [client 192.0.2.7:1] AH01618: user eve not found: /private',
      'failed-logins',
      ['eve'],
      ['/private'],
    ],
    [
      'apache-auth',
      '[auth_basic:error] [client 192.0.2.7:1] AH01617: user eve: authentication failure for "/private": Password Mismatch',
      'failed-logins',
      ['eve'],
      ['/private'],
    ],
    [
      'apache-noscript',
      "[client 192.0.2.7:1] AH02811: script '/var/www/shell.php' not found or unable to stat",
      'probes',
      [],
      ['/var/www/shell.php'],
    ],
    [
      'postfix',
      'postfix/smtpd[9]: warning: unknown[192.0.2.7]: SASL LOGIN authentication failed: x, sasl_username=info@shop.example',
      'mail-logins',
      ['info@shop.example'],
      [],
    ],
    [
      'postfix',
      'postfix/smtpd[9]: NOQUEUE: reject: RCPT from unknown[192.0.2.7]: 554 5.7.1 Relay access denied',
      'probes',
      [],
      [],
    ],
    ['dovecot', 'dovecot: auth: passwd-file(anna,192.0.2.7): unknown user', 'mail-logins', ['anna'], []],
    [
      'proftpd',
      'proftpd[5] (192.0.2.7[192.0.2.7]): USER backup: no such user found from 192.0.2.7',
      'failed-logins',
      ['backup'],
      [],
    ],
    [
      'proftpd',
      'proftpd[5] (192.0.2.7[192.0.2.7]): USER www (Login failed): Incorrect password',
      'failed-logins',
      ['www'],
      [],
    ],
    ['vsftpd', 'Mon Nov 23 10:00:00 2026 [pid 1] [ftp] FAIL LOGIN: Client "192.0.2.7"', 'failed-logins', ['ftp'], []],
    [
      'mysqld-auth',
      "[Warning] Access denied for user 'root'@'192.0.2.7' (using password: YES)",
      'failed-logins',
      ['root'],
      [],
    ],
    [
      'roundcube-auth',
      'roundcube: <a> IMAP Error: Failed login for info from 192.0.2.7 in /x.php',
      'mail-logins',
      ['info'],
      [],
    ],
    [
      'wordpress',
      'wordpress(blog.example)[3]: Authentication failure for editor from 192.0.2.7',
      'failed-logins',
      ['editor'],
      [],
    ],
    [
      'recidive',
      '2026-11-23 10:00:00,000 fail2ban.actions [1]: NOTICE  [sshd] Ban 192.0.2.7',
      'repeat-offender',
      [],
      [],
    ],
  ])('%s: %s', (jail, line, kind, users, paths) => {
    expect(of(jail, line)).toEqual({ ...nothing, kind, users, paths, attempts: 1 })
  })

  test('attempts are added up, the most frequent values come first, five of them at most', () => {
    const dovecot = (user: string, times: number) =>
      `dovecot: imap-login: Disconnected (auth failed, ${times} attempts in 9 secs): user=<${user}>, rip=192.0.2.7`
    expect(of('dovecot', dovecot('anna', 3), dovecot('info', 1), dovecot('info', 4))).toEqual({
      ...nothing,
      kind: 'mail-logins',
      attempts: 8,
      users: ['info', 'anna'],
    })
    const many = Array.from({ length: 9 }, (_, n) => `sshd[1]: Invalid user u${n} from 192.0.2.7 port 1`)
    expect(of('sshd', ...many)).toMatchObject({ attempts: 9, users: ['u0', 'u1', 'u2', 'u3', 'u4'] })
  })

  test('lines that say nothing, and no lines', () => {
    expect(of('home-made', 'something happened', 'again')).toEqual({ ...nothing, kind: 'other', attempts: 2 })
    expect(of('sshd', '')).toBeNull()
    expect(of('recidive', '')).toEqual({ ...nothing, kind: 'repeat-offender', attempts: null })
  })

  test('a manual ban has the words of its operator', () => {
    const manual = { jail: 'stockade', lines: '', bannedBy: 'anna' }
    expect(reasonOf({ ...manual, text: 'Scans the network' })).toEqual({
      ...nothing,
      kind: 'manual',
      attempts: null,
      text: 'Scans the network',
    })
    expect(reasonOf(manual)?.text).toBeNull()
  })

  test('hostile values are cleaned and bounded', () => {
    const name = (user: string) => of('sshd', `sshd[1]: Invalid user ${user} from 192.0.2.7 port 1`)?.users
    expect(name('a\u001b[31m\u202eb\u0000')).toEqual(['a[31mb'])
    expect(name('مدير')).toEqual(['مدير'])
    expect(name(`root from 1.2.3.4 "quoted' <b>`)).toEqual([`root from 1.2.3.4 "quoted' <b>`])
    const long = name('😀'.repeat(500))?.[0] ?? ''
    expect(Array.from(long)).toHaveLength(64)
    expect(long.isWellFormed()).toBe(true)
    expect(of('nginx-botsearch', `"GET /${'../'.repeat(40_000)} HTTP/1.1" 404`)?.paths[0]).toHaveLength(64)
  })

  test('long texts are read from their end, and no line takes an expression for ever', () => {
    const early = 'sshd[1]: Invalid user early from 192.0.2.7 port 1'
    const late = 'sshd[1]: Invalid user late from 192.0.2.7 port 1'
    expect(of('sshd', early, 'x'.repeat(100_000), late)).toMatchObject({ users: ['late'], attempts: 1 })
    // Nothing here repeats within a repetition: each of these would be endless for an expression that does.
    for (const bad of [
      'user '.repeat(20_000),
      '"GET '.repeat(20_000),
      ' not found: '.repeat(10_000),
      '[pid '.repeat(20_000),
    ])
      expect(() => of('apache-auth', bad, `${bad}FAIL LOGIN`)).not.toThrow()
  })
})

test('reasons of several bans together', () => {
  const one = of(
    'sshd',
    'sshd[1]: Invalid user git from 192.0.2.7 port 1',
    'sshd[1]: Invalid user git from 192.0.2.7 port 1',
  )
  const other = of('nginx-botsearch', '"GET /.env HTTP/1.1" 404')
  expect(mergeReasons([null, other, one])).toEqual({
    kind: 'failed-logins',
    attempts: 3,
    users: ['git'],
    paths: ['/.env'],
    text: null,
  })
  expect(mergeReasons([null, null])).toBeNull()
  expect(mergeReasons([of('home-made', 'a', 'b', 'c'), other])?.kind).toBe('probes')
})
