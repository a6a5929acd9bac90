import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { boot } from './machine.ts'
import type { Machine } from './machine.ts'
import { guideBlocks } from '../../packages/server/src/testing/guides.ts'
import { debIn } from './release.ts'

/*
 * From `apt install` to the first dropped packet on a Debian with fail2ban as its packages leave it, by the commands of the guide; and what
 * holds after a reboot, before the agent runs.
 */

const suites = (process.env.STOCKADE_SHIP_SUITES ?? 'bookworm,trixie').split(',')
const folder = mkdtempSync(join(tmpdir(), 'stockade-first-'))
const base = 'https://127.0.0.1:8420'
const attacker = '10.77.0.2'
/** Its ban ends while the machine is off. */
const formerAttacker = '10.77.0.3'
const hour = 3_600_000
const password = 'Sup3r-secret-1'

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(suites)('a fresh machine with %s', suite => {
  let machine: Machine
  let token = ''
  let serverId = ''
  beforeAll(async () => {
    machine = await boot(suite, join(folder, suite), 'host')
    const deb = debIn(inject('shipped').folder)
    copyFileSync(deb, machine.path(`root/${basename(deb)}`))
    // The guide leaves the question whether to go on to a person.
    writeFileSync(machine.path('etc/apt/apt.conf.d/90yes'), 'APT::Get::Assume-Yes "true";\n')
    await wireAttacker()
  })
  afterAll(() => machine?.close())

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = ['-H', 'Content-Type: application/json', ...(token ? ['-H', `Authorization: Bearer ${token}`] : [])]
    const data = body ? ['-d', JSON.stringify(body)] : []
    return JSON.parse(
      await machine.exec('curl', '-sk', '-X', method, ...headers, ...data, `${base}/api/v1${path}`),
    ) as T
  }
  /** The attacker: a namespace behind a cable of its own. */
  const wireAttacker = async () => {
    const wire = [
      'ip netns add attacker',
      'ip link add wire type veth peer name wire0 netns attacker',
      'ip addr add 10.77.0.1/24 dev wire',
      'ip link set wire up',
      `ip -n attacker addr add ${attacker}/24 dev wire0`,
      `ip -n attacker addr add ${formerAttacker}/24 dev wire0`,
      'ip -n attacker link set wire0 up',
    ]
    for (const command of wire) await machine.exec('sh', '-c', command)
  }
  const reaches = async (source = attacker) =>
    (
      await machine.attempt(
        ...(['ip', 'netns', 'exec', 'attacker', 'curl', '-sk', '-m', '3', '-o', '/dev/null'] as const),
        ...['--interface', source, 'https://10.77.0.1:8420/'],
      )
    ).code === 0

  it('has a server with one command, and an administrator with the link of another', async () => {
    const [block = ''] = guideBlocks('install', 'sh')
    const said = await machine.exec('sh', '-euc', `sudo() { "$@"; }; cd /root\n${block}`)
    const [, code = ''] = /\/setup\?code=([\w-]+)/.exec(said.slice(said.lastIndexOf('Make the first'))) ?? []
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
    await expect.poll(() => reaches()).toBe(false)
    await call('DELETE', `/servers/${serverId}/bans/${attacker}`)
    await expect.poll(() => reaches()).toBe(true)
  })

  /** Moves what the shield saved by that time, as if the machine had been off or its clock were wrong. */
  const moveSavedTimes = (by: number) => {
    const json = machine.path('var/lib/stockade-agent/shield.json')
    const saved = JSON.parse(readFileSync(json, 'utf8')) as { savedAt: number; bans: [string, number, ...unknown[]][] }
    const bans = saved.bans.map(([entry, until, ...rest]) => [entry, until + by, ...rest])
    writeFileSync(json, JSON.stringify({ ...saved, savedAt: saved.savedAt + by, bans }))
    const script = machine.path('var/lib/stockade-agent/shield.nft')
    const move = (line: string): string =>
      line.replace(/(?<=# (?:saved|ends) )\d+$/, text => String(Number(text) + by / 1000))
    writeFileSync(script, readFileSync(script, 'utf8').split('\n').map(move).join('\n'))
  }
  const secondsLeft = async (address: string): Promise<number> => {
    const listed = await machine.exec('nft', '-j', 'list', 'set', 'inet', 'stockade_shield', 'ban_4')
    return Number(new RegExp(`"val": "${address}",[^}]*"expires": (\\d+)`).exec(listed)?.[1] ?? NaN)
  }
  const startedAt = async (unit: string): Promise<number> =>
    Number(await machine.exec('systemctl', 'show', '-p', 'ActiveEnterTimestampMonotonic', '--value', unit))
  /** After a reboot without the agent. */
  const expectOnlyTheBan = async () => {
    expect((await machine.attempt('systemctl', 'is-active', 'stockade-agent')).output.trim()).toBe('inactive')
    expect(await startedAt('stockade-shield.service')).toBeGreaterThan(0)
    expect(await startedAt('stockade-shield.service')).toBeLessThanOrEqual(await startedAt('network-pre.target'))
    await wireAttacker()
    await expect.poll(() => reaches(formerAttacker)).toBe(true)
    expect(await reaches()).toBe(false)
  }

  it('drops these packets after a reboot before the network is up, without the agent, and not those of an ended ban', async () => {
    await call('POST', `/servers/${serverId}/bans`, { ip: attacker, duration: 86_400, force: true })
    await call('POST', `/servers/${serverId}/bans`, { ip: formerAttacker, duration: 3600, force: true })
    await expect.poll(() => reaches(formerAttacker)).toBe(false)
    await machine.exec('systemctl', 'disable', '--now', 'stockade-agent')
    moveSavedTimes(-2 * hour)
    await machine.reboot()
    await expectOnlyTheBan()
    expect(await secondsLeft(attacker)).toBeLessThan(86_400 - 7000)
  })
  it('lets no ban grow where the clock starts in the past', async () => {
    moveSavedTimes(5 * hour)
    await machine.exec('systemctl', 'restart', 'stockade-shield')
    expect(await secondsLeft(attacker)).toBeLessThanOrEqual(86_400)
    expect(await secondsLeft(attacker)).toBeGreaterThan(86_400 - 4 * 3600)
  })
  it('does the same where Node.js is missing at that time', async () => {
    moveSavedTimes(-5 * hour)
    const node = machine.path('opt/stockade-agent/node')
    renameSync(node, `${node}.away`)
    await machine.reboot()
    await expectOnlyTheBan()
    expect(await machine.exec('systemctl', 'show', '-p', 'Result', '--value', 'stockade-shield')).toBe('success\n')
    moveSavedTimes(5 * hour)
    await machine.exec('nft', 'delete', 'table', 'inet', 'stockade_shield')
    await machine.exec('systemctl', 'restart', 'stockade-shield')
    expect(await secondsLeft(attacker)).toBeLessThanOrEqual(86_400)
    moveSavedTimes(-5 * hour)
    renameSync(`${node}.away`, node)
    await machine.exec('systemctl', 'enable', '--now', 'stockade-agent')
    await expect
      .poll(async () => (await machine.attempt('/opt/stockade-agent/stockade-agent', 'shield', 'status')).output)
      .toContain('table owned by the agent')
    expect(await reaches()).toBe(false)
  })
})
