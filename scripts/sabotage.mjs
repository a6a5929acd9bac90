/*
 * `npm run check -- sabotage`: every case of tests/engine/sabotage on each version of fail2ban and each firewall. As root on Debian it unpacks
 * fail2ban of Debian 11 and 13 through apt into node_modules/.cache/engines; nothing is installed. It names what it can't run.
 *
 * `npm run check -- sabotage --table FILE` plays the table of tests/engine/sabotage/table only, prints what the hosts said and writes it to FILE, as
 * Markdown. Hosts of different firewalls run side by side. The checks run ten times as often as on a real host; `SABOTAGE_PACE=1` plays at the
 * real pace.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readRows, tableText } from './sabotage-table.mjs'

const root = resolve(import.meta.dirname, '..')
const engines = join(root, 'node_modules/.cache/engines')
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** 0.11.2 does not run on Python 3.10 and newer, so its Debian's Python comes along. 1.1.0 runs on the machine's. */
const versions = [
  {
    version: '0.11.2',
    suite: 'bullseye',
    packages: ['fail2ban', 'python3.9-minimal', 'libpython3.9-minimal', 'libpython3.9-stdlib'],
    python: directory => join(directory, 'usr/bin/python3.9'),
  },
  { version: '1.1.0', suite: 'trixie', packages: ['fail2ban'], python: virtualPython },
]

/** A Python that finds the unpacked fail2ban before an installed one, also with -I. */
function virtualPython(directory) {
  const environment = join(directory, 'python')
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', '--system-site-packages', environment])
  const [version] = readdirSync(join(environment, 'lib'))
  const modules = join(directory, 'usr/lib/python3/dist-packages')
  writeFileSync(join(environment, 'lib', version, 'site-packages', 'engine.pth'), `${modules}\n`)
  return join(environment, 'bin/python3')
}

const say = text => process.stderr.write(`\n!!! ${text}\n`)

/** The mirror that this machine already uses. */
function debianMirror() {
  const listed = execFileSync('apt-get', ['indextargets', 'Created-By: Packages', '--format', '$(REPO_URI)'], {
    encoding: 'utf8',
  })
  return listed.split('\n').find(uri => /\/debian\/?$/.test(uri)) ?? null
}

function aptOptions(directory, uri) {
  const state = join(directory, 'apt')
  mkdirSync(join(state, 'lists/partial'), { recursive: true })
  mkdirSync(join(state, 'cache/archives/partial'), { recursive: true })
  const sources = join(state, 'debian.sources')
  const suites = versions.map(({ suite }) => suite).join(' ')
  writeFileSync(sources, `Types: deb\nURIs: ${uri}\nSuites: ${suites}\nComponents: main\nSigned-By: ${keyring}\n`)
  const options = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(state, 'lists'),
    'Dir::Cache': join(state, 'cache'),
    'APT::Sandbox::User': 'root',
  }
  return ['-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
}

function unpack({ version, suite, packages, python }, apt) {
  const directory = join(engines, version)
  rmSync(directory, { recursive: true, force: true })
  const debs = join(directory, 'debs')
  mkdirSync(debs, { recursive: true })
  execFileSync('apt-get', [...apt, 'download', ...packages.map(name => `${name}/${suite}`)], { cwd: debs })
  for (const file of readdirSync(debs)) execFileSync('dpkg-deb', ['-x', join(debs, file), directory])
  rmSync(debs, { recursive: true })
  const interpreter = python(directory)
  for (const name of ['fail2ban-client', 'fail2ban-server']) {
    const file = join(directory, 'usr/bin', name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(`${file}.new`, text.replace(/^#!.*/, `#!${interpreter}`))
    chmodSync(`${file}.new`, 0o755)
    renameSync(`${file}.new`, file)
  }
  const found = execFileSync(join(directory, 'usr/bin/fail2ban-client'), ['-V'], { encoding: 'utf8' }).trim()
  if (found !== version) throw new Error(`${suite} has fail2ban ${found}, not ${version}`)
}

function unpackEngines() {
  const missing = versions.filter(({ version }) => !existsSync(join(engines, version, 'usr/bin/fail2ban-server')))
  if (missing.length === 0) return
  try {
    if (process.getuid?.() !== 0) throw new Error('this needs root')
    const uri = debianMirror()
    if (uri === null || !existsSync(keyring)) throw new Error('this machine has no Debian mirror')
    const apt = aptOptions(engines, uri)
    execFileSync('apt-get', [...apt, 'update'], { stdio: ['ignore', 'ignore', 'inherit'] })
    for (const engine of missing) {
      try {
        unpack(engine, apt)
      } catch (error) {
        rmSync(join(engines, engine.version), { recursive: true, force: true })
        say(`fail2ban ${engine.version} cannot be unpacked: ${error.message}`)
      }
    }
  } catch (error) {
    say(`fail2ban ${missing.map(({ version }) => version).join(' and ')} cannot be unpacked: ${error.message}`)
  }
}

/** The programs of a Debian 12 with fail2ban and nftables, and nothing that they recommend. */
function unpackBareRoot() {
  const directory = join(engines, 'bare')
  if (existsSync(directory)) return
  const part = `${directory}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(engines, { recursive: true })
  const wanted = '--include=fail2ban,nftables,python3-systemd,iproute2'
  const made = spawnSync('mmdebstrap', ['--variant=minbase', wanted, 'bookworm', part], { stdio: 'ignore' })
  if (made.status === 0) renameSync(part, directory)
  else say('a Debian 12 without iptables cannot be made: this needs root, mmdebstrap and a Debian mirror')
}

unpackEngines()
unpackBareRoot()
for (const program of [
  'iptables',
  'iptables-legacy',
  'ipset',
  'setpriv',
  'mmdebstrap',
  'firewalld',
  'ufw',
  'dbus-daemon',
])
  if (spawnSync('which', [program]).status !== 0) say(`${program} is not installed: the cases that need it fail`)

const [option, table, ...others] = process.argv.slice(2)
const isTable = option === '--table' && table !== undefined
const engineTests = isTable
  ? ['tests/engine/sabotage/table', ...others]
  : ['tests/engine/sabotage', ...process.argv.slice(2)]
const records = isTable ? mkdtempSync(join(tmpdir(), 'stockade-table-')) : null

const play = (name, variables) =>
  new Promise(done => {
    const record = records === null ? {} : { SABOTAGE_RECORD_ROWS: join(records, name) }
    const env = {
      ...process.env,
      STOCKADE_SABOTAGE: isTable ? 'table' : 'whole',
      STOCKADE_ENGINES: engines,
      ...record,
      ...variables,
    }
    const words = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'engine', ...engineTests]
    spawn(process.execPath, words, { cwd: root, stdio: 'inherit', env }).on('exit', code => done(code ?? 1))
  })

const firewalls = (process.env.SABOTAGE_FIREWALLS || 'nftables,iptables,legacy,ipset,firewalld').split(',')
const codes = isTable
  ? await Promise.all(firewalls.map(name => play(name, { SABOTAGE_FIREWALLS: name })))
  : [await play('all', {})]
if (records !== null) {
  const rows = readdirSync(records).flatMap(name => readRows(join(records, name)))
  const text = tableText(rows)
  writeFileSync(table, text)
  process.stdout.write(`\n${text}`)
  rmSync(records, { recursive: true })
}
process.exit(Math.max(...codes))
