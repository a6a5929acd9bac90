import { execFile, spawn } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { guideBlocks } from '../../packages/server/src/testing/guides.ts'
import { freePort, within } from '../../packages/server/src/testing/index.ts'

/*
 * The commands of docs/guides/install.md that first-ban.test.ts does not run, word for word on a release. What needs Docker is not run: the
 * same image and what the compose files say of it are tested in image.test.ts.
 */

const run = promisify(execFile)
const shipped = inject('shipped')
const folder = mkdtempSync(join(tmpdir(), 'stockade-install-'))
const [, tarball = '', containers = '', check = '', runtimes = '', ...others] = guideBlocks('install', 'sh')
const sh = (block: string, env: NodeJS.ProcessEnv = {}) =>
  run('sh', ['-euc', block], { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 })
const replaced = (text: string, from: string, to: string): string => {
  expect(text).toContain(from)
  return text.replaceAll(from, to)
}

describe('the guide of the installation', () => {
  const dataDir = join(folder, 'data')
  beforeAll(() => {
    for (const name of readdirSync(shipped.folder)) symlinkSync(join(shipped.folder, name), join(folder, name))
    const key = createPublicKey(readFileSync(shipped.keyFile, 'utf8'))
    writeFileSync(join(folder, 'release-key.pem'), key.export({ format: 'pem', type: 'spki' }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has no other commands', () => {
    expect(others).toEqual([])
    for (const line of containers.trim().split('\n')) expect(line).toMatch(/^docker /)
  })
  it('checks a download, and so finds what was altered or cut', async () => {
    const [openssl = '', minisign = ''] = check.trim().split('\n')
    expect((await sh(openssl)).stdout).toBe('Verified OK\n')
    expect((await sh('sha256sum --check SHA256SUMS')).stdout).toMatch(/\.deb: OK$/m)
    if (existsSync('/usr/bin/minisign'))
      expect((await sh(minisign)).stdout).toContain('Signature and comment signature verified')
    else process.stderr.write('\n!!! SKIPPED: the minisign signature, because minisign is not installed\n')
    const manifest = join(folder, 'MANIFEST')
    const text = readFileSync(manifest, 'utf8')
    const deb = readdirSync(folder).find(name => name.endsWith('.deb')) ?? ''
    await sh(`rm MANIFEST ${deb}; head -c 1000000 '${join(shipped.folder, deb)}' > ${deb}`)
    writeFileSync(manifest, text)
    appendFileSync(manifest, `sha256 ${'0'.repeat(64)} another.deb\n`)
    await expect(sh(openssl)).rejects.toMatchObject({ code: 1 })
    await expect(sh('sha256sum --check --quiet SHA256SUMS')).rejects.toMatchObject({
      stdout: expect.stringContaining(`${deb}: FAILED`),
    })
  })
  it('runs the server of the tarball, which offers the runtimes that were unpacked beside its data', async () => {
    const unpacked = replaced(runtimes, '/var/lib/stockade', dataDir).replaceAll('sudo -u stockade ', '')
    await sh(unpacked)
    const name = `linux-${process.arch}`
    const block = replaced(replaced(tarball, 'linux-x64', name), '/srv/stockade', dataDir)
    const [unpack = '', serve = ''] = block.split(/^(?=STOCKADE_DATA_DIR)/m)
    await sh(unpack)
    const port = await freePort()
    const [, tree = ''] = /^cd (.+)$/m.exec(unpack) ?? []
    const server = spawn('sh', ['-euc', serve.replace('./bin', 'exec ./bin')], {
      cwd: join(folder, tree),
      env: { PATH: process.env.PATH, STOCKADE_PORT: String(port), STOCKADE_HOST: '127.0.0.1' },
      stdio: 'ignore',
    })
    const ended = new Promise(resolve => server.once('exit', resolve))
    const statusOf = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, { method: 'HEAD' }).then(
        ({ status }) => status,
        () => 0,
      )
    try {
      await expect.poll(() => statusOf('/api/v1/ready')).toBe(200)
      for (const architecture of ['x64', 'arm64'])
        expect(await statusOf(`/agent/node-linux-${architecture}.gz`), architecture).toBe(200)
    } finally {
      server.kill('SIGTERM')
      await within(ended, 'the end of the server')
    }
  })
})
