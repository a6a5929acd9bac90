import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { decodePickle, encodePickle, PickleError } from '../src/engine/pickle.ts'

/** What CPython 3.11 wrote, by protocol: a status as fail2ban answers it, and one value of every plain kind. */
const writtenValues: [number, string, string][] = [
  [
    0,
    'KGxwMApJMAphKGxwMQoobHAyClZGaWx0ZXIKcDMKYShscDQKKFZDdXJyZW50bHkgZmFpbGVkCnA1CkkwCnRwNgphKFZGaWxlIGxpc3QKcDcKKGxwOApWL3Zhci9sb2cvYXV0aC5sb2cKcDkKYXRwMTAKYWFhKGRwMTEKVnNzaGQKcDEyCihscDEzClYyMDMuMC4xMTMuNwpwMTQKYXNhYS4=',
    'KGRwMApWYQpwMQpOc1ZiCnAyCkkwMQpzVmMKcDMKSTAwCnNWYmlnCnA0CkwxMDAwMDAwMDAwMDAwTApzVm5lZwpwNQpJLTUKc1ZmCnA2CkYxLjUKc1bpCnA3ClZcdTIwYWNcdTAwMGEiXHUwMDVjJwpwOApzSTMKVnRocmVlCnA5CnNWc2V0CnAxMApjX19idWlsdGluX18Kc2V0CnAxMQooKGxwMTIKVngKcDEzCmF0cDE0ClJwMTUKc1ZvZApwMTYKY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnAxNwoodFJwMTgKVmsKcDE5CihscDIwCkkxCmFJMgphc3NWbgpwMjEKKGxwMjIKSTcwMDAwCmFJMjU1CmFJMjU2CmFJLTEKYUktNzAwMDAKYXNWcwpwMjMKKGxwMjQKKGxwMjUKVnNhbWUKcDI2CmFhZzI1CmFzLg==',
  ],
  [
    1,
    'XXEAKEsAXXEBKF1xAihYBgAAAEZpbHRlcnEDXXEEKChYEAAAAEN1cnJlbnRseSBmYWlsZWRxBUsAdHEGKFgJAAAARmlsZSBsaXN0cQddcQhYEQAAAC92YXIvbG9nL2F1dGgubG9ncQlhdHEKZWV9cQtYBAAAAHNzaGRxDF1xDVgLAAAAMjAzLjAuMTEzLjdxDmFzZWUu',
    'fXEAKFgBAAAAYXEBTlgBAAAAYnECSTAxClgBAAAAY3EDSTAwClgDAAAAYmlncQRMMTAwMDAwMDAwMDAwMEwKWAMAAABuZWdxBUr7////WAEAAABmcQZHP/gAAAAAAABYAgAAAMOpcQdYBwAAAOKCrAoiXCdxCEsDWAUAAAB0aHJlZXEJWAMAAABzZXRxCmNfX2J1aWx0aW5fXwpzZXQKcQsoXXEMWAEAAAB4cQ1hdHEOUnEPWAIAAABvZHEQY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnERKVJxElgBAAAAa3ETXXEUKEsBSwJlc1gBAAAAbnEVXXEWKEpwEQEAS/9NAAFK/////0qQ7v7/ZVgBAAAAc3EXXXEYKF1xGVgEAAAAc2FtZXEaYWgZZXUu',
  ],
  [
    2,
    'gAJdcQAoSwBdcQEoXXECKFgGAAAARmlsdGVycQNdcQQoWBAAAABDdXJyZW50bHkgZmFpbGVkcQVLAIZxBlgJAAAARmlsZSBsaXN0cQddcQhYEQAAAC92YXIvbG9nL2F1dGgubG9ncQlhhnEKZWV9cQtYBAAAAHNzaGRxDF1xDVgLAAAAMjAzLjAuMTEzLjdxDmFzZWUu',
    'gAJ9cQAoWAEAAABhcQFOWAEAAABicQKIWAEAAABjcQOJWAMAAABiaWdxBIoGABCl1OgAWAMAAABuZWdxBUr7////WAEAAABmcQZHP/gAAAAAAABYAgAAAMOpcQdYBwAAAOKCrAoiXCdxCEsDWAUAAAB0aHJlZXEJWAMAAABzZXRxCmNfX2J1aWx0aW5fXwpzZXQKcQtdcQxYAQAAAHhxDWGFcQ5ScQ9YAgAAAG9kcRBjY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcREpUnESWAEAAABrcRNdcRQoSwFLAmVzWAEAAABucRVdcRYoSnARAQBL/00AAUr/////SpDu/v9lWAEAAABzcRddcRgoXXEZWAQAAABzYW1lcRphaBlldS4=',
  ],
  [
    3,
    'gANdcQAoSwBdcQEoXXECKFgGAAAARmlsdGVycQNdcQQoWBAAAABDdXJyZW50bHkgZmFpbGVkcQVLAIZxBlgJAAAARmlsZSBsaXN0cQddcQhYEQAAAC92YXIvbG9nL2F1dGgubG9ncQlhhnEKZWV9cQtYBAAAAHNzaGRxDF1xDVgLAAAAMjAzLjAuMTEzLjdxDmFzZWUu',
    'gAN9cQAoWAEAAABhcQFOWAEAAABicQKIWAEAAABjcQOJWAMAAABiaWdxBIoGABCl1OgAWAMAAABuZWdxBUr7////WAEAAABmcQZHP/gAAAAAAABYAgAAAMOpcQdYBwAAAOKCrAoiXCdxCEsDWAUAAAB0aHJlZXEJWAMAAABzZXRxCmNidWlsdGlucwpzZXQKcQtdcQxYAQAAAHhxDWGFcQ5ScQ9YAgAAAG9kcRBjY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcREpUnESWAEAAABrcRNdcRQoSwFLAmVzWAEAAABucRVdcRYoSnARAQBL/00AAUr/////SpDu/v9lWAEAAABzcRddcRgoXXEZWAQAAABzYW1lcRphaBlldS4=',
  ],
  [
    4,
    'gASVcwAAAAAAAABdlChLAF2UKF2UKIwGRmlsdGVylF2UKIwQQ3VycmVudGx5IGZhaWxlZJRLAIaUjAlGaWxlIGxpc3SUXZSMES92YXIvbG9nL2F1dGgubG9nlGGGlGVlfZSMBHNzaGSUXZSMCzIwMy4wLjExMy43lGFzZWUu',
    'gASVxAAAAAAAAAB9lCiMAWGUTowBYpSIjAFjlImMA2JpZ5SKBgAQpdToAIwDbmVnlEr7////jAFmlEc/+AAAAAAAAIwCw6mUjAfigqwKIlwnlEsDjAV0aHJlZZSMA3NldJSPlCiMAXiUkIwCb2SUjAtjb2xsZWN0aW9uc5SMC09yZGVyZWREaWN0lJOUKVKUjAFrlF2UKEsBSwJlc4wBbpRdlChKcBEBAEv/TQABSv////9KkO7+/2WMAXOUXZQoXZSMBHNhbWWUYWgYZXUu',
  ],
  [
    5,
    'gAWVcwAAAAAAAABdlChLAF2UKF2UKIwGRmlsdGVylF2UKIwQQ3VycmVudGx5IGZhaWxlZJRLAIaUjAlGaWxlIGxpc3SUXZSMES92YXIvbG9nL2F1dGgubG9nlGGGlGVlfZSMBHNzaGSUXZSMCzIwMy4wLjExMy43lGFzZWUu',
    'gAWVxAAAAAAAAAB9lCiMAWGUTowBYpSIjAFjlImMA2JpZ5SKBgAQpdToAIwDbmVnlEr7////jAFmlEc/+AAAAAAAAIwCw6mUjAfigqwKIlwnlEsDjAV0aHJlZZSMA3NldJSPlCiMAXiUkIwCb2SUjAtjb2xsZWN0aW9uc5SMC09yZGVyZWREaWN0lJOUKVKUjAFrlF2UKEsBSwJlc4wBbpRdlChKcBEBAEv/TQABSv////9KkO7+/2WMAXOUXZQoXZSMBHNhbWWUYWgYZXUu',
  ],
]

const statusReply = [
  0,
  [
    [
      'Filter',
      [
        ['Currently failed', 0],
        ['File list', ['/var/log/auth.log']],
      ],
    ],
    { sshd: ['203.0.113.7'] },
  ],
]
const valueKinds = {
  a: null,
  b: true,
  c: false,
  big: 1_000_000_000_000,
  neg: -5,
  f: 1.5,
  é: '€\n"\\\'',
  3: 'three',
  set: ['x'],
  od: { k: [1, 2] },
  n: [70000, 255, 256, -1, -70000],
  s: [['same'], ['same']],
}

const from = (base64: string): unknown => decodePickle(Buffer.from(base64, 'base64'))
/** Without the null prototype of decoded dictionaries. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

it.each(writtenValues)('reads protocol %i', (_, status, kinds) => {
  expect(plain(from(status))).toEqual(statusReply)
  expect(plain(from(kinds))).toEqual(valueKinds)
})

it("reads fail2ban's own address objects as text, and its exceptions as names", () => {
  const addresses =
    'gAWVUQAAAAAAAABdlChLAF2UfZSMBHNzaGSUXZQojAhidWlsdGluc5SMA3N0cpSTlIwLMjAzLjAuMTEzLjeUhZRSlGgHjAsyMDAxOmRiODo6N5SFlFKUZXNhZS4='
  expect(plain(from(addresses))).toEqual([0, [{ sshd: ['203.0.113.7', '2001:db8::7'] }]])
  const error =
    'gAWVQwAAAAAAAABdlChLAYwTZmFpbDJiYW4uZXhjZXB0aW9uc5SMFFVua25vd25KYWlsRXhjZXB0aW9ulJOUjAZub2phaWyUhZRSlGUu'
  expect(plain(from(error))).toEqual([1, { py: 'fail2ban.exceptions.UnknownJailException', args: ['nojail'] }])
})

it('runs nothing, whatever the bytes ask for', () => {
  const evil =
    'gASVTQAAAAAAAABdlChLAIwIYnVpbHRpbnOUjARldmFslJOUjCtfX2ltcG9ydF9fKCdvcycpLnN5c3RlbSgndG91Y2ggL3RtcC9wd25lZCcplIWUUpRlLg=='
  expect(plain(from(evil))).toEqual([0, { py: 'builtins.eval', args: ["__import__('os').system('touch /tmp/pwned')"] }])
})

it('refuses cut, damaged and unknown bytes, and never hangs', () => {
  const good = encodePickle(['set', 'sshd', 'banip', '203.0.113.7'])
  for (let length = 0; length < good.length; length += 1) {
    expect(() => decodePickle(good.subarray(0, length)), String(length)).toThrow(PickleError)
  }
  expect(() => decodePickle(Buffer.from([0x80, 4, 0x51, 0x2e]))).toThrow(/not on the list/)
  let seed = 1
  for (let round = 0; round < 2000; round += 1) {
    const bytes = Buffer.from(good)
    for (let i = 0; i < 3; i += 1) {
      seed = (seed * 1103515245 + 12345) % 2147483648
      bytes[seed % bytes.length] = (seed >> 8) & 255
    }
    try {
      decodePickle(bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(PickleError)
    }
  }
})

it('a dictionary from outside cannot reach the prototype', () => {
  const bytes = Buffer.concat([
    Buffer.from([0x80, 2]),
    Buffer.from('}('),
    short('__proto__'),
    Buffer.from('}('),
    short('polluted'),
    Buffer.from('K\x01uu.'),
  ])
  const value = decodePickle(bytes) as Record<string, unknown>
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

it('writes what Python reads', () => {
  const words = ['set', 'J', 'x', 'é€\u0000\n', 7, -7, true, false, null, ['nested', []], { k: 'v' }]
  expect(plain(decodePickle(encodePickle(words)))).toEqual(words)
  let python: string
  try {
    python = execFileSync(
      'python3',
      ['-c', 'import sys,pickle,json;print(json.dumps(pickle.load(sys.stdin.buffer)))'],
      { input: encodePickle(words) },
    ).toString()
  } catch {
    return void process.stderr.write('no python3 here: not compared with Python\n')
  }
  expect(JSON.parse(python)).toEqual(words)
})

const short = (text: string): Buffer => Buffer.concat([Buffer.from([0x55, text.length]), Buffer.from(text)])
