import { expect, test } from 'vitest'
import { localUrl, urlsForOthers } from './base-url.ts'

const listening = (host: string) => ({ host, port: 8420, tls: null })
const addresses = ['192.0.2.10', '198.51.100.1', '203.0.113.7', '2001:db8::5']

test.each([
  ['0.0.0.0', 'http://localhost:8420'],
  ['::', 'http://localhost:8420'],
  ['127.0.0.1', 'http://localhost:8420'],
  ['192.0.2.10', 'http://192.0.2.10:8420'],
  ['2001:db8::5', 'http://[2001:db8::5]:8420'],
])('this machine finds a server on %s at %s', (host, url) => {
  expect(localUrl(listening(host))).toBe(url)
})

test('other machines are given a few addresses, where the server listens on all of them', () => {
  expect(urlsForOthers(listening('0.0.0.0'), addresses)).toEqual([
    'http://192.0.2.10:8420',
    'http://198.51.100.1:8420',
    'http://203.0.113.7:8420',
  ])
  expect(urlsForOthers(listening('::'), ['2001:db8::5'])).toEqual(['http://[2001:db8::5]:8420'])
  expect(urlsForOthers(listening('127.0.0.1'), addresses)).toEqual([])
  expect(urlsForOthers(listening('192.0.2.10'), addresses)).toEqual([])
})
