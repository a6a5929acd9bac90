import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, within } from '../../packages/server/src/testing/waiting.ts'
import { makeTree } from '../../scripts/release/tree.ts'
import { minisignPublicKey, signEcdsa, signMinisign } from '../../scripts/release/sign.ts'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const folder = mkdtempSync(join(tmpdir(), 'stockade-tree-'))
const tree = join(folder, 'stockade')
const dataDir = join(folder, 'data')
// Nothing of the checkout's environment: neither its Node nor its settings.
const env = {
  ...{ PATH: '/usr/bin:/bin', STOCKADE_DATA_DIR: dataDir, STOCKADE_PORT: '0', STOCKADE_HOST: '127.0.0.1' },
  STOCKADE_RATE_LIMIT: '0',
}
const stockade = (...args: string[]) => run(join(tree, 'bin/stockade'), args, { env, cwd: '/' })

describe('the tree of a release', () => {
  let server: ChildProcess
  let url: string
  let log = ''
  beforeAll(async () => {
    makeTree(tree, process.arch === 'arm64' ? 'arm64' : 'x64')
    server = spawn(join(tree, 'bin/stockade'), ['serve'], { env, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
    server.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text))
    url = await eventually(() => {
      const [, address] = /"address":"([^"]+)"/.exec(log) ?? []
      if (address === undefined) throw new Error('The server does not listen yet.')
      return address
    })
  })
  afterAll(async () => {
    if (server?.exitCode === null) {
      server.kill('SIGTERM')
      await within(once(server, 'exit'), 'the end of the server', () => log)
    }
    rmSync(folder, { recursive: true, force: true })
  })

  // What it needs of memory with them: `npm run bench -- memory`.
  it('runs in the heap that a release has', () => {
    const options = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8').split('\0')
    expect(options).toEqual(expect.arrayContaining(['--max-semi-space-size=4', '--max-old-space-size=1024']))
  })
  it('says what is wrong with the bound of its memory', async () => {
    const started = run(join(tree, 'bin/stockade'), ['serve'], { env: { ...env, STOCKADE_HEAP_MB: 'much' } })
    await expect(started).rejects.toMatchObject({
      code: 1,
      stderr: 'stockade: STOCKADE_HEAP_MB must be megabytes from 100 to 999999, not "much".\n',
    })
  })
  it('serves the dashboard, the API with its page, and the agent', async () => {
    for (const path of ['/', '/api/v1/ready', '/api/docs', '/install.sh', '/agent/stockade-agent.mjs'])
      expect((await fetch(url + path)).status, path).toBe(200)
  })
  // Five seconds of CPU: in a run of `npm run check -- ship`.
  it.runIf(process.env.STOCKADE_TEST_SHIP === '1')(
    'packs its own Node for hosts, the same bytes as the build does',
    async () => {
      const name = `node-linux-${process.arch}.gz`
      const sum = createHash('sha256')
        .update(readFileSync(join(checkout, 'packages/server/dist/runtime', name)))
        .digest('hex')
      expect(await (await fetch(`${url}/agent/${name}.sha256`)).text()).toBe(`${sum}  ${name}\n`)
    },
  )
  it('checks and saves itself, and has the command line', async () => {
    expect((await stockade('doctor')).stdout).toMatch(/^ok +the schema is current/m)
    expect((await stockade('doctor')).stdout).not.toMatch(/^fail/m)
    await stockade('backup', join(folder, 'saved'), '--plain')
    expect((await stockade('--version')).stdout).toBe(readFileSync(join(tree, 'VERSION'), 'utf8'))
  })
  it('has a manual page of all commands, and completion for three shells', async () => {
    const page = join(tree, 'share/man/man1/stockade.1')
    const text = readFileSync(page, 'utf8')
    const help = (await stockade('--help')).stdout.replace(/^[^]*\nCommands:/, '')
    const commands = [...help.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter(name => name !== 'help')
    expect(commands).toEqual(expect.arrayContaining(['serve', 'doctor', 'servers']))
    expect(commands.length).toBeGreaterThan(25)
    for (const command of commands)
      expect(text).toMatch(new RegExp(`^\\.SS ${command.replaceAll('-', '\\\\-')}\\b`, 'm'))
    const groff = existsSync('/usr/bin/groff') ? await run('groff', ['-man', '-ww', '-z', page]) : { stderr: '' }
    expect(groff.stderr).toBe('')
    for (const [shell, path] of [
      ['bash', 'bash-completion/completions/stockade'],
      ['zsh', 'zsh/vendor-completions/_stockade'],
      ['fish', 'fish/vendor_completions.d/stockade.fish'],
    ] as const)
      expect((await stockade('completion', shell)).stdout).toBe(readFileSync(join(tree, 'share', path), 'utf8'))
  })
  it('names no path of the machine that built it', async () => {
    const found = await run('grep', ['-rlF', checkout, tree]).catch(() => ({ stdout: '' }))
    expect(found.stdout).toBe('')
  })
  it('lists every package that is in it, with its licence', () => {
    const { components } = JSON.parse(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; licenses?: unknown; hashes?: unknown }[]
    }
    const names = components.map(({ name }) => name)
    for (const name of ['fastify', 'react', '@node-rs/argon2', '@ip-location-db/asn', `node-linux-${process.arch}`])
      expect(names).toContain(name)
    expect(components.filter(({ licenses }) => !licenses).map(({ name }) => name)).toEqual([])
    const texts = readFileSync(join(tree, 'THIRD-PARTY.txt'), 'utf8')
    for (const { name } of components) expect(texts).toContain(`\n${name} `)
  })
})

describe('the signatures of a release', () => {
  const place = mkdtempSync(join(tmpdir(), 'stockade-sign-'))
  afterAll(() => rmSync(place, { recursive: true }))
  const pem = (type: 'ec' | 'ed25519') => {
    const pair =
      type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519')
    return {
      secret: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      public: pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    }
  }
  it('are checked by openssl, which refuses an altered file', async () => {
    const key = pem('ec')
    const at = (name: string, content: string | Buffer) => {
      writeFileSync(join(place, name), content)
      return join(place, name)
    }
    const verify = (file: string) =>
      run('openssl', ['dgst', '-sha256', '-verify', at('key', key.public), '-signature', join(place, 'sig'), file])
    at('sig', signEcdsa('a manifest', key.secret))
    expect((await verify(at('manifest', 'a manifest'))).stdout).toBe('Verified OK\n')
    await expect(verify(at('altered', 'a manifest!'))).rejects.toThrow()
  })
  it('need a key of their kind', () => {
    expect(() => signEcdsa('text', pem('ed25519').secret)).toThrow('not an ECDSA key on P-256')
    expect(() => signMinisign('text', pem('ec').secret, 'comment')).toThrow('not an Ed25519 key')
    expect(minisignPublicKey(pem('ed25519').secret)).toMatch(/^untrusted comment: .*\nRWQ?[\w+/=]+\n$/)
  })
})
