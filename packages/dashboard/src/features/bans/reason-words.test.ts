import { describe, expect, it } from 'vitest'
import { partsOfReason, reasonWords } from './reason-words.ts'
import type { Reason } from './reason-words.ts'

const reason = (given: Partial<Reason>): Reason => ({
  kind: 'failed-logins',
  attempts: null,
  users: [],
  paths: [],
  text: null,
  ...given,
})
const plain = (given: Partial<Reason> | null) => partsOfReason(reasonWords(given && reason(given))).join('')

describe('why an address was banned', () => {
  it.each([
    [{ attempts: 31, users: ['root', 'admin'] }, '31 failed logins for root, admin'],
    [{ attempts: 1 }, '1 failed login'],
    [{ users: ['root'] }, 'Failed logins for root'],
    [
      { kind: 'mail-logins', attempts: 9, users: ['info@corp.example'] },
      '9 failed mailbox logins for info@corp.example',
    ],
    [{ kind: 'requests', attempts: 62, paths: ['/wp-login.php'] }, '62 refused requests for /wp-login.php'],
    [{ kind: 'probes', attempts: 38, paths: ['/.env', '/.git/config'] }, '38 probes for /.env, /.git/config'],
    [{ kind: 'repeat-offender', attempts: 5 }, 'Came back after 5 bans'],
    [{ kind: 'rate-limit', attempts: 1200 }, '1,200 requests over the limit'],
    [{ kind: 'manual', text: 'scraper, ticket 12' }, 'Manual ban: “scraper, ticket 12”'],
    [{ kind: 'other' }, 'Cause unknown'],
    [null, 'No log lines'],
  ] as const)('%j', (given, words) => expect(plain(given as Partial<Reason> | null)).toBe(words))

  it('keeps each name to itself, whatever direction it writes in', () => {
    const words = reasonWords(reason({ attempts: 2, users: ['\u2069root\u2068', 'שלום'] }))
    expect(partsOfReason(words)).toEqual(['2 failed logins for ', 'root', ', ', 'שלום', ''])
  })
})
