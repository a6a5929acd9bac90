import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/*
 * The programs that the tests speak to: a real fail2ban, nftables and network namespaces, and a browser. As root on
 * Debian they are installed here; elsewhere it is said what is missing, and the tests that need them are skipped aloud.
 * The first argument is the suite: `daily` (`npm test`), `rest` or `all` (`npm run test:all`), or `ship` (`npm run check -- ship`).
 */
const suite = process.argv[2] ?? 'all'
const isDaily = suite === 'daily'
const needed = [
  ['fail2ban-server', 'fail2ban'],
  ['nft', 'nftables'],
  ['ip', 'iproute2'],
  ['sqlite3', 'sqlite3'],
  ['curl', 'curl'],
  ['nsenter', 'util-linux'],
  ['chromium', 'chromium'],
  ['openssl', 'openssl'],
  ['haproxy', 'haproxy'],
  ...(isDaily
    ? []
    : [
        ['pebble', 'pebble'],
        ['zsh', 'zsh'],
        ['fish', 'fish'],
      ]),
  // Whole machines and containers.
  ...(suite === 'ship'
    ? [
        ['mmdebstrap', 'mmdebstrap'],
        ['systemd-nspawn', 'systemd-container'],
        ['buildah', 'buildah'],
        ['runc', 'runc'],
        ['groff', 'groff-base'],
        ['minisign', 'minisign'],
      ]
    : []),
]
const say = text => process.stderr.write(`stockade: ${text}\n`)
const found = program =>
  (process.env.PATH ?? '')
    .split(':')
    .concat('/usr/sbin', '/sbin')
    .some(folder => existsSync(`${folder}/${program}`))
const missing = needed.filter(([program]) => !found(program)).map(([, name]) => name)
const isDebian = existsSync('/etc/debian_version')
const isRoot = process.getuid?.() === 0
const root = isRoot && isDebian
if (!isRoot)
  say('SKIPPED without root: tests with hosts (network namespaces, fail2ban, nftables), and packages on systemd')
if (missing.length > 0) {
  const names = [
    ...missing,
    ...(missing.includes('fail2ban') ? ['python3-systemd', 'python3-pyinotify', 'iptables'] : []),
    ...(missing.includes('chromium') ? ['fonts-liberation'] : []),
  ]
  if (root) {
    say(`installing for the tests: ${names.join(' ')}`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env })
    const done = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    })
    if (done.status !== 0)
      say(`SKIPPED: tests that need ${missing.join(', ')}, because Debian's packages could not be installed`)
  } else
    say(
      `SKIPPED: tests that need ${missing.join(', ')}, because ${isDebian ? 'only root may install them' : 'this is not Debian'}`,
    )
}

// The same browser for less CPU. Older systems do not have it, and nothing depends on it.
if (root && !found('chromium-headless-shell'))
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium-headless-shell'], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })

// What follows is for tests that take long.
if (isDaily) process.exit(0)

/*
 * Receivers of syslog, a web server, ipset and a library that sets the clock of single programs are not installed, only unpacked: Debian
 * allows one receiver at a time, and none of them should begin to run on this machine. What they need beyond what is there comes along. Works without root.
 */
const folder = fileURLToPath(new URL('../node_modules/.cache/stockade-syslog', import.meta.url))
const receivers = [['rsyslog', 'rsyslog-openssl'], ['syslog-ng-core'], ['nginx-light'], ['ipset'], ['libfaketime']]
const complete = `${folder}/complete-3`
if (!existsSync(complete) && existsSync('/etc/debian_version')) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const run = (command, ...args) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  const needed = () => {
    const found = receivers.flatMap(names => {
      const { stdout } = run('apt-get', 'install', '-s', '--no-install-recommends', ...names)
      return [...stdout.matchAll(/^Inst (\S+)/gm)].map(match => match[1])
    })
    return [...new Set(found)]
  }
  // A new machine has no lists of packages yet.
  if (needed().length === 0 && process.getuid?.() === 0) run('apt-get', 'update', '-qq')
  const names = needed()
  const done = names.length > 0 && run('apt-get', 'download', '-qq', ...names).status === 0
  const packages = readdirSync(folder).filter(name => name.endsWith('.deb'))
  if (done && packages.every(name => run('dpkg-deb', '-x', name, folder).status === 0)) mkdirSync(complete)
  else
    say(
      'SKIPPED: tests that need rsyslog, syslog-ng, nginx, ipset or libfaketime, because Debian has no such packages for us',
    )
  for (const name of packages) rmSync(`${folder}/${name}`)
}

/* Programs in one file each, or in one folder: nothing that they depend on is needed. */
const unpack = (title, into, version, packages, unused) => {
  const target = fileURLToPath(new URL(`../node_modules/.cache/${into}`, import.meta.url))
  const finished = `${target}/${version}`
  if (existsSync(finished) || !existsSync('/etc/debian_version')) return
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const run = (command, ...args) => spawnSync(command, args, { cwd: target, encoding: 'utf8' }).status === 0
  const load = () => run('apt-get', 'download', '-qq', ...packages)
  const isLoaded = load() || (root && run('apt-get', 'update', '-qq') && load())
  const files = readdirSync(target).filter(name => name.endsWith('.deb'))
  if (isLoaded && files.every(name => run('dpkg-deb', '-x', name, target))) mkdirSync(finished)
  else say(`SKIPPED: ${title}, because Debian has no such packages for us`)
  for (const name of files) rmSync(`${target}/${name}`)
  for (const name of unused) rmSync(`${target}/${name}`, { recursive: true, force: true })
}
unpack(
  'the test that needs prometheus and alertmanager',
  ...['stockade-monitoring', 'complete-1', ['prometheus', 'prometheus-alertmanager'], ['etc', 'lib', 'var']],
)
unpack(
  'the tests that need crowdsec-firewall-bouncer and crowdsec-custom-bouncer',
  ...['stockade-bouncers', 'complete-1', ['crowdsec-firewall-bouncer', 'crowdsec-custom-bouncer'], ['etc', 'lib']],
)
