import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFailed } from 'vitest'
import { boot } from './machine.ts'
import type { Machine } from './machine.ts'
import { debIn } from './release.ts'

/* The Debian package on real systemd: `npm run check -- ship`, as root, with mmdebstrap and systemd-container. */

const run = promisify(execFile)
const suites = (process.env.STOCKADE_SHIP_SUITES ?? 'bookworm,trixie,bullseye').split(',')
const folder = mkdtempSync(join(tmpdir(), 'stockade-ship-'))
const next = join(folder, 'next.deb')
const deb = debIn(inject('shipped').folder)

beforeAll(async () => {
  // The next version of the same files, with another default among the settings.
  const unpacked = join(folder, 'unpacked')
  await run('dpkg-deb', ['-R', deb, unpacked])
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(unpacked, path), change(readFileSync(join(unpacked, path), 'utf8')))
  edit('DEBIAN/control', text => text.replace(/^Version: .*$/m, 'Version: 99.0.0-1'))
  edit('etc/stockade/stockade.env', text => `${text}\n# A new comment.\n`)
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', unpacked, next])
  rmSync(unpacked, { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(suites)('the Debian package on %s', suite => {
  let machine: Machine
  beforeAll(async () => {
    machine = await boot(suite, join(folder, suite))
    copyFileSync(deb, machine.path('root/stockade.deb'))
    copyFileSync(next, machine.path('root/next.deb'))
  })
  afterAll(() => machine?.close())
  // What the server said is the first question, and gone with the machine.
  beforeEach(() =>
    onTestFailed(async () => {
      const { output } = await machine.attempt('journalctl', '-u', 'stockade', '--no-pager', '-n', '40')
      process.stderr.write(output)
    }),
  )

  const install = (file: string, ...more: string[]) =>
    machine.exec(
      ...(['apt-get', 'install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold'] as const),
      ...more,
      file,
    )
  const property = async (name: string) => (await machine.exec('systemctl', 'show', '-P', name, 'stockade')).trim()
  const ready = (port = '8420') => machine.attempt('curl', '-sfk', `https://127.0.0.1:${port}/api/v1/ready`)
  const setting = (name: string, value: string) => {
    const file = machine.path('etc/stockade/stockade.env')
    writeFileSync(file, readFileSync(file, 'utf8').replace(new RegExp(`^#?${name}=.*$`, 'm'), `${name}=${value}`))
  }

  it('is installed, enabled and ready when apt returns, and nothing has failed', async () => {
    expect(await install('/root/stockade.deb')).toContain('sudo stockade admin setup-code')
    expect(await property('ActiveState')).toBe('active')
    expect(await property('UnitFileState')).toBe('enabled')
    expect((await ready()).code).toBe(0)
    expect(await machine.exec('systemctl', '--failed', '--no-legend')).toBe('')
  })
  it('keeps data and settings to the service and root', async () => {
    const mode = (path: string) => (statSync(machine.path(path)).mode & 0o777).toString(8)
    expect(await machine.exec('stat', '-c', '%U:%G %a', '/var/lib/stockade')).toBe('stockade:stockade 700\n')
    expect(await machine.exec('stat', '-c', '%U:%G', '/etc/stockade/stockade.env')).toBe('root:stockade\n')
    expect([mode('etc/stockade'), mode('etc/stockade/stockade.env'), mode('var/lib/stockade/secret.key')]).toEqual([
      '750',
      '640',
      '600',
    ])
    expect(mode('var/lib/stockade/tls.key')).toBe('600')
    const refused = await machine.attempt('setpriv', '--reuid', '65534', '--clear-groups', 'stockade', 'doctor')
    expect(refused.code).not.toBe(0)
    expect(refused.output).toContain('Run it with sudo')
  })
  it('runs without privileges, and systemd rates its confinement as good', async () => {
    const pid = await property('MainPID')
    const status = await machine.exec('cat', `/proc/${pid}/status`)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^CapEff:\t0000000000000400$/m)
    expect(status).not.toMatch(/^Uid:\t0/m)
    const rating = await machine.exec('systemd-analyze', 'security', '--no-pager', 'stockade.service')
    const [, exposure = '10'] = /Overall exposure level for stockade.service: ([\d.]+)/.exec(rating) ?? []
    expect(Number(exposure)).toBeLessThan(2.5)
  })
  it('recovers and checks the server as its own user, whoever asks', async () => {
    expect(await machine.exec('stockade', 'admin', 'setup-code')).toMatch(/\/setup\?code=[\w-]{20,}/)
    expect(await machine.exec('stockade', 'doctor')).toMatch(/^ok +the schema is current/m)
    await machine.exec('systemctl', 'stop', 'stockade')
    await machine.exec('stockade', 'doctor')
    const owners = await machine.exec('find', '/var/lib/stockade', '!', '-user', 'stockade')
    expect(owners).toBe('')
    await machine.exec('systemctl', 'start', 'stockade')
  })
  it('is back after kill -9', async () => {
    const before = await property('MainPID')
    await machine.exec('systemctl', 'kill', '-s', 'KILL', 'stockade')
    await expect.poll(async () => (await ready()).code === 0 && (await property('MainPID')) !== before).toBe(true)
  })
  it('serves a port below 1024, and says which setting is wrong', async () => {
    setting('STOCKADE_PORT', '443')
    await machine.exec('systemctl', 'restart', 'stockade')
    expect((await ready('443')).code).toBe(0)
    setting('STOCKADE_PORT', 'many')
    expect((await machine.attempt('systemctl', 'restart', 'stockade')).code).not.toBe(0)
    expect(await machine.exec('journalctl', '-u', 'stockade', '--no-pager')).toContain('STOCKADE_PORT must be')
    setting('STOCKADE_PORT', '443')
    await machine.exec('systemctl', 'restart', 'stockade')
  })
  it('keeps data and settings over an upgrade, and serves at its end', async () => {
    const key = readFileSync(machine.path('var/lib/stockade/secret.key'), 'utf8')
    const before = await property('MainPID')
    await install('/root/next.deb')
    expect((await ready('443')).code).toBe(0)
    expect(await property('MainPID')).not.toBe(before)
    expect(readFileSync(machine.path('var/lib/stockade/secret.key'), 'utf8')).toBe(key)
    expect(await machine.exec('dpkg-query', '-W', 'stockade')).toBe('stockade\t99.0.0-1\n')
  })
  it('stays stopped over a downgrade where the administrator stopped it', async () => {
    await machine.exec('systemctl', 'disable', '--now', 'stockade')
    await install('/root/stockade.deb', '--allow-downgrades')
    expect(await property('ActiveState')).toBe('inactive')
    expect(await property('UnitFileState')).toBe('disabled')
    await machine.exec('systemctl', 'enable', '--now', 'stockade')
  })
  it('leaves data and settings when it is removed, and takes them up again', async () => {
    await machine.exec('apt-get', 'remove', '-y', 'stockade')
    expect((await ready('443')).code).not.toBe(0)
    expect(readdirSync(machine.path('var/lib/stockade'))).toContain('stockade.sqlite3')
    await install('/root/stockade.deb')
    expect(await property('UnitFileState')).toBe('enabled')
    expect((await ready('443')).code).toBe(0)
  })
  it('purges everything but one copy of the database', async () => {
    await machine.exec('apt-get', 'purge', '-y', 'stockade')
    for (const path of ['/var/lib/stockade', '/etc/stockade', '/usr/lib/stockade', '/usr/bin/stockade'])
      expect((await machine.attempt('test', '-e', path)).code, path).toBe(1)
    expect((await machine.attempt('getent', 'passwd', 'stockade')).code).toBe(2)
    const [copy = ''] = readdirSync(machine.path('var/backups/stockade'))
    // What hosts are bound to is kept as well.
    expect(readdirSync(machine.path(`var/backups/stockade/${copy}`))).toEqual(
      expect.arrayContaining(['audit.key', 'secret.key', 'stockade.sqlite3', 'tls.key', 'tls.pem']),
    )
    expect(await machine.exec('systemctl', 'list-unit-files', '--no-legend', 'stockade.service').catch(() => '')).toBe(
      '',
    )
    expect(await machine.exec('dpkg', '--audit')).toBe('')
  })
})
