import { expect, test } from 'vitest'
import { mailNameOf, ownMailName } from './mail-name.ts'

test.each([
  ['mail.corp.example', 'mail.corp.example'],
  ['Mail.Corp.example.', 'mail.corp.example'],
  ['192.0.2.10', '[192.0.2.10]'],
  ['[192.0.2.10]', '[192.0.2.10]'],
  ['2001:db8::1', '[IPv6:2001:db8::1]'],
  ['[2001:db8::1]', '[IPv6:2001:db8::1]'],
  ['[IPv6:2001:db8::1]', '[IPv6:2001:db8::1]'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['localhost', null],
  ['web_01.corp.example', null],
  ['-web.corp.example', null],
  ['198.51.100', null],
  ['a b.example', null],
  ['', null],
])('%s is called %s', (text, name) => expect(mailNameOf(text)).toBe(name))

const own = { configured: null, site: 'localhost', machine: 'box', sender: null }
test.each([
  [{}, '[127.0.0.1]'],
  [{ sender: 'corp.example' }, 'corp.example'],
  [{ sender: 'localhost' }, '[127.0.0.1]'],
  [{ machine: 'box.corp.example', sender: 'other.example' }, 'box.corp.example'],
  [{ site: 'stockade.corp.example', machine: 'box.corp.example' }, 'stockade.corp.example'],
  [{ site: '[2001:db8::1]' }, '[IPv6:2001:db8::1]'],
  [{ site: 'stockade.corp.example', configured: 'relay.corp.example' }, 'relay.corp.example'],
])('%j calls itself %s', (more, name) => expect(ownMailName({ ...own, ...more })).toBe(name))
