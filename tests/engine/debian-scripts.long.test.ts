import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { within } from '../../packages/server/src/testing/waiting.ts'
import { describeHosts } from './host.ts'

/* The scripts of the server's Debian package, ended in the middle as by a cut of the power. They see /etc, /var/lib and /var/backups of the test. */

const scripts = resolve('packaging/debian')
const places = { etc: '/etc', lib: '/var/lib', backups: '/var/backups', run: '/run' }
const [lib, backups] = ['lib/stockade', 'backups/stockade']
/** What hosts are bound to, and what nobody can make again. */
const precious = [
  'stockade.sqlite3',
  'stockade.sqlite3-wal',
  'secret.key',
  'tls.key',
  'tls.pem',
  'audit.key',
  'audit.last',
]

describeHosts("the Debian package's scripts", () => {
  let root = ''
  beforeEach(() => {
    root = fs.mkdtempSync(join(tmpdir(), 'stockade-deb-'))
  })
  afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

  const program = (name: string, words: readonly string[]): [string, string[]] => {
    const mounts = Object.entries(places).map(([from, to]) => `mount --bind ${join(root, from)} ${to}`)
    const inside = [...mounts, `exec sh -x ${join(scripts, name)} ${words.join(' ')}`].join(' && ')
    return ['unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', inside]]
  }
  /** A host with the package's files and its data. */
  const prepare = (): void => {
    fs.rmSync(root, { recursive: true, force: true })
    for (const place of [...Object.keys(places), lib, 'etc/stockade'])
      fs.mkdirSync(join(root, place), { recursive: true })
    for (const name of [
      'passwd',
      'group',
      'shadow',
      'gshadow',
      'nsswitch.conf',
      'ld.so.cache',
      'login.defs',
      'alternatives',
    ])
      if (fs.existsSync(`/etc/${name}`))
        fs.cpSync(`/etc/${name}`, join(root, 'etc', name), { recursive: true, verbatimSymlinks: true })
    for (const name of precious) fs.writeFileSync(join(root, lib, name), name)
    fs.writeFileSync(join(root, 'etc/stockade/stockade.env'), 'STOCKADE_BASE_URL=https://stockade.example\n')
  }
  const run = (name: string, words: readonly string[]): string[] => {
    const { status, stderr } = spawnSync(...program(name, words), { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    return stderr.split('\n').filter(line => line.startsWith('+'))
  }
  /** Ends it after this number of lines of its trace. */
  const cut = async (name: string, words: readonly string[], after: number): Promise<void> => {
    const [file, args] = program(name, words)
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let lines = 0
    createInterface({ input: child.stderr }).on('line', line => {
      if (line.startsWith('+')) lines += 1
      if (lines === after) child.kill('SIGKILL')
    })
    await within(new Promise(done => child.once('close', done)), 'the end of the script')
  }
  const copies = (): string[] =>
    fs.existsSync(join(root, backups)) ? fs.readdirSync(join(root, backups)).map(name => join(root, backups, name)) : []
  /** Where a precious file is whole. Between two file systems `mv` copies first, so it may be in two places, and half in one. */
  const keptAt = (name: string): string[] =>
    [join(root, lib), ...copies()].filter(
      place => fs.existsSync(join(place, name)) && fs.readFileSync(join(place, name), 'utf8') === name,
    )

  it('lose neither the database nor a key to a purge that is cut off, and end it the next time', async () => {
    prepare()
    const { length } = run('postrm', ['purge'])
    expect(length).toBeGreaterThan(15)
    for (let after = 1; after <= length; after += 1) {
      prepare()
      await cut('postrm', ['purge'], after)
      for (const name of precious) expect(keptAt(name), `${name} after ${after} lines`).not.toEqual([])
      run('postrm', ['purge'])
      expect(fs.existsSync(join(root, lib)), `after ${after} lines`).toBe(false)
      expect(fs.existsSync(join(root, 'etc/stockade'))).toBe(false)
      // The database and its log are of use only together.
      const [copy = '', ...more] = copies()
      expect(more).toEqual([])
      expect(fs.readdirSync(copy).sort(), `after ${after} lines`).toEqual(precious.toSorted())
      for (const name of precious) expect(keptAt(name)).toEqual([copy])
    }
  })

  it('leave a host that the next run of the configuration makes whole', async () => {
    const look = (): string =>
      [lib, 'etc/stockade', 'etc/stockade/stockade.env', backups]
        .map(path => `${path} ${(fs.statSync(join(root, path)).mode & 0o7777).toString(8)}`)
        .concat(fs.readFileSync(join(root, 'etc/passwd'), 'utf8').match(/^stockade:.*$/gm) ?? [])
        .join('\n')
    prepare()
    const { length } = run('postinst', ['configure'])
    const whole = look()
    expect(whole).toContain('/usr/sbin/nologin')
    for (let after = 1; after <= length; after += 1) {
      prepare()
      await cut('postinst', ['configure'], after)
      run('postinst', ['configure'])
      expect(look(), `after ${after} lines`).toBe(whole)
      for (const name of precious) expect(keptAt(name)).toEqual([join(root, lib)])
    }
  })
})
