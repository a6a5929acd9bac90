import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('defaults are those of the decisions', () => {
  expect(readConfig({})).toMatchObject({
    host: '0.0.0.0',
    port: 8420,
    baseUrl: null,
    databaseUrl: null,
    drainSeconds: 0,
    rateLimit: 100,
    rateLimitSensitive: 10,
    heartbeatInterval: 30,
    offlineAfter: 90,
    commandTtl: 86_400,
    commandTimeout: 300,
    banRetentionDays: 365,
    eventRetentionDays: 90,
    logLevel: 'info',
  })
})

test('a port that leads to https needs https', () => {
  expect(readConfig({}).httpPort).toBeNull()
  expect(readConfig({ STOCKADE_TLS: 'self', STOCKADE_HTTP_PORT: '80' }).httpPort).toBe(80)
  expect(() => readConfig({ STOCKADE_HTTP_PORT: '80' })).toThrow('STOCKADE_HTTP_PORT leads to https')
  for (const bad of ['http', '-1', '70000'])
    expect(() => readConfig({ STOCKADE_TLS: 'self', STOCKADE_HTTP_PORT: bad })).toThrow('STOCKADE_HTTP_PORT must be')
})

test('https is off, by files of the operator, or by a certificate of the data folder', () => {
  expect(readConfig({}).tls).toBeNull()
  expect(readConfig({ STOCKADE_TLS_CERT: '/etc/a.pem', STOCKADE_TLS_KEY: '/etc/a.key' }).tls).toEqual({
    certFile: '/etc/a.pem',
    keyFile: '/etc/a.key',
    isOwn: false,
    acme: null,
  })
  expect(readConfig({ STOCKADE_TLS: 'self', STOCKADE_DATA_DIR: '/srv/data' }).tls).toEqual({
    certFile: '/srv/data/tls.pem',
    keyFile: '/srv/data/tls.key',
    isOwn: true,
    acme: null,
  })
})

const acme = { STOCKADE_TLS: 'acme', STOCKADE_BASE_URL: 'https://Stockade.example/below' }
test('https is by a certificate that is fetched for the name of the base URL, or for those that are given', () => {
  const { tls, httpPort } = readConfig({ ...acme, STOCKADE_DATA_DIR: '/srv/data' })
  expect(tls).toEqual({
    certFile: '/srv/data/acme.pem',
    keyFile: '/srv/data/acme.key',
    isOwn: false,
    acme: {
      directory: 'https://acme-v02.api.letsencrypt.org/directory',
      names: ['stockade.example'],
      email: null,
      caFile: null,
    },
  })
  expect(httpPort).toBe(80)
  const names = readConfig({ ...acme, STOCKADE_ACME_NAMES: 'a.example, B.example,a.example' }).tls?.acme?.names
  expect(names).toEqual(['a.example', 'b.example'])
})

test('a secret may stand in a file', () => {
  const file = join(folder, 'secret')
  writeFileSync(file, 'a'.repeat(40) + '\n')
  expect(readConfig({ STOCKADE_SECRET_KEY_FILE: file }).secretKey).toBe('a'.repeat(40))
})

const firstAdmin = {
  STOCKADE_ADMIN_USERNAME: 'root',
  STOCKADE_ADMIN_EMAIL: 'root@corp.example',
  STOCKADE_ADMIN_PASSWORD: 'Sup3r-secret-1',
}
describe('a bad value is refused by name', () => {
  test.each([
    [{ STOCKADE_PORT: 'x' }, /STOCKADE_PORT must be a whole number from 0 to 65535, not "x"/],
    [{ STOCKADE_PORT: '70000' }, /STOCKADE_PORT/],
    [{ STOCKADE_BASE_URL: 'ftp://a.example' }, /STOCKADE_BASE_URL must be an address/],
    [{ STOCKADE_BASE_URL: 'https://a.example/?q=1' }, /STOCKADE_BASE_URL/],
    [{ STOCKADE_DATABASE_URL: 'mysql://x' }, /STOCKADE_DATABASE_URL must begin with postgres/],
    [{ STOCKADE_DATABASE_READ_URL: 'postgres://x' }, /STOCKADE_DATABASE_READ_URL .* needs STOCKADE_DATABASE_URL/],
    [{ STOCKADE_DATABASE_URL: 'postgres://x' }, /STOCKADE_SECRET_KEY is required with PostgreSQL/],
    [{ STOCKADE_SECRET_KEY: 'short' }, /STOCKADE_SECRET_KEY must have at least 32/],
    [{ STOCKADE_SECRET_KEY_FILE: '/nonexistent' }, /STOCKADE_SECRET_KEY_FILE can't be read: ENOENT/],
    [{ STOCKADE_TRUSTED_PROXIES: '10.0.0.0/8, proxy' }, /STOCKADE_TRUSTED_PROXIES.*"proxy"/],
    [{ STOCKADE_LOG_LEVEL: 'loud' }, /STOCKADE_LOG_LEVEL must be one of/],
    [{ STOCKADE_OFFLINE_AFTER: '30' }, /STOCKADE_OFFLINE_AFTER must be longer/],
    [{ STOCKADE_ADMIN_USERNAME: 'root' }, /STOCKADE_ADMIN_USERNAME.*together/],
    [{ ...firstAdmin, STOCKADE_ADMIN_USERNAME: 'a b' }, /STOCKADE_ADMIN_USERNAME must be 3 to 50 .*"a b"/],
    [{ ...firstAdmin, STOCKADE_ADMIN_USERNAME: 'x'.repeat(51) }, /STOCKADE_ADMIN_USERNAME must be/],
    [{ ...firstAdmin, STOCKADE_ADMIN_EMAIL: 'root' }, /STOCKADE_ADMIN_EMAIL must be an e-mail address, not "root"/],
    [{ ...firstAdmin, STOCKADE_ADMIN_PASSWORD: 'Sh0rt' }, /STOCKADE_ADMIN_PASSWORD must have at least 8 characters/],
    [{ ...firstAdmin, STOCKADE_ADMIN_PASSWORD: 'no-upper-1' }, /STOCKADE_ADMIN_PASSWORD must have an upper-case/],
    [{ STOCKADE_DRAIN_SECONDS: '15s' }, /STOCKADE_DRAIN_SECONDS must be a whole number from 0 to 300, not "15s"/],
    [{ STOCKADE_MIGRATE: '1' }, /STOCKADE_MIGRATE must be yes or no, not "1"/],
    [{ STOCKADE_MIGRATE_COPY: 'never' }, /STOCKADE_MIGRATE_COPY must be yes or no, not "never"/],
    [{ STOCKADE_BACKUP_AT: '03:17' }, /STOCKADE_BACKUP_AT needs STOCKADE_BACKUP_DIR/],
    [{ STOCKADE_BACKUP_DIR: '/b', STOCKADE_BACKUP_AT: '24:00' }, /STOCKADE_BACKUP_AT must be a time .*"24:00"/],
    [{ STOCKADE_BACKUP_DIR: '/b', STOCKADE_BACKUP_AT: '3:17' }, /STOCKADE_BACKUP_AT must be a time .*"3:17"/],
    [
      { STOCKADE_BACKUP_DIR: '/b', STOCKADE_BACKUP_RECIPIENT: 'ssh-rsa x' },
      /STOCKADE_BACKUP_RECIPIENT must be a recip/,
    ],
    [{ STOCKADE_TLS: 'on' }, /STOCKADE_TLS must be off, self, files or acme, not "on"/],
    [{ STOCKADE_TLS: 'acme' }, /STOCKADE_TLS can be acme only where the name of this server is known/],
    [{ ...acme, STOCKADE_BASE_URL: 'http://a.example' }, /STOCKADE_BASE_URL must begin with https/],
    [
      { ...acme, STOCKADE_BASE_URL: 'https://192.0.2.1' },
      /STOCKADE_BASE_URL must hold names .* "192\.0\.2\.1" is none/,
    ],
    [{ ...acme, STOCKADE_BASE_URL: 'https://[2001:db8::1]' }, /STOCKADE_BASE_URL must hold names/],
    [{ ...acme, STOCKADE_ACME_NAMES: 'localhost' }, /STOCKADE_ACME_NAMES must hold names .* "localhost" is none/],
    [{ ...acme, STOCKADE_ACME_NAMES: 'a..example' }, /STOCKADE_ACME_NAMES must hold names/],
    [{ ...acme, STOCKADE_ACME_NAMES: '*.a.example' }, /STOCKADE_ACME_NAMES must hold names/],
    [
      { ...acme, STOCKADE_ACME_NAMES: Array.from({ length: 51 }, (_, n) => `a${n}.example`).join() },
      /at most 50 names/,
    ],
    [{ ...acme, STOCKADE_ACME_EMAIL: 'a@b.example,c@d.example' }, /STOCKADE_ACME_EMAIL must be one e-mail address/],
    [{ ...acme, STOCKADE_ACME_DIRECTORY: 'http://a.example/dir' }, /STOCKADE_ACME_DIRECTORY must be an address/],
    [{ STOCKADE_TLS: 'self', STOCKADE_ACME_EMAIL: 'a@b.example' }, /STOCKADE_ACME_EMAIL needs STOCKADE_TLS=acme/],
    [
      { ...acme, STOCKADE_DATABASE_URL: 'postgres://x', STOCKADE_SECRET_KEY: 'x'.repeat(32) },
      /STOCKADE_TLS can be acme with SQLite only/,
    ],
    [{ STOCKADE_TLS: 'files' }, /STOCKADE_TLS_CERT and STOCKADE_TLS_KEY go together/],
    [{ STOCKADE_TLS_KEY: '/etc/tls.key' }, /STOCKADE_TLS_CERT and STOCKADE_TLS_KEY go together/],
    [
      { STOCKADE_TLS: 'off', STOCKADE_TLS_CERT: 'a', STOCKADE_TLS_KEY: 'b' },
      /STOCKADE_TLS_CERT needs STOCKADE_TLS=files, not off/,
    ],
    [
      { STOCKADE_TLS: 'self', STOCKADE_DATABASE_URL: 'postgres://x', STOCKADE_SECRET_KEY: 'x'.repeat(32) },
      /STOCKADE_TLS can be self with SQLite only/,
    ],
    [{ STOCKADE_LICENSE_PUBLIC_KEY: 'nope' }, /STOCKADE_LICENSE_PUBLIC_KEY must be the PEM/],
    [
      { STOCKADE_LICENSE_KEY: 'stk1.a.b' },
      /STOCKADE_LICENSE_KEY can be verified only with STOCKADE_LICENSE_PUBLIC_KEY/,
    ],
  ])('%o', (env, message) => expect(() => readConfig(env)).toThrow(message))
})
