import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SiemEvent } from '../event.ts'
import { cefOf } from './cef.ts'
import { collectorBatch, collectorOf } from './collector.ts'
import { datagramBytes, framed } from './formats.ts'
import { jsonBatch, jsonOf } from './json.ts'
import { leefOf } from './leef.ts'
import { syslogOf, syslogSeverity } from './syslog.ts'
import { cut } from './text.ts'

const id = '019a9c4e-7b00-7abc-8def-0123456789ab'
const aBan = (more: Partial<SiemEvent> = {}): SiemEvent => ({
  id,
  type: 'ban',
  severity: 5,
  timestamp: '2026-11-20T09:30:00.000Z',
  message: '203.0.113.7 banned on web-01 (jail sshd)',
  server: { id: '019a9c4e-7b00-7abc-8def-000000000001', hostname: 'web-01' },
  actor: null,
  data: { ip: '203.0.113.7', jail: 'sshd', ban_duration: 600 },
  ...more,
})
const host = 'stockade.example'
const most = 1 << 24

describe('golden vectors', () => {
  test('RFC 5424', () => {
    expect(syslogOf(aBan(), host, most)).toBe(
      `<84>1 2026-11-20T09:30:00.000Z stockade.example stockade - ban [stockade@32473 id="${id}" type="ban" severity="5" ip="203.0.113.7" jail="sshd" server="web-01"] 203.0.113.7 banned on web-01 (jail sshd)`,
    )
    const hostile = aBan({
      type: 'login_failed',
      severity: 6,
      message: 'zwei\nZeilen für "]\\',
      server: null,
      actor: { username: 'a"b]c\\d\n\u0000', ip: '2001:db8::1' },
      data: {},
    })
    expect(syslogOf(hostile, 'über all', most)).toBe(
      `<84>1 2026-11-20T09:30:00.000Z berall stockade - login_failed [stockade@32473 id="${id}" type="login_failed" severity="6" ip="2001:db8::1" user="a\\"b\\]c\\\\d␊␀"] \ufeffzwei␊Zeilen für "]\\`,
    )
    expect(syslogOf(aBan(), '', most)).toContain('Z - stockade - ban')
    expect(syslogOf(aBan(), 'h'.repeat(300), most)).toContain(`Z ${'h'.repeat(255)} stockade`)
  })
  test('the table of severities', () =>
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(syslogSeverity)).toEqual([7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2]))
  test('CEF', () => {
    expect(cefOf(aBan(), host, '1.0', most)).toBe(
      `<84>1 2026-11-20T09:30:00.000Z stockade.example stockade - ban - CEF:0|Stockade|Stockade|1.0|ban|IP banned|5|rt=1763631000000 externalId=${id} act=ban src=203.0.113.7 dhost=web-01 cs1=sshd cs1Label=jail cn1=600 cn1Label=banDuration msg=203.0.113.7 banned on web-01 (jail sshd)`.replace(
        '1763631000000',
        String(Date.parse('2026-11-20T09:30:00.000Z')),
      ),
    )
    expect(cefOf(aBan({ data: { ip: '2001:db8::7' }, message: 'a=b|c\\d\ne' }), host, '1|0', most)).toMatch(
      /Stockade\|1\\\|0\|ban.* c6a2=2001:db8::7 c6a2Label=Source IPv6 Address dhost=web-01 msg=a\\=b\|c\\\\d\\ne$/,
    )
    expect(cefOf(aBan({ data: { ip: '198.51.100.0/24' } }), host, '1.0', most)).toContain(
      ' cs2=198.51.100.0/24 cs2Label=network ',
    )
  })
  test('LEEF 2.0', () => {
    expect(leefOf(aBan({ severity: 0 }), host, '1.0', most)).toBe(
      `<87>1 2026-11-20T09:30:00.000Z stockade.example stockade - ban - LEEF:2.0|Stockade|Stockade|1.0|ban|^|devTime=2026-11-20T09:30:00.000Z^devTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSX^sev=1^externalId=${id}^src=203.0.113.7^identHostName=web-01^jail=sshd^banDuration=600^msg=203.0.113.7 banned on web-01 (jail sshd)`,
    )
  })
  test('JSON and the event collector', () => {
    expect(JSON.parse(jsonOf(aBan()))).toEqual(aBan())
    expect(collectorOf(aBan({ timestamp: '2026-11-20T09:30:00.045Z' }), host)).toBe(
      `{"time":${Date.parse('2026-11-20T09:30:00.000Z') / 1000}.045,"host":"web-01","source":"stockade","sourcetype":"stockade:event","event":${jsonOf(aBan({ timestamp: '2026-11-20T09:30:00.045Z' }))}}`,
    )
    expect(JSON.parse(collectorOf(aBan({ server: null }), host))).toMatchObject({ host })
  })
  test('lines', () => expect(framed(['ä\r\nx', 'b c'], 'newline').toString()).toBe('ä x\nb c\n'))
  test('octet counting', () => expect(framed(['ä', 'b c'], 'octet-counting').toString()).toBe('2 ä3 b c'))
})

/* Readers written from the specifications, knowing nothing of the writers. */

interface Syslog {
  readonly pri: number
  readonly header: string[]
  readonly params: Record<string, string>
  readonly message: string
}
const readSyslog = (text: string): Syslog => {
  const head = /^<(\d{1,3})>1 (\S+) (\S+) (\S+) (\S+) (\S+) /.exec(text)
  if (!head) throw new Error('no header')
  let at = head[0].length
  const params: Record<string, string> = {}
  if (text[at] === '-') at++
  else {
    at = text.indexOf(' ', at)
    for (;;) {
      const name = /^ ([!-~]+?)="/.exec(text.slice(at, at + 40))
      if (!name?.[1]) break
      at += name[0].length
      let value = ''
      for (; text[at] !== '"'; at++) {
        if (at >= text.length) throw new Error('a value without its end')
        if (text[at] === ']') throw new Error('a bracket that is not escaped')
        if (text[at] === '\\' && /["\\\]]/.test(text[at + 1] ?? '')) at++
        value += text[at] ?? ''
      }
      at++
      if (name[1] in params) throw new Error(`${name[1]} twice`)
      params[name[1]] = value
    }
    if (text[at] !== ']') throw new Error('no end of the element')
    at++
  }
  if (text[at] !== ' ') throw new Error('no space before the message')
  return { pri: Number(head[1]), header: head.slice(2), params, message: text.slice(at + 1).replace(/^\ufeff/, '') }
}
const unescape = (text: string): string =>
  text.replace(/\\(.)/gsu, (_, char: string) => (char === 'n' ? '\n' : char === 'r' ? '\r' : char))
const headerOf = (text: string, fields: number): [string[], string] => {
  const found: string[] = []
  let at = 0
  let from = 0
  for (; found.length < fields; at++) {
    if (at >= text.length) throw new Error('too few fields')
    if (text[at] === '\\') at++
    else if (text[at] === '|') {
      found.push(unescape(text.slice(from, at)))
      from = at + 1
    }
  }
  return [found, text.slice(from)]
}
const readCef = (text: string) => {
  const [header, rest] = headerOf(text, 7)
  const pairs: Record<string, string> = {}
  // A key is a word before an equals sign that is not escaped.
  const keys = [...rest.matchAll(/(?:^| )([A-Za-z0-9]+)=/g)]
  keys.forEach((key, index) => {
    const from = key.index + key[0].length
    const name = key[1] ?? ''
    if (name in pairs) throw new Error(`${name} twice`)
    pairs[name] = unescape(rest.slice(from, keys[index + 1]?.index))
  })
  return { header, pairs }
}
const readLeef = (text: string) => {
  const [header, rest] = headerOf(text, 6)
  const delimiter = header[5] ?? ''
  const pairs: Record<string, string> = {}
  let piece = ''
  const take = () => {
    const at = piece.search(/(?<!\\)(?:\\\\)*=/)
    const equals = piece.indexOf('=', at)
    const name = piece.slice(0, equals)
    if (name in pairs) throw new Error(`${name} twice`)
    pairs[name] = unescape(piece.slice(equals + 1))
    piece = ''
  }
  for (let at = 0; at < rest.length; at++) {
    const char = rest[at] ?? ''
    if (char === '\\') piece += char + (rest[++at] ?? '')
    else if (char === delimiter) take()
    else piece += char
  }
  take()
  return { header, pairs }
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '\n',
      '\r',
      '|',
      '=',
      '[',
      ']',
      '"',
      '\\',
      '^',
      '\u0000',
      ' ',
      'n',
      'a=',
      '\ud800',
      '\udc00',
      '😀',
      '\t',
      '\u0085',
      '\u2028',
    ),
  }),
  fc.constantFrom(
    'x'.repeat(65_536),
    '"'.repeat(65_536),
    '\ud83d'.repeat(1000),
    ' msg=b',
    'a src=192.0.2.9',
    'a^src=192.0.2.9',
    '"] [other id="',
  ),
)
const anEvent = fc
  .record({ message: nasty, hostname: nasty, username: nasty, jail: nasty, note: nasty })
  .map(({ message, hostname, username, jail, note }) =>
    aBan({
      message,
      server: { id, hostname },
      actor: { username, ip: '192.0.2.1' },
      data: { ip: '203.0.113.7', jail, note, [`key ${note.slice(0, 5)}`]: [note] },
    }),
  )
const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8')
/** What a reader shows for what has no place in a line. */
const shown = (text: string, kept = ''): string =>
  Array.from(wellFormed(text), char => {
    const code = char.codePointAt(0) ?? 0
    if (kept.includes(char)) return char
    if (code < 32) return String.fromCodePoint(0x2400 + code)
    if (code === 127) return '␡'
    return (code > 127 && code < 160) || code === 0x2028 || code === 0x2029 ? '\ufffd' : char
  }).join('')
const runs = { numRuns: 200 }

describe('whatever the fields hold, a reader gets them back', () => {
  test('RFC 5424', () => {
    fc.assert(
      fc.property(anEvent, event => {
        const { header, params, message, pri } = readSyslog(syslogOf(event, host, most))
        expect(pri).toBe(84)
        expect(header).toEqual([event.timestamp, host, 'stockade', '-', 'ban'])
        const jail = event.data.jail as string
        expect(params).toEqual({
          id,
          type: 'ban',
          severity: '5',
          ip: '203.0.113.7',
          ...(jail === '' ? {} : { jail: shown(jail) }),
          server: shown(event.server?.hostname ?? ''),
          user: shown(event.actor?.username ?? ''),
        })
        expect(message).toBe(shown(event.message))
      }),
      runs,
    )
  })
  const of = (event: SiemEvent, keys: { server: string; user: string; jail: string; msg: string }) => {
    const jail = event.data.jail as string
    const text = (value: string) => shown(value, '\n\r')
    return {
      [keys.server]: text(event.server?.hostname ?? ''),
      [keys.user]: text(event.actor?.username ?? ''),
      ...(jail === '' ? {} : { [keys.jail]: text(jail) }),
      [keys.msg]: text(event.message),
    }
  }
  test('CEF', () => {
    fc.assert(
      fc.property(anEvent, event => {
        const { message } = readSyslog(cefOf(event, host, '1|\\0', most))
        const { header, pairs } = readCef(message)
        expect(header).toEqual(['CEF:0', 'Stockade', 'Stockade', '1|\\0', 'ban', 'IP banned', '5'])
        expect(pairs).toEqual({
          rt: String(Date.parse(event.timestamp)),
          externalId: id,
          act: 'ban',
          src: '203.0.113.7',
          ...(event.data.jail === '' ? {} : { cs1Label: 'jail' }),
          ...of(event, { server: 'dhost', user: 'suser', jail: 'cs1', msg: 'msg' }),
        })
      }),
      runs,
    )
  })
  test('LEEF', () => {
    fc.assert(
      fc.property(anEvent, event => {
        const { message } = readSyslog(leefOf(event, host, '1|\\0', most))
        const { header, pairs } = readLeef(message)
        expect(header).toEqual(['LEEF:2.0', 'Stockade', 'Stockade', '1|\\0', 'ban', '^'])
        expect(pairs).toEqual({
          devTime: event.timestamp,
          devTimeFormat: "yyyy-MM-dd'T'HH:mm:ss.SSSX",
          sev: '5',
          externalId: id,
          src: '203.0.113.7',
          ...of(event, { server: 'identHostName', user: 'usrName', jail: 'jail', msg: 'msg' }),
        })
      }),
      runs,
    )
  })
  test('JSON and the event collector, whole batches of it', () => {
    fc.assert(
      fc.property(fc.array(anEvent, { minLength: 1, maxLength: 5 }), events => {
        const expected = events.map(
          event =>
            JSON.parse(JSON.stringify(event), (_, value: unknown) =>
              typeof value === 'string' ? wellFormed(value) : value,
            ) as unknown,
        )
        const sent = Buffer.from(jsonBatch(events.map(jsonOf))).toString('utf8')
        expect(JSON.parse(sent)).toEqual(expected)
        const lines = Buffer.from(collectorBatch(events.map(event => collectorOf(event, host)))).toString('utf8')
        expect(lines.split('\n').map(line => (JSON.parse(line) as { event: unknown }).event)).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })
})

describe('sizes', () => {
  test('a cut never leaves half a character, and says that it is one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 10, maxLength: 60 }),
        fc.integer({ min: 5, max: 80 }),
        (text, bytes) => {
          const done = cut(text, bytes)
          expect(Buffer.byteLength(done)).toBeLessThanOrEqual(Math.max(bytes, 5))
          if (Buffer.byteLength(text) <= bytes) expect(done).toBe(text)
          else {
            expect(done.endsWith('[cut]')).toBe(true)
            expect(text.toWellFormed().startsWith(done.slice(0, -5))).toBe(true)
          }
        },
      ),
      runs,
    )
  })
  test('a datagram is never too long, and never loses its id', () => {
    const long = ['x', '"', '\u0000', '😀'].map(char => char.repeat(65_536))
    for (const text of long)
      for (const event of [
        aBan({ message: text }),
        aBan({
          message: text,
          server: { id, hostname: text },
          actor: { username: text, ip: null },
          data: { jail: text },
        }),
      ])
        for (const line of [
          syslogOf(event, host, datagramBytes),
          cefOf(event, host, '1.0', datagramBytes),
          leefOf(event, host, '1.0', datagramBytes),
        ]) {
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(datagramBytes)
          expect(line).toContain(id)
          expect(line).toContain('[cut')
          readSyslog(line)
        }
  })
})
