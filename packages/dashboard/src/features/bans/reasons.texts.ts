import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

/** `count` is null where the log lines do not tell a number; `said` is the number as it is written. */
const counted =
  (none: string, one: string, other: (said: string) => string) =>
  (said: string, count: number | null): string =>
    count === null ? none : plural(count, { one, other: other(said) })

const en = {
  kinds: {
    'failed-logins': counted('Failed logins', '1 failed login', said => `${said} failed logins`),
    'mail-logins': counted('Failed mailbox logins', '1 failed mailbox login', said => `${said} failed mailbox logins`),
    requests: counted('Refused requests', '1 refused request', said => `${said} refused requests`),
    probes: counted('Probes', '1 probe', said => `${said} probes`),
    'repeat-offender': counted(
      'Banned again and again',
      'Came back after 1 ban',
      said => `Came back after ${said} bans`,
    ),
    'rate-limit': counted('Too many requests', '1 request over the limit', said => `${said} requests over the limit`),
    manual: counted('Manual ban', 'Manual ban', () => 'Manual ban'),
    other: counted('Cause unknown', '1 attempt', said => `${said} attempts`),
  },
  about: (what: string, names: string) => `${what} for ${names}`,
  quoted: (what: string, text: string) => `${what}: “${text}”`,
  none: 'No log lines',
}
export const reasonsTexts: Catalogue<typeof en> = { name: 'reasons', en }
