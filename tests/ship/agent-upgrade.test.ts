import { createHash, createPublicKey, sign } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { boot } from './machine.ts'
import type { Machine } from './machine.ts'
import { debIn } from './release.ts'

/*
 * Upgrades of a real agent under a real systemd, ordered from the server: one that works, ones that do not, one whose upgrader is
 * killed, and the return to the release before.
 */

const folder = mkdtempSync(join(tmpdir(), 'stockade-upgrade-'))
const base = 'https://127.0.0.1:8420'
const shipped = inject('shipped')
const privateKey = readFileSync(shipped.keyFile, 'utf8')
const eachSecond = { interval: 1000 }

interface Rollout {
  readonly id: number
  readonly state: string
  readonly reason: string | null
  readonly counts: Readonly<Record<'done' | 'failed', number>>
}

describe('upgrades of the agent', () => {
  let machine: Machine
  let token = ''
  let program = ''
  let ownVersion = ''
  beforeAll(async () => {
    machine = await boot('bookworm', join(folder, 'machine'), 'host')
    copyFileSync(debIn(shipped.folder), machine.path('root/stockade.deb'))
    await machine.exec('apt-get', 'install', '-y', '--no-install-recommends', '/root/stockade.deb')
    const [, code = ''] = /\/setup\?code=([\w-]+)/.exec(await machine.exec('stockade', 'admin', 'setup-code')) ?? []
    const made = await call<{ access_token: string }>('POST', '/setup', {
      ...{ code, username: 'admin', email: 'admin@stockade.example', password: 'Sup3r-secret-1', site_url: base },
    })
    token = made.access_token
    const added = await call<{ install_command: string }>('POST', '/servers', { hostname: 'web-01' })
    await machine.exec('sh', '-c', added.install_command)
    program = readFileSync(machine.path('usr/lib/stockade/lib/agent/dist/stockade-agent.mjs'), 'utf8')
    ownVersion = (await machine.exec('/opt/stockade-agent/stockade-agent', '--version')).trim()
    mkdirSync(machine.path('srv/agent'))
    const settings = machine.path('etc/stockade/stockade.env')
    writeFileSync(settings, `${readFileSync(settings, 'utf8')}\nSTOCKADE_AGENT_DIR=/srv/agent\n`)
    offer('9.0.0')
    await machine.exec('systemctl', 'restart', 'stockade')
  })
  afterAll(async () => {
    await machine?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = ['-H', 'Content-Type: application/json', ...(token ? ['-H', `Authorization: Bearer ${token}`] : [])]
    const data = body ? ['-d', JSON.stringify(body)] : []
    return JSON.parse(
      await machine.exec('curl', '-sk', '-X', method, ...headers, ...data, `${base}/api/v1${path}`),
    ) as T
  }
  /** Puts a signed release of that version on the server. `change` alters the program before or after it is signed. */
  const offer = (version: string, { before = '', after = '' } = {}) => {
    const [head = '', ...rest] = program.replaceAll(`"${ownVersion}"`, `"${version}"`).split('\n')
    const content = [head, before, ...rest].join('\n')
    const sum = createHash('sha256').update(content).digest('hex')
    const manifest = `stockade-release 1\nversion ${version}\nreleased 2026-11-23\nsha256 ${sum} stockade-agent.mjs\n`
    const put = (name: string, text: string | Buffer) => writeFileSync(machine.path(`srv/agent/${name}`), text)
    put('stockade-agent.mjs', content + after)
    put('MANIFEST', manifest)
    put('MANIFEST.sig', sign('sha256', Buffer.from(manifest), privateKey))
  }
  const runs = async () => (await machine.exec('/opt/stockade-agent/stockade-agent', '--version')).trim()
  const isAble = async () => (await call<{ unable: number; outdated: number }>('GET', '/agents/release')).unable === 0
  const order = async (): Promise<number> => {
    await expect.poll(isAble, eachSecond).toBe(true)
    const { id } = await call<{ id: number }>('POST', '/agents/rollouts', {})
    expect(id).toBeGreaterThan(0)
    return id
  }
  const ended = async (id: number): Promise<Rollout> => {
    await expect
      .poll(async () => (await call<Rollout>('GET', `/agents/rollouts/${id}`)).state, eachSecond)
      .not.toBe('running')
    return call('GET', `/agents/rollouts/${id}`)
  }
  const problemOf = async (id: number) =>
    (await call<{ servers: { problem: string | null }[] }>('GET', `/agents/rollouts/${id}/servers`)).servers[0]?.problem
  const abort = (id: number) => call('POST', `/agents/rollouts/${id}/abort`, {})
  /** Its own process only: with a whole group that comes and goes, systemd at times answers that it could not. */
  const killUpgrader = async (): Promise<boolean> => {
    const { code } = await machine.attempt(
      'systemctl',
      'kill',
      '-s',
      'KILL',
      '--kill-whom=main',
      'stockade-agent-upgrade',
    )
    return code === 0
  }
  const isSound = async () => {
    expect((await machine.exec('systemctl', 'is-active', 'stockade-agent')).trim()).toBe('active')
    expect(readdirSync(machine.path('var/lib/stockade-agent'))).not.toContain('upgrade-order.json')
    expect(readdirSync(machine.path('opt/stockade-agent'))).not.toContain('upgrading')
  }

  it('take what the key of the host signed', async () => {
    expect(readFileSync(machine.path('etc/stockade-agent/release-keys.pem'), 'utf8')).toBe(
      createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }),
    )
    const rollout = await ended(await order())
    expect(rollout).toMatchObject({ state: 'finished', counts: { done: 1, failed: 0 } })
    expect(await runs()).toBe('9.0.0')
    await isSound()
  })
  it('put the release before back when the server does not answer the new one, also after a kill -9', async () => {
    offer('9.1.0', { before: "if (process.argv[2] === 'run') process.exit(7)" })
    const id = await order()
    await expect.poll(runs, eachSecond).toBe('9.1.0')
    expect(await killUpgrader()).toBe(true)
    expect(await ended(id)).toMatchObject({ state: 'paused', reason: '1 of 1 server in wave 1 failed.' })
    expect(await problemOf(id)).toMatch(/9\.1\.0-.*did not answer it within \d+ s; 9\.0\.0-.* runs again\./)
    expect(await runs()).toBe('9.0.0')
    await isSound()
    await abort(id)
  })
  it('refuse an altered program and an older release, and go on', async () => {
    offer('9.2.0', { after: '\n// altered\n' })
    const altered = await order()
    await ended(altered)
    expect(await problemOf(altered)).toBe('stockade-agent.mjs is not the file of release 9.2.0: nothing of it is used')
    await abort(altered)
    offer('8.0.0')
    const older = await order()
    await ended(older)
    expect(await problemOf(older)).toMatch(/8\.0\.0 is older than 9\.0\.0/)
    await abort(older)
    expect(await runs()).toBe('9.0.0')
    await isSound()
  })
  it('are taken back to the release before, which the host kept', async () => {
    offer('9.0.0')
    const [first] = (await call<{ rollouts: Rollout[] }>('GET', '/agents/rollouts')).rollouts.toReversed()
    const { id } = await call<{ id: number }>('POST', `/agents/rollouts/${first?.id ?? 0}/rollback`, {})
    expect(await ended(id)).toMatchObject({ state: 'finished', counts: { done: 1 } })
    expect(await runs()).toBe(ownVersion)
    await isSound()
  })
  it('end whole wherever a kill -9 hits the upgrader', async () => {
    offer('9.3.0')
    const id = await order()
    const releases = () => readdirSync(machine.path('opt/stockade-agent/releases'))
    const isOver = () => !readdirSync(machine.path('var/lib/stockade-agent')).includes('upgrade-order.json')
    const isSwitched = () => readlinkSync(machine.path('opt/stockade-agent/current')).includes('9.3.0')
    const moments = [
      // It fetches and verifies.
      () => !isOver(),
      () => releases().some(name => name.startsWith('.staging')) || isSwitched(),
      // It restarts the agent and watches it.
      isSwitched,
    ]
    let kills = 0
    for (const isThere of moments) {
      await expect.poll(isThere, { interval: 20 }).toBe(true)
      if (await killUpgrader()) kills++
      expect([ownVersion, '9.3.0']).toContain(await runs())
    }
    expect(kills).toBeGreaterThan(0)
    expect(await ended(id)).toMatchObject({ state: 'finished', counts: { done: 1, failed: 0 } })
    expect(await runs()).toBe('9.3.0')
    await isSound()
  })
})
