import { expect, test } from 'vitest'
import { categoriesOf, commentOf } from './report-text.ts'

test.each([
  ['sshd', [18, 22]],
  ['nginx-http-auth', [21, 18]],
  ['nginx-botsearch', [19, 21]],
  ['postfix-sasl', [11, 18]],
  ['pure-ftpd', [5, 18]],
  ['asterisk', [8, 18]],
  ['something-else', [18]],
])('jail %s is of the categories %j', (jail, categories) => expect(categoriesOf(jail)).toEqual(categories))

const own = ['web-01.example', '198.51.100.7', '2001:db8::7']
const comment = (logLines: string, ip = '203.0.113.9') => commentOf({ jail: 'sshd', ip, logLines }, own)

test.each([
  ['Nov 21 web-01 sshd[1]: Failed password for root from 203.0.113.9 port 22', ['web-01', 'root']],
  ['web-01.example: Invalid user anna from 203.0.113.9', ['web-01', 'anna']],
  ['rhost=203.0.113.9 user=bob ruser="carl" to 198.51.100.7', ['bob', 'carl', '198.51.100.7']],
  ['connect from 203.0.113.9 to [2001:db8::7]:25 and 192.0.2.1', ['2001:db8::7', '192.0.2.1']],
  ['sasl_username=dora@corp.example, client=[203.0.113.9]', ['dora', 'corp.example']],
  ['203.0.113.9 - eve@corp.example [21/Nov/2026] "GET /"', ['eve']],
])('%s says nothing of ours', (line, ours) => {
  const text = comment(line)
  for (const word of ours) expect(text).not.toContain(word)
  expect(text).toContain('203.0.113.9')
})
test('leaves times of day as they are', () => {
  const text = comment(
    '2026-11-20 10:00:00 sshd: from 203.0.113.9 at 9:05:59.123 via 2001:db8::1 and 02:42:ac:11:00:02',
  )
  expect(text).toContain('2026-11-20 10:00:00 sshd: from 203.0.113.9 at 9:05:59.123 via [address] and [address]')
})
test('is short, whatever a host sends', () => {
  expect(comment('x'.repeat(100_000)).length).toBeLessThanOrEqual(1000)
  expect(comment(Array(500).fill('line').join('\n')).split('\n').length).toBeLessThanOrEqual(4)
})
test('comes to an end on hostile lines', () => {
  for (const piece of ['@', '1.', 'a:', 'user=', 'for ']) comment(piece.repeat(60_000 / piece.length))
})
