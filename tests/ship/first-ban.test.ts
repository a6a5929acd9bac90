import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boot } from './machine.ts'
import type { Machine } from './machine.ts'
import { release } from './release.ts'

/* From `apt install` to the first dropped packet on a Debian with fail2ban as its packages leave it, by the commands of the guide. */

const folder = mkdtempSync(join(tmpdir(), 'stockade-first-'))
const base = 'https://127.0.0.1:8420'
const attacker = '10.77.0.2'
const password = 'Sup3r-secret-1'

describe('a fresh machine', () => {
  let machine: Machine
  let token = ''
  let serverId = ''
  beforeAll(async () => {
    await release('--output', folder, '--compression', 'gzip')
    machine = await boot('bookworm', join(folder, 'machine'), 'host')
    const deb = readdirSync(folder).find(name => name.endsWith('.deb')) ?? ''
    copyFileSync(join(folder, deb), machine.path('root/stockade.deb'))
    // The attacker: a namespace behind a cable of its own.
    const wire = [
      'ip netns add attacker',
      'ip link add wire type veth peer name wire0 netns attacker',
      'ip addr add 10.77.0.1/24 dev wire',
      'ip link set wire up',
      `ip -n attacker addr add ${attacker}/24 dev wire0`,
      'ip -n attacker link set wire0 up',
    ]
    for (const command of wire) await machine.exec('sh', '-c', command)
  }, 900_000)
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
  const reaches = async () =>
    (
      await machine.attempt(
        ...(['ip', 'netns', 'exec', 'attacker', 'curl', '-sk', '-m', '3', '-o', '/dev/null'] as const),
        'https://10.77.0.1:8420/',
      )
    ).code === 0

  it('has a server with one command, and an administrator with the link of another', async () => {
    await machine.exec('apt-get', 'install', '-y', '--no-install-recommends', '/root/stockade.deb')
    const [, code = ''] = /\/setup\?code=([\w-]+)/.exec(await machine.exec('stockade', 'admin', 'setup-code')) ?? []
    const made = await call<{ access_token: string }>('POST', '/setup', {
      ...{ code, username: 'admin', email: 'admin@stockade.example', password, site_url: base },
    })
    token = made.access_token
    expect(token).not.toBe('')
  })
  it('is protected by the command that the server shows, bound to the key of the server', async () => {
    const added = await call<{ id: string; install_command: string }>('POST', '/servers', { hostname: 'web-01' })
    serverId = added.id
    expect(added.install_command).toMatch(/^curl -fsSLk --pinnedpubkey 'sha256\/\/.{44}' https:.* --pin 'sha256/)
    await machine.exec('sh', '-c', added.install_command)
    await expect
      .poll(async () => (await call<{ protection: { level: string } }>('GET', `/servers/${serverId}`)).protection.level)
      .toBe('protected')
  })
  it('drops the packets of a banned address, and lets them pass again', async () => {
    expect(await reaches()).toBe(true)
    await call('POST', `/servers/${serverId}/bans`, { ip: attacker, force: true })
    await expect.poll(reaches).toBe(false)
    await call('DELETE', `/servers/${serverId}/bans/${attacker}`)
    await expect.poll(reaches).toBe(true)
  })
})
