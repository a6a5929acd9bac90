import { describe, expect, it } from 'vitest'
import type { Ban } from '../../api/queries.ts'
import { aBan } from '../../api/testing/ban.ts'
import { asFile, unbanTargets } from './bulk-rows.ts'

const ban = (ip: string, given: Partial<Ban> = {}): Ban => aBan({ ip, ...given })

it('lifting many orders each place once, and nothing for those that are over', () =>
  expect(
    unbanTargets([
      ban('203.0.113.1'),
      ban('203.0.113.1', { id: 2 }),
      ban('203.0.113.1', { jail: 'postfix' }),
      ban('203.0.113.1', { server: { id: 'b', hostname: 'web-02' } }),
      ban('203.0.113.2', { active: false }),
      ban('203.0.113.3', { jail: 'wp login' }),
    ]),
  ).toEqual([
    { server_id: 'a', params: { ip: '203.0.113.1', jail: 'sshd' } },
    { server_id: 'a', params: { ip: '203.0.113.1', jail: 'postfix' } },
    { server_id: 'b', params: { ip: '203.0.113.1', jail: 'sshd' } },
    { server_id: 'a', params: { ip: '203.0.113.3', jail: '*' } },
  ]))

describe('the chosen ones as a file', () => {
  const rows = [
    ban('203.0.113.1', { asn_org: '=cmd|"calc"' }),
    ban('203.0.113.1', { id: 2, server: { id: 'b', hostname: 'a, "b"' } }),
  ]
  it('is safe for spreadsheets', () =>
    expect(asFile(rows, 'csv').split('\r\n')).toEqual([
      'ip,jail,server,country,asn,asn_org,banned_at,expires_at,active',
      `203.0.113.1,sshd,web-01,NL,,"'=cmd|""calc""",2026-11-20T12:00:00.000Z,,true`,
      '203.0.113.1,sshd,"a, ""b""",NL,,,2026-11-20T12:00:00.000Z,,true',
      '',
    ]))
  it('names each address once as a plain list', () => expect(asFile(rows, 'plain')).toBe('203.0.113.1\n'))
  it('is read back from JSON', () =>
    expect((JSON.parse(asFile(rows, 'json')) as { server: string }[]).map(({ server }) => server)).toEqual([
      'web-01',
      'a, "b"',
    ]))
})
