import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/* The installer as it is. It runs as root only, and each of these calls ends before it changes anything. */

const script = join(import.meta.dirname, '../install.sh')
/** What it refuses first. `--pin` is refused over any plain http, once the URL is accepted. */
const refusal = (url: string): string =>
  spawnSync('sh', [script, '--base-url', url, '--pin', 'sha256//x'], { encoding: 'utf8' }).stderr

describe.skipIf(process.getuid?.() !== 0)('the installer over plain http', () => {
  it.each([
    'http://127.1evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1evil.example:8420',
    'http://127.0.0.1@evil.example',
    'http://127.0.0.1:8420@evil.example/',
    'http://localhost:x@evil.example',
    'http://localhost.evil.example',
    'http://[::1].evil.example',
    'http://[::1]@evil.example',
    'http://127.0.0.1\\@evil.example',
    'http://127.0.0.1/\\@evil.example',
    'http://127.0.0.1?@evil.example',
    'http://127.0.0.1#@evil.example',
    'http://127.0.0.1\nhttp://evil.example',
    'http://evil.example\nhttp://127.0.0.1',
    'http://xlocalhost',
    'http://127.0.0',
    'http://stockade.example',
  ])('refuses %j, which is another machine', url => {
    expect(refusal(url)).toContain('is plain http: anybody on the way could change what is installed here')
  })

  it.each([
    'http://127.0.0.1:8420',
    'http://127.0.0.53/',
    'http://localhost',
    'http://LOCALHOST:8420/below/',
    'http://stockade.localhost:8420',
    'http://[::1]:8420',
  ])('takes %j, which is this machine', url => {
    expect(refusal(url)).toContain('--pin needs an https base URL')
  })
})

/**
 * A host without fail2ban, in namespaces of its own for mounts, processes and network: `/opt` is empty, and an apt-get that notes how it was called
 * stands in for the distribution. `beside` runs before the installer and may leave processes, which end with the namespace.
 */
const onBareHost = (beside: string, options = '') => {
  const lines = [
    'mount --make-rprivate / && mount -t tmpfs tmpfs /opt && mount -t tmpfs tmpfs /run && mkdir -p /run/bin /run/there',
    'for f in /usr/sbin/* /usr/bin/*; do case $f in */fail2ban-*|*/apt-get|*/dnf|*/apk) ;; *) ln -sf $f /run/bin/ ;; esac; done',
    `printf '#!/bin/sh\\necho called >>/run/apt-called; exit 100\\n' >/run/bin/apt-get && chmod 755 /run/bin/apt-get`,
    beside,
    `PATH=/run/bin sh '${script}' --base-url http://127.0.0.1:9 --token some-token ${options}; echo "code $?"`,
    'ls -A /opt; cat /run/apt-called 2>/dev/null; exit 0',
  ]
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--net', 'sh', '-c', lines.join('\n')],
    { encoding: 'utf8' },
  )
  return { stdout, stderr }
}
const cannot = spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', '--net', 'true']).status !== 0
const hasFail2ban = spawnSync('sh', ['-c', 'command -v fail2ban-server']).status === 0
/** A container made of namespaces, with a root of its own and the host's network, and fail2ban in it; waits for its socket. */
const container = `
  root=/run/there/root; mkdir -p $root && mount -t tmpfs tmpfs $root
  mkdir -p $root/usr $root/etc $root/run/fail2ban $root/var/lib/fail2ban $root/proc $root/dev $root/tmp
  for d in bin lib lib64 sbin; do ln -s usr/$d $root/$d; done
  mount --bind /usr $root/usr; mount --bind /etc $root/etc; mount --rbind /dev $root/dev
  mkdir $root/tmp/conf && printf '[Definition]\\nloglevel = INFO\\nlogtarget = STDOUT\\nsyslogsocket = auto\\nsocket = /run/fail2ban/fail2ban.sock\\npidfile = /run/fail2ban/fail2ban.pid\\ndbfile = None\\ndbpurgeage = 1d\\n' >$root/tmp/conf/fail2ban.conf
  printf '[DEFAULT]\\nenabled = false\\n' >$root/tmp/conf/jail.conf
  unshare --mount --pid --fork --kill-child sh -c "mount -t proc proc $root/proc; exec chroot $root /usr/bin/fail2ban-server -c /tmp/conf -f start" >/run/there/log 2>&1 &
  tries=0; until grep -q fail2ban.sock /proc/net/unix || [ $tries -ge 600 ]; do tries=$((tries + 1)); sleep 0.1; done
`

describe.skipIf(process.getuid?.() !== 0 || cannot)('the installer on a host without fail2ban', () => {
  it('installs it where none runs', () => {
    const { stdout, stderr } = onBareHost('')
    expect(stdout).toMatch(/Installing fail2ban and nftables[^]*code 1\ncalled/)
    expect(stderr).toContain('cannot be installed: see what apt-get says above')
  })

  it.skipIf(!hasFail2ban)('installs no second one beside a container with one, and changes nothing', () => {
    const { stdout, stderr } = onBareHost(container)
    expect(stderr).toMatch(/fail2ban runs here already .*\(process \d+ of user 0\).*docs\/guides\/containers\.md/)
    expect(stdout).toBe('code 1\n')
  })

  it.each([
    ['a socket that listens', '/run/there/fail2ban/fail2ban.sock', 'socket /run/there/fail2ban/fail2ban.sock'],
    ['an abstract one', '\\0fail2ban', 'socket @fail2ban'],
  ])('stops for %s', (_, path, sentence) => {
    const listen = `import socket,time; s=socket.socket(socket.AF_UNIX); s.bind("${path}"); s.listen(); open("/run/there/ready","w"); time.sleep(999)`
    const { stdout, stderr } = onBareHost(
      `mkdir /run/there/fail2ban; python3 -c '${listen}' & until [ -e /run/there/ready ]; do sleep 0.1; done`,
    )
    expect(stderr).toContain(sentence)
    expect(stdout).toBe('code 1\n')
  })

  it('goes on where an administrator says that it is not the one of this host', () => {
    const stranger = `cp /usr/bin/sleep /run/there/fail2ban-server; chmod 755 /run /run/there
      setpriv --reuid 65534 --clear-groups /run/there/fail2ban-server 999 & until grep -q fail2ban-server /proc/$!/cmdline; do sleep 0.1; done`
    const first = onBareHost(stranger)
    expect(first.stderr).toMatch(/process \d+ of user 65534.*--own-fail2ban installs one/)
    expect(first.stdout).toBe('code 1\n')
    expect(onBareHost(stranger, '--own-fail2ban').stdout).toContain('called')
  })

  it('is not stopped by words that only name it', () => {
    const named = `mkfifo /run/there/never; sh -c 'read -r _ </run/there/never' fail2ban-server & tail -f /dev/null fail2ban-server 2>/dev/null &`
    expect(onBareHost(named).stdout).toContain('called')
  })
})
