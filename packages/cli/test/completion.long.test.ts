import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer } from '../../server/src/testing/index.ts'
import type { Signed, TestServer } from '../../server/src/testing/index.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-completion-'))
const config = join(folder, 'config')
let server: TestServer
let admin: Signed
let key: string
beforeAll(async () => {
  // A shell finds the program by its name.
  writeFileSync(join(folder, 'stockade'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`)
  chmodSync(join(folder, 'stockade'), 0o755)
  server = await startServer()
  admin = await server.setUp()
  for (const hostname of ['web-01', 'web-02', 'db-01']) await admin.client.call('POST /servers', { body: { hostname } })
  key = (await admin.client.call('POST /keys', { body: { name: 'look', permissions: 'read' } })).key
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})
const environment = (more: NodeJS.ProcessEnv = {}) => ({
  PATH: [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  HOME: folder,
  XDG_CONFIG_HOME: config,
  STOCKADE_URL: server.url,
  STOCKADE_API_KEY: key,
  ...more,
})
const execute = (program: string, args: readonly string[], env: NodeJS.ProcessEnv) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>(resolve => {
    execFile(program, args, { env }, (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }))
  })
const run = (args: readonly string[], more?: NodeJS.ProcessEnv) =>
  execute(join(folder, 'stockade'), args, environment(more))
const complete = async (words: readonly string[], more?: NodeJS.ProcessEnv) => {
  const { code, out } = await run(['complete', '--', ...words], more)
  expect(code).toBe(0)
  return out.split('\n').flatMap(line => line.split('\t')[0] || [])
}

test('commands, options, choices and names of servers are completed', async () => {
  expect(await complete(['ale'])).toEqual(['alerts'])
  expect(await complete(['alerts', 'r'])).toEqual(['rules', 'routes'])
  expect(await complete(['alerts', 'rules', 'add', 'x', '--kind', 'bans-'])).toEqual(['bans-over', 'bans-unusual'])
  expect(await complete(['alerts', 'silence', '--rea'])).toEqual(['--reason'])
  expect(await complete(['--js'])).toEqual(['--json'])
  expect(await complete(['report', 'm'])).toEqual(['month'])
  expect(await complete(['server', 'web'])).toEqual(['web-01', 'web-02'])
  expect(await complete(['fleet', 'ban', '192.0.2.1', '--server', 'web-01', 'd'])).toContain('db-01')
  expect(await complete(['alerts', 'ack', '1', '--note', ''])).toEqual([])
  expect(await complete(['admin', 're'])).toEqual(['reset-password', 'reset-mfa', 'recount'])
  expect(await complete(['backup', 'v'])).toEqual(['verify'])
  expect(await complete(['backup', 'verify', '--pass'])).toEqual(['--passphrase-file'])
  expect(await complete(['license', 'i'])).toEqual(['install', 'issue'])
  // What is hidden in the help is not offered.
  expect(await complete(['compl'])).toEqual(['completion'])
})

test('a server that refuses, is away or never answers leaves the rest as it is', async () => {
  expect(await complete(['server', 'web'], { STOCKADE_API_KEY: 'svc_wrong' })).toEqual([])
  expect(await complete(['server', ''], { STOCKADE_URL: 'http://127.0.0.1:1' })).toEqual([])
  const silent = createServer(() => undefined)
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  expect(await complete(['server', ''], { STOCKADE_URL: url })).toEqual([])
  silent.closeAllConnections()
  silent.close()
})

describe('a shell', () => {
  const shells = {
    bash: `COMP_WORDS=(stockade alerts rou); COMP_CWORD=2; _stockade; printf '%s\\n' "\${COMPREPLY[@]}"`,
    zsh: `words=(stockade alerts rou); CURRENT=3; _stockade`,
    fish: `complete -C 'stockade alerts rou'`,
  }
  for (const [shell, words] of Object.entries(shells)) {
    const program = ['/usr/bin', '/bin'].map(place => join(place, shell)).find(path => existsSync(path))
    if (!program) process.stderr.write(`\n!!! SKIPPED: completion in ${shell}, which is not installed\n`)
    test.runIf(program)(`${shell} asks the program`, async () => {
      const script = await run(['completion', shell])
      expect(script.code).toBe(0)
      // What zsh's own completion brings along.
      const before = shell === 'zsh' ? 'compdef() {}; _describe() { print -l -- "${(@P)2}" }; _files() {};\n' : ''
      const done = await execute(program ?? '', ['-c', `${before}${script.out}\n${words}`], environment())
      expect(done.err).toBe('')
      expect(done.out).toMatch(/^routes\b/)
    })
  }
  test('that is not known is refused', async () => {
    expect(await run(['completion', 'tcsh'])).toMatchObject({ code: 2, out: '' })
  })
})

test('a profile has an address and a key, and is not mixed with others', async () => {
  expect((await run(['profiles'])).out).toContain('There are no profiles')
  mkdirSync(join(config, 'stockade'), { recursive: true })
  const write = (content: unknown) =>
    writeFileSync(
      join(config, 'stockade', 'profiles.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  write({
    here: { url: server.url, api_key_file: 'here.key' },
    away: { url: 'http://127.0.0.1:1', api_key_file: '/nonexistent' },
  })
  writeFileSync(join(config, 'stockade', 'here.key'), `${key}\n`)
  // The environment speaks of another server with another key: nothing of it is used.
  const other = { STOCKADE_URL: 'http://127.0.0.1:1', STOCKADE_API_KEY: 'svc_other' }
  expect((await run(['--profile', 'here', 'servers'], other)).out).toContain('web-01')
  expect((await run(['servers'], { ...other, STOCKADE_PROFILE: 'here' })).out).toContain('web-01')
  expect((await run(['profiles'])).out).toMatch(/away +http:\/\/127\.0\.0\.1:1 +\/nonexistent/)
  expect(await complete(['--profile', ''])).toEqual(['away', 'here'])
  for (const [args, sentence] of [
    [['--profile', 'nobody', 'servers'], 'There is no profile nobody'],
    [['--profile', 'away', 'servers'], "/nonexistent can't be read: ENOENT"],
    [['--profile', 'here', '--url', server.url, 'servers'], 'not both'],
  ] as const) {
    const refused = await run(args)
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
  }
  for (const [content, sentence] of [
    ['no json', 'is not JSON'],
    [[], 'must hold one object'],
    [{ here: { url: server.url } }, 'needs "url" and "api_key_file"'],
  ] as const) {
    write(content)
    expect(await run(['--profile', 'here', 'servers'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(sentence),
    })
  }
  expect(await complete(['--profile', ''])).toEqual(['here'])
})
