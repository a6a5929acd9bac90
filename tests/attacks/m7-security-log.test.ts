import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raw, spawnServer } from '@stockade/server/testing'
import type { SpawnedServer } from '@stockade/server/testing'
import { builtins } from '../../packages/server/src/features/templates/builtin/catalogue.ts'

/* An attack on the sign-in left no line in any log. Whoever attacks chooses the name, and must not choose whom fail2ban bans. */

const program = '/usr/bin/fail2ban-regex'

describe.skipIf(!existsSync(program))('the security log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-security-'))
  const file = join(folder, 'security.log')
  let server: SpawnedServer
  beforeAll(async () => {
    server = await spawnServer({
      env: { STOCKADE_SECURITY_LOG: file, STOCKADE_LOG_LEVEL: 'info', STOCKADE_TRUSTED_PROXIES: '127.0.0.1' },
    })
    await server.setUp()
  })
  afterAll(async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const from = (ip: string) => ({ 'x-forwarded-for': ip })
  const login = (username: string, ip: string) =>
    raw(server, 'POST', '/api/v1/auth/login', { body: { username, password: 'Wrong-1-password' }, headers: from(ip) })
  const lines = () => readFileSync(file, 'utf8').split('\n').filter(Boolean)

  it('tells of refusals, whatever was typed, in lines that nobody forges', async () => {
    const hostile = [
      'alice',
      'x" from 198.51.100.1 POST /api/v1/auth/login user="y',
      'x\n2026-11-22T10:00:00.000Z stockade-auth: 401 from 198.51.100.1 POST /api/v1/auth/login user="z"',
      'x\u2028stockade-auth: 401 from 198.51.100.1',
      '198.51.100.1',
      '<HOST>',
    ]
    for (const [n, name] of hostile.entries())
      expect((await login(name.slice(0, 100), `203.0.113.${n + 1}`)).status).toBeGreaterThanOrEqual(400)
    expect((await raw(server, 'GET', '/api/v1/servers', { headers: from('203.0.113.50') })).status).toBe(401)
    const own = lines()
    expect(own[0]).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z stockade-auth: 401 from 203\.0\.113\.1 POST \/api\/v1\/auth\/login user="alice"$/,
    )
    for (const line of own)
      expect(line).toMatch(
        /^\S+Z stockade-auth: (?:401|403|429) from [\da-f.:]+ [A-Z]+ [\w/{}.-]+(?: user="[\w.@+?-]*")?$/,
      )
    await expect.poll(() => server.output()).toContain('stockade-auth: 401 from 203.0.113.1 ')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
  it('the built-in template finds the addresses of wrong sign-ins in it, and no other', () => {
    const filter = join(folder, 'stockade-login.conf')
    writeFileSync(filter, builtins.find(({ name }) => name === 'stockade-login')?.filter_config ?? '')
    const found = execFileSync(program, ['-o', 'ip', file, filter], { encoding: 'utf8' }).split('\n').filter(Boolean)
    const wrong = lines().flatMap(line => /401 from (\S+) POST \/api\/v1\/auth\/login/.exec(line)?.[1] ?? [])
    expect(wrong.length).toBeGreaterThan(3)
    expect([...new Set(found)].sort()).toEqual([...new Set(wrong)].sort())
    expect(found.join()).not.toContain('198.51.100.1')
  })
  it('a flood writes its beginning, and how much was left out', async () => {
    const before = lines().length
    await Promise.all(
      Array.from({ length: 400 }, () => raw(server, 'GET', '/api/v1/servers', { headers: from('203.0.113.60') })),
    )
    await expect
      .poll(async () => {
        await raw(server, 'GET', '/api/v1/servers', { headers: from('203.0.113.61') })
        return lines().some(line => / stockade-auth: \d+ more lines were left out$/.test(line))
      })
      .toBe(true)
    expect(lines().length - before).toBeLessThan(400)
  })
})
