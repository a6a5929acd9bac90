import { expect, it } from 'vitest'
import { browserWords } from './browser-words.ts'

const linux = 'Mozilla/5.0 (X11; Linux x86_64'
it.each([
  [`${linux}; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Linux'],
  [`${linux}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  ['Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15', 'macOS'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', 'Unknown browser'],
  ['Mozilla/5.0', 'Unknown browser'],
  ['evil\u202ename', 'evil\\u202ename'],
])('%s: %s', (agent, words) => expect(browserWords(agent)).toBe(words))
it('cuts a long one', () => expect(browserWords('x'.repeat(5000))).toHaveLength(40))
