/*
 * What goes out of the house about an attacker: categories by the jail's name, and a comment without anything of ours in
 * it. Category numbers are those of https://www.abuseipdb.com/categories.
 */

const ssh = 22
const brute = 18
const byJail: readonly (readonly [pattern: RegExp, categories: readonly number[]])[] = [
  [/ssh|dropbear/i, [brute, ssh]],
  [/ftp/i, [5, brute]],
  [/post[-_]?fix|exim|sendmail|dovecot|courier|cyrus|sieve|smtp|imap|pop3|mail|sasl|roundcube/i, [11, brute]],
  [/botsearch|badbot|bot/i, [19, 21]],
  [/sql|mariadb|postgres|mongo/i, [brute, 15]],
  [/asterisk|freeswitch|sip/i, [8, brute]],
  [/port-?scan|psad|scan/i, [14]],
  [/ddos|limit-req|req-limit/i, [4]],
  [/apache|nginx|http|web|php|wordpress|wp-|drupal|joomla|nextcloud|proxy|traefik|haproxy/i, [21, brute]],
  [/vpn|openvpn|wireguard/i, [brute, 15]],
]
/** At least one category; a jail that nothing fits is a brute-force attempt. */
export const categoriesOf = (jail: string): readonly number[] =>
  byJail.find(([pattern]) => pattern.test(jail))?.[1] ?? [brute]

/** Anything that looks like an address, by both families' letters. A time of day has colons too, and is none. */
const addresses =
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])(?!\d{1,2}:\d\d:\d\d(?![\w:]))(?=[\da-f:]*:[\da-f:]*:)[\da-f:]{2,45}(?:\.\d{1,3}){0,3}(?![\w:])/gi
const names =
  /((?:invalid user|authenticating user|illegal user|for user|user(?:name)?|login|logname|ruser|account|sasl_username|for|from user)\s*[=:]?\s*)(["'<(]?)[^\s"'<>(),;]+/gi
const mails = /[^\s"'<>(),;=]+@[^\s"'<>(),;=]+/g
const most = 1000
const lines = 3

/**
 * The comment of a report: the jail, and the first log lines without our host names, addresses and anybody's user name.
 * @param own host names and addresses of the fleet
 */
export const commentOf = (
  ban: { readonly jail: string; readonly ip: string; readonly logLines: string },
  own: readonly string[],
): string => {
  const hosts = [...new Set(own.flatMap(name => [name, name.split('.')[0] ?? '']))]
    .filter(name => name.length > 1)
    .sort((a, b) => b.length - a.length)
  const escaped = hosts.map(name => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const ours = escaped.length > 0 ? new RegExp(`(?<![\\w-])(?:${escaped.join('|')})(?![\\w-])`, 'gi') : null
  const clean = (line: string) => {
    const cleanLine = line
      .replace(mails, '[user]')
      .replace(names, (_, before: string, quote: string) => `${before}${quote}[user]`)
      .replace(addresses, found => (found.toLowerCase() === ban.ip ? found : '[address]'))
    return ours ? cleanLine.replace(ours, '[host]') : cleanLine
  }
  const lastLines = ban.logLines
    .split('\n')
    .filter(line => line.trim() !== '')
    .slice(0, lines)
    .map(line => clean(line.slice(0, 2000)))
  return [`Banned by fail2ban, jail ${ban.jail}.`, ...lastLines].join('\n').slice(0, most)
}
