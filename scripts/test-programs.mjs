import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/*
 * The programs that the tests speak to: a real fail2ban, nftables and network namespaces, and a browser. As root on
 * Debian they are installed here; elsewhere it is said what is missing, and the tests that need them are skipped aloud.
 */
const needed = [
  ['fail2ban-server', 'fail2ban'],
  ['nft', 'nftables'],
  ['ip', 'iproute2'],
  ['sqlite3', 'sqlite3'],
  ['curl', 'curl'],
  ['nsenter', 'util-linux'],
  ['chromium', 'chromium'],
  ['haproxy', 'haproxy'],
]
const found = program =>
  (process.env.PATH ?? '')
    .split(':')
    .concat('/usr/sbin', '/sbin')
    .some(folder => existsSync(`${folder}/${program}`))
const missing = needed.filter(([program]) => !found(program)).map(([, name]) => name)
if (missing.length > 0) {
  const names = [
    ...missing,
    ...(missing.includes('fail2ban') ? ['python3-systemd', 'python3-pyinotify', 'iptables'] : []),
    ...(missing.includes('chromium') ? ['fonts-liberation'] : []),
  ]
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    process.stderr.write(`stockade: installing for the tests: ${names.join(' ')}\n`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env })
    const done = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    })
    if (done.status !== 0)
      process.stderr.write('stockade: that failed; the tests that need these programs will be skipped\n')
  } else process.stderr.write(`stockade: MISSING, so some tests will be SKIPPED: ${names.join(' ')}\n`)
}
