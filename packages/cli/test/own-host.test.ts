import { execFile, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { program } from '../../server/programs.cjs'
import { stockadeProcess } from '../../server/src/testing/command.ts'
import { eventually, freePort } from '../../server/src/testing/index.ts'

/* The command line on the host of a server that was installed by the package: settings in a file, and a certificate that it signed itself. */

const main = program('server/src/main')
const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const password = 'Sup3r-secret-1'
let folder: string
let settings: string
let port: number
let key: string
let end: () => Promise<unknown>

/** Asks without looking at the certificate. */
const ask = <T>(path: string, body: object, token = ''): Promise<T> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
    const asked = request({ port, path: `/api/v1${path}`, method: 'POST', headers, rejectUnauthorized: false }, reply =>
      json(reply).then(answer => resolve(answer as T), reject),
    )
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })

beforeAll(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), 'stockade-own-host-'))
  port = await freePort()
  settings = join(folder, 'stockade.env')
  const lines = [`STOCKADE_DATA_DIR=${join(folder, 'data')}`, 'STOCKADE_HOST=0.0.0.0', `STOCKADE_PORT=${port}`]
  fs.writeFileSync(settings, `# Settings\n${[...lines, 'STOCKADE_TLS=self'].join('\n')}\n`, { mode: 0o640 })
  const env = Object.fromEntries([...lines, 'STOCKADE_TLS=self'].map(line => line.split('=') as [string, string]))
  const admin = { STOCKADE_ADMIN_USERNAME: 'admin', STOCKADE_ADMIN_EMAIL: 'admin@stockade.example' }
  const child = spawn(process.execPath, [main], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
      ...admin,
      STOCKADE_ADMIN_PASSWORD: password,
    },
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  end = () => {
    child.kill('SIGKILL')
    return ended
  }
  const { access_token: token } = await eventually(() =>
    ask<{ access_token: string }>('/auth/login', { username: 'admin', password }),
  )
  key = (await ask<{ key: string }>('/keys', { name: 'ops', permissions: 'read' }, token)).key
})
afterAll(async () => {
  await end()
  fs.rmSync(folder, { recursive: true, force: true })
})

test('finds the server by its settings and trusts its certificate', async () => {
  const done = await stockadeProcess({ STOCKADE_SETTINGS: settings, STOCKADE_API_KEY: key }, ['servers'])
  expect(done).toMatchObject({ code: 0, err: '', out: expect.stringContaining('0 of 0 servers') })
  const elsewhere = ['servers', '--url', `https://localhost:${port}`]
  expect((await stockadeProcess({ STOCKADE_SETTINGS: settings, STOCKADE_API_KEY: key }, elsewhere)).err).toContain(
    'its certificate is self-signed',
  )
})
test('says what another user needs', async ctx => {
  if (process.getuid?.() !== 0) return ctx.skip()
  const env = { PATH: process.env.PATH, STOCKADE_SETTINGS: settings, STOCKADE_API_KEY: key }
  const said = await new Promise<string>(resolve =>
    execFile(process.execPath, [launcher, 'servers'], { env, cwd: '/', uid: 65_534, gid: 65_534 }, (_, __, err) =>
      resolve(err),
    ),
  )
  expect(said).toMatch(/stockade\.env can't be read by this user.*Run this with sudo.*--url or STOCKADE_URL\.\n$/)
})
test.each([
  ['STOCKADE_TLS=off\nSTOCKADE_HOST=192.0.2.10', 'http://192.0.2.10:8420'],
  ['STOCKADE_BASE_URL=http://stockade.example/ban/', 'http://localhost:8420/ban'],
  ['STOCKADE_TLS=files\nSTOCKADE_TLS_CERT=/x.pem\nSTOCKADE_BASE_URL=https://127.0.0.1:9', 'https://127.0.0.1:9'],
  ['STOCKADE_TLS=self\nSTOCKADE_HOST=::\nSTOCKADE_BASE_URL=https://stockade.example', 'https://localhost:8420'],
])('reads %j as %s', async (text, url) => {
  const { urlOfOwnHost } = await import('../src/own-host.ts')
  const file = join(folder, 'other.env')
  fs.writeFileSync(file, text)
  expect(urlOfOwnHost({ STOCKADE_SETTINGS: file })).toBe(url)
})
