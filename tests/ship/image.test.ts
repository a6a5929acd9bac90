import { execFile, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  chownSync,
} from 'node:fs'
import { once } from 'node:events'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../packages/server/src/testing/index.ts'

/* The container image: read by buildah, and run by runc as the compose file has it. Needs root, buildah and runc. */

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-image-'))
const bundle = join(folder, 'bundle')
const data = join(folder, 'data')
const container = `stockade-image-${process.pid}`
const missing = [
  ...(process.getuid?.() === 0 ? [] : ['root']),
  ...['/usr/bin/buildah', '/usr/sbin/runc'].filter(path => !existsSync(path)),
]
if (missing.length > 0) process.stderr.write(`\n!!! SKIPPED: the container image: needs ${missing.join(', ')}\n`)

interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Healthcheck: { readonly Test: readonly string[] }
}
interface Service {
  readonly image: string
  readonly user: string
  readonly read_only: boolean
  readonly tmpfs: readonly string[]
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly healthcheck: { readonly test: readonly string[] }
}
const serviceOf = (file: string): Service =>
  (parse(readFileSync(join(checkout, 'packaging/oci', file), 'utf8')) as { services: { stockade: Service } }).services
    .stockade

describe.skipIf(missing.length > 0)('the container image', () => {
  const storage = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  const buildah = async (...args: string[]) => (await run('buildah', [...storage, ...args])).stdout.trim()
  const runc = (...args: string[]) => run('runc', ['--root', join(folder, 'runc'), ...args])
  let port: number
  let image: ImageConfig
  let log = ''

  beforeAll(async () => {
    const release = inject('shipped').folder
    const [archive = ''] = readdirSync(release).filter(name => /^stockade-\d.*-image-/.test(name))
    await buildah('from', '--name', 'one', `docker-archive:${join(release, archive)}`)
    const inspected = JSON.parse(await buildah('inspect', 'one')) as { Docker: { config: ImageConfig } }
    image = inspected.Docker.config
    port = await freePort()
    mkdirSync(bundle)
    // What a volume gets of the folder in the image.
    mkdirSync(data, { mode: 0o700 })
    chownSync(data, 10001, 10001)
    await run('runc', ['spec', '--bundle', bundle])
    const spec = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'))
    spec.root = { path: await buildah('mount', 'one'), readonly: true }
    spec.process = {
      ...spec.process,
      terminal: false,
      user: { uid: 10001, gid: 10001 },
      args: [...image.Entrypoint, ...image.Cmd],
      env: [...image.Env, `STOCKADE_PORT=${port}`],
      cwd: '/data',
      capabilities: {},
      noNewPrivileges: true,
      rlimits: [],
    }
    spec.mounts.push(
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
      { destination: '/data', type: 'bind', source: data, options: ['bind', 'rw'] },
    )
    spec.linux.namespaces = spec.linux.namespaces.filter(({ type }: { type: string }) => type !== 'network')
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  })
  afterAll(async () => {
    await runc('delete', '--force', container).catch(() => undefined)
    await buildah('rm', '--all').catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  })
  const start = () => {
    log = ''
    const child = spawn('runc', ['--root', join(folder, 'runc'), 'run', '--bundle', bundle, container], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (log += String(part)))
    return { child, exited: once(child, 'exit') }
  }
  const exec = (...words: string[]) =>
    run('runc', ['--root', join(folder, 'runc'), 'exec', '--env', `STOCKADE_PORT=${port}`, container, ...words])
  const statusOf = (path: string) =>
    new Promise<number>(resolve =>
      get({ host: '127.0.0.1', port, path, rejectUnauthorized: false }, reply => {
        reply.resume()
        resolve(reply.statusCode ?? 0)
      }).on('error', () => resolve(0)),
    )

  it('is what the compose files name, with the health check of its own', () => {
    const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }
    for (const service of ['compose.yaml', 'compose-postgres.yaml'].map(serviceOf))
      expect(service).toMatchObject({
        image: `stockade:${version}`,
        user: image.User,
        // The container of this test is as narrow as that.
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        healthcheck: { test: image.Healthcheck.Test },
      })
  })
  it('serves with a read-only root, without privileges, and stops at once', async () => {
    const { child, exited } = start()
    await expect.poll(() => (child.exitCode === null ? statusOf('/api/v1/ready') : log)).toBe(200)
    expect(await statusOf('/')).toBe(200)
    await exec('stockade', 'healthy')
    expect((await exec('stockade', 'admin', 'setup-code')).stdout).toContain('https://')
    const pid = (JSON.parse((await runc('state', container)).stdout) as { pid: number }).pid
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^Uid:\t10001\t/m)
    const write = (path: string) => exec('/opt/stockade/bin/node', '-e', `fs.writeFileSync('${path}', '')`)
    await expect(write('/opt/stockade/x')).rejects.toThrow('EROFS')
    await runc('kill', container, 'TERM')
    expect(await exited).toEqual([0, null])
  })
  it('finds its data again, and its health check fails while it is not ready', async () => {
    const before = readdirSync(data).sort()
    expect(before).toContain('secret.key')
    const { child, exited } = start()
    await expect.poll(() => (child.exitCode === null ? statusOf('/api/v1/ready') : log)).toBe(200)
    expect(readdirSync(data)).toEqual(expect.arrayContaining(before))
    const elsewhere = await freePort()
    await expect(
      run('runc', [
        '--root',
        join(folder, 'runc'),
        'exec',
        '--env',
        `STOCKADE_PORT=${elsewhere}`,
        container,
        'stockade',
        'healthy',
      ]),
    ).rejects.toMatchObject({ code: 1 })
    await runc('kill', container, 'TERM')
    expect(await exited).toEqual([0, null])
  })
})
