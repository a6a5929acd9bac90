import { describe, expect, it } from 'vitest'
import {
  changeOf,
  chooseFormat,
  chooseTransport,
  losesToken,
  problemsOf,
  transportOf,
  typeHost,
  typedOf,
} from './destination-form.ts'
import type { Typed } from './destination-form.ts'
import type { SiemSettings } from './queries.ts'

const fresh: SiemSettings = {
  enabled: false,
  format: 'syslog',
  host: null,
  port: 514,
  protocol: 'tcp',
  tls_enabled: false,
  framing: 'octet-counting',
  tls_verify: true,
  ca_cert: null,
  path: null,
  events: ['ban', 'unban'],
  min_severity: 0,
  batch_size: 100,
  flush_interval: 5,
  token_set: false,
}
const collector: SiemSettings = {
  ...fresh,
  format: 'collector',
  host: 'logs.example',
  port: 8088,
  protocol: 'https',
  tls_enabled: true,
  token_set: true,
}
const typed = (is: SiemSettings, change: Partial<Typed> = {}): Typed => ({ ...typedOf(is), ...change })

describe('the form of the destination', () => {
  it.each([
    ['syslog', 'tcp', false, 'tcp'],
    ['syslog', 'tcp', true, 'tls'],
    ['cef', 'udp', false, 'udp'],
    ['json', 'tcp', false, 'http'],
    ['json', 'tcp', true, 'https'],
    ['collector', 'https', false, 'https'],
  ] as const)('%s over %s with TLS %s is %s', (format, protocol, tls_enabled, transport) =>
    expect(transportOf({ format, protocol, tls_enabled })).toBe(transport),
  )
  it('another format brings its transport and port; a port that somebody chose stays within its kind', () => {
    const first = typed(fresh)
    expect(chooseFormat(first, 'json')).toEqual({ format: 'json', transport: 'https', port: '443' })
    expect(chooseFormat(first, 'cef')).toEqual({ format: 'cef', transport: 'tcp', port: '514' })
    expect(chooseFormat(typed(fresh, { port: '1514' }), 'leef')).toMatchObject({ port: '1514' })
    expect(chooseFormat(typed(fresh, { port: '1514' }), 'collector')).toMatchObject({ port: '8088' })
    const json = typed(fresh, chooseFormat(first, 'json'))
    expect(chooseFormat(json, 'collector')).toEqual({ format: 'collector', transport: 'https', port: '8088' })
    expect(chooseFormat(json, 'syslog')).toEqual({ format: 'syslog', transport: 'tcp', port: '514' })
  })
  it('TLS moves the usual port and no other', () => {
    expect(chooseTransport(typed(fresh), 'tls')).toEqual({ transport: 'tls', port: '6514' })
    expect(chooseTransport(typed(fresh, { port: '1514' }), 'tls')).toEqual({ transport: 'tls', port: '1514' })
    expect(chooseTransport(typed(collector), 'http')).toEqual({ transport: 'http', port: '8088' })
  })
  it.each([
    ['logs.example', { host: 'logs.example' }],
    ['http://192.0.2.7:9200/in?x=1', { host: '192.0.2.7', transport: 'http', port: '9200', path: '/in?x=1' }],
    ['https://logs.example/', { host: 'logs.example', transport: 'https', port: '443' }],
    ['https://[2001:db8::7]:8443/a', { host: '2001:db8::7', transport: 'https', port: '8443', path: '/a' }],
    ['ftp://logs.example', { host: 'ftp://logs.example' }],
    ['https:/logs', { host: 'https:/logs' }],
  ])('%s in the field of the host', (text, change) =>
    expect(typeHost(typed(fresh, { format: 'json', transport: 'https' }), text)).toEqual(change),
  )
  it('an address of syslog is read by syslog alone', () => {
    expect(typeHost(typed(fresh), 'udp://192.0.2.7:5514')).toEqual({
      host: '192.0.2.7',
      transport: 'udp',
      port: '5514',
    })
    expect(typeHost(typed(fresh), 'https://192.0.2.7')).toEqual({ host: 'https://192.0.2.7' })
  })
  it.each<[SiemSettings, Partial<Typed>, string[]]>([
    [fresh, {}, []],
    [fresh, { enabled: true }, ['host']],
    [fresh, { host: 'https://logs.example' }, ['host']],
    [fresh, { port: '0' }, ['port']],
    [fresh, { port: '65536', batch: '1001', flush: '0' }, ['batch', 'flush', 'port']],
    [fresh, { path: 'nonsense' }, []],
    [collector, { path: 'nonsense' }, ['path']],
    [collector, { path: '/a b' }, ['path']],
    [collector, { ca: 'nonsense' }, ['ca']],
    [collector, { host: 'other.example' }, ['token']],
    [collector, { host: 'other.example', token: 'new' }, []],
    [collector, { host: 'other.example', token: null }, []],
    [collector, { host: 'other.example', format: 'syslog', transport: 'tcp' }, []],
  ])('%j with %j: %j', (is, change, fields) =>
    expect(Object.keys(problemsOf(typed(is, change), is)).sort()).toEqual(fields),
  )
  it('sends only what changed, and the pair of protocol and TLS as a whole', () => {
    const send = (is: SiemSettings, change: Partial<Typed>) =>
      changeOf(typed(is, change), new Set(Object.keys(change)), is)
    expect(send(fresh, {})).toEqual({})
    expect(send(fresh, { host: ' logs.example ', port: '6514', transport: 'tls' })).toEqual({
      host: 'logs.example',
      port: 6514,
      protocol: 'tcp',
      tls_enabled: true,
    })
    expect(send(fresh, { enabled: true })).toEqual({ enabled: true, protocol: 'tcp', tls_enabled: false })
    expect(send(collector, { host: '', path: '/x', token: 't', ca: ' ' })).toEqual({
      host: null,
      path: '/x',
      token: 't',
      ca_cert: null,
    })
    expect(send(collector, { events: ['ban'], minimum: 5, batch: '1,000', flush: '60', verify: false })).toEqual({
      events: ['ban'],
      min_severity: 5,
      batch_size: 1000,
      flush_interval: 60,
      tls_verify: false,
    })
  })
  it('takes a token away that its format does not use, where it would go to another host', () => {
    const change = { format: 'syslog', transport: 'tcp', host: 'other.example' } as const
    expect(losesToken(typed(collector, change), collector)).toBe(true)
    expect(changeOf(typed(collector, change), new Set(Object.keys(change)), collector)).toMatchObject({ token: null })
    expect(losesToken(typed(collector, { ...change, host: 'logs.example' }), collector)).toBe(false)
  })
})
