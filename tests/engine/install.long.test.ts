import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildAgent } from '../../packages/agent/build.mjs'
import { aProxy } from '../../packages/agent/test/connect-proxy.ts'
import { aHost, describeHosts, until, type Host, loudly } from './host.ts'
import { anInstallServer } from './install-server.ts'
import { ownFilesystem, type OwnFilesystem } from './own-filesystem.ts'
import { aRecorder, type Recorder } from './recorder.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

/**
 * The installer for real, in a mount namespace of its own: /opt, /run and everything under /etc and /var/lib are throw-away
 * layers over the machine's, and /etc/fail2ban is the host's. There is no init system, so the test starts the agent.
 */
describeHosts('the installer', () => {
  let host: Host
  let server: Recorder
  let files: Awaited<ReturnType<typeof anInstallServer>>
  let filesUrl = ''
  let inNamespace: OwnFilesystem['run']
  let background: OwnFilesystem['background']
  let endKeeper: () => void = () => undefined
  /** Why this machine cannot give the installer a file system of its own; null when it can. */
  let cannot: string | null = null

  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost()
    files = await anInstallServer(host, server)
    filesUrl = files.url
    const own = await ownFilesystem(host)
    if ('cannot' in own) {
      cannot = own.cannot
      return loudly(`SKIPPED: the installer: ${cannot}`)
    }
    ;({ run: inNamespace, background, end: endKeeper } = own)
  })

  afterAll(async () => {
    endKeeper()
    files.close()
    await host.stop()
    await server.close()
  })

  const install = (options: string): Promise<{ stdout: string; stderr: string }> =>
    inNamespace(`curl -fsSL ${filesUrl}/install.sh | sh -s -- --no-packages --insecure-http ${options}`)

  it('a half script runs nothing', async ctx => {
    ctx.skip(cannot !== null)
    const text = fs.readFileSync(join(import.meta.dirname, '../../packages/agent/install.sh'), 'utf8')
    const half = join(host.directory, 'half.sh')
    fs.writeFileSync(half, text.slice(0, -5))
    await inNamespace(`sh ${half} --token t0ken-token || true`)
    expect((await inNamespace('ls -A /opt')).stdout).toBe('')
  })

  it('an agent that does not match its checksum is not installed', async ctx => {
    ctx.skip(cannot !== null)
    files.offered.corrupt = true
    await expect(install('--token some-token')).rejects.toThrow(/does not match its checksum/)
    files.offered.corrupt = false
    expect((await inNamespace('ls /opt/stockade-agent/releases')).stdout).toBe('')
  })

  it('plain http to another machine is refused unless told, before anything is fetched', async ctx => {
    ctx.skip(cannot !== null)
    const plain = inNamespace(`curl -fsSL ${filesUrl}/install.sh | sh -s -- --no-packages --token some-token`)
    await expect(plain).rejects.toThrow(/is plain http.*--insecure-http/s)
    await expect(install('--pin sha256//AAAA --token some-token')).rejects.toThrow(/--pin needs an https base URL/)
    expect((await inNamespace('ls -A /opt')).stdout).not.toContain('.fetch')
  })

  it('with a release key, a server can only serve what that key signed', async ctx => {
    ctx.skip(cannot !== null)
    const agent = fs.readFileSync(await buildAgent())
    const sha256 = createHash('sha256').update(agent).digest('hex')
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
    const key = join(host.directory, 'release.pem')
    fs.writeFileSync(key, publicKey.export({ type: 'spki', format: 'pem' }))
    const signed = (text: string, by = privateKey) => ({ text, signature: sign('sha256', Buffer.from(text), by) })
    const of = (digest: string) =>
      `stockade-release 1\nversion 0.1.0\nreleased 2026-12-01\nsha256 ${digest} stockade-agent.mjs\n`
    const attempt = (): Promise<unknown> => install(`--release-key ${key} --token some-token`)
    await expect(attempt()).rejects.toThrow(/has no signed manifest/)
    files.offered.manifest = signed(of(sha256), stranger)
    await expect(attempt()).rejects.toThrow(/not signed by a release key/)
    files.offered.manifest = { ...signed(of(sha256)), text: of(sha256).replace('0.1.0', '0.1.1') }
    await expect(attempt()).rejects.toThrow(/not signed by a release key/)
    files.offered.manifest = signed(of('0'.repeat(64)))
    await expect(attempt()).rejects.toThrow(/does not match its checksum/)
    expect(
      (await inNamespace('ls /opt/stockade-agent/releases; ls -A /etc/stockade-agent 2>/dev/null || true')).stdout,
    ).toBe('')
    files.offered.manifest = signed(of(sha256))
    // What is signed is installed; the made-up token is refused only afterwards.
    await expect(attempt()).rejects.toThrow(/answered 40/)
    expect((await inNamespace('ls /opt/stockade-agent/releases')).stdout).toContain('0.1.0')
    // From now on the key on the host decides, without the option.
    files.offered.manifest = signed(of(sha256), stranger)
    await expect(install('--token some-token')).rejects.toThrow(/not signed by a release key/)
    files.offered.manifest = signed(of(sha256).replace('0.1.0', '0.0.9'))
    await expect(install('--token some-token')).rejects.toThrow(/is older than 0\.1\.0/)
    await inNamespace('rm -rf /opt/stockade-agent /etc/stockade-agent')
    files.offered.manifest = null
  })

  it('repairs a fail2ban that has no iptables to call, and removing the agent keeps the repair', async ctx => {
    ctx.skip(cannot !== null)
    const jailLocal = join(host.f2bConfig, 'jail.local')
    const before = fs.readFileSync(jailLocal, 'utf8')
    const dropIn = join(host.f2bConfig, 'jail.d/zz-stockade-20-banaction.local')
    // A path with every program of this machine but iptables, and fail2ban as Debian ships it.
    await inNamespace(
      'mkdir /run/bin && for f in /usr/sbin/* /usr/bin/*; do case $f in */ip6tables*|*/iptables*) ;; *) ln -sf $f /run/bin/ ;; esac; done',
    )
    const without = (options: string): Promise<{ stdout: string; stderr: string }> =>
      inNamespace(
        `export PATH=/run/bin; curl -fsSL ${filesUrl}/install.sh | sh -s -- --no-packages --insecure-http ${options}`,
      )
    try {
      fs.writeFileSync(jailLocal, before.replaceAll('nftables-', 'iptables-'))
      // The made-up token is refused only after the repair.
      await expect(without('--token some-token')).rejects.toThrow(/answered 40/)
      expect(fs.readFileSync(dropIn, 'utf8')).toMatch(/^banaction = nftables-multiport$/m)
      const { stdout: configured } = await inNamespace('fail2ban-client -d')
      expect(configured).toContain("'addaction', 'nftables-multiport'")
      expect(configured).not.toContain("'addaction', 'iptables")
      expect((await without('--uninstall --purge')).stdout).toContain('fail2ban needs it on this host')
      expect(fs.existsSync(dropIn)).toBe(true)
    } finally {
      fs.writeFileSync(jailLocal, before)
      fs.rmSync(dropIn, { force: true })
    }
  })

  it('takes the Node.js of its server before that of the distribution, and says what it waits for', async ctx => {
    ctx.skip(cannot !== null)
    // This machine's Node.js is hidden, and its apt-get notes how it was called and reaches nothing.
    await inNamespace(
      'mkdir -p /run/fake && printf \'#!/bin/sh\\necho "$*" >>/run/fake/calls; exit 100\\n\' >/run/fake/apt-get && chmod 755 /run/fake/apt-get',
    )
    const path = '/run/fake:/usr/sbin:/usr/bin:/sbin:/bin'
    const bare = (options: string) =>
      inNamespace(
        `export PATH=${path}; mount --bind /bin/false /usr/bin/node; curl -fsSL ${filesUrl}/install.sh | sh -s -- --insecure-http ${options}; code=$?; umount /usr/bin/node; exit $code`,
      )
    const calls = async () => (await inNamespace('cat /run/fake/calls 2>/dev/null || true')).stdout
    try {
      await expect(bare('--token some-token')).rejects.toThrow(
        /neither the server nor the distribution has one.*install nodejs/,
      )
      expect(await calls()).toMatch(/update.*Timeout=10[^]*install --download-only.*Timeout=10.*nodejs/)
      await inNamespace('rm /run/fake/calls')
      files.offered.node = gzipSync(`#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
      // The made-up token is refused only afterwards.
      await expect(bare('--token some-token')).rejects.toThrow(/answered 40/)
      expect(await calls()).toBe('')
    } finally {
      files.offered.node = null
      await inNamespace('rm -rf /opt/stockade-agent /etc/stockade-agent')
    }
  })

  it('makes an image without a key, whose machine enrols at its first boot', async ctx => {
    ctx.skip(cannot !== null)
    ctx.skip((await inNamespace('command -v systemctl || true')).stdout === '')
    const { serverId, token } = await server.addServer(host.name)
    const { stdout } = await install(`--image --token ${token}`)
    expect(stdout).toContain('this host is not enrolled')
    const state = async () =>
      (await inNamespace("cd /etc/stockade-agent && stat -c '%n %a' * | sort; ls /etc/systemd/system/*.wants")).stdout
    expect(await state()).toMatch(/^enrolment-token 600\n/)
    for (const unit of ['stockade-enrol', 'stockade-agent']) expect(await state()).toContain(`${unit}.service`)
    const units = '/etc/systemd/system/stockade-enrol.service /etc/systemd/system/stockade-agent.service'
    const { stdout: verified, stderr } = await inNamespace(`systemd-analyze verify ${units} 2>&1 || true`)
    expect(`${verified}${stderr}`.split('\n').filter(line => line.includes('stockade'))).toEqual([])
    // What the unit does at the first boot.
    expect((await inNamespace('/opt/stockade-agent/enrol')).stdout).toContain(`enrolled as server ${serverId}`)
    expect(await state()).toMatch(/^agent\.json 600\n/)
    expect(await state()).not.toContain('token')
    await expect(install(`--image --token ${token}`)).rejects.toThrow(/an image of it would carry its key/)
    await inNamespace(
      'rm -rf /opt/stockade-agent /etc/stockade-agent /etc/systemd/system/stockade-* /etc/systemd/system/*.wants/stockade-*',
    )
  })

  it('installs, enrols and works, through a proxy that wants a password; upgrades; and leaves nothing behind', async ctx => {
    ctx.skip(cannot !== null)
    const authorization = `Basic ${Buffer.from('fleet:pr0xy-secret').toString('base64')}`
    const proxy = await aProxy({ host: '0.0.0.0', authorization })
    ctx.onTestFinished(proxy.close)
    const { serverId, token } = await server.addServer(host.name)
    const { stdout } = await install(`--token ${token} --proxy http://fleet:pr0xy-secret@${host.gateway}:${proxy.port}`)
    const wentThrough = (path: string): boolean => proxy.asked.some(asked => asked.endsWith(`${filesUrl}${path}`))
    expect(['/agent/stockade-agent.mjs', '/api/v1/agent/enroll'].filter(path => !wentThrough(path))).toEqual([])
    expect(stdout).toContain(`enrolled as server ${serverId}`)
    expect((await inNamespace('stat -c %a /etc/stockade-agent/agent.json')).stdout.trim()).toBe('600')

    const agent = background('/opt/stockade-agent/stockade-agent run')
    await until(
      async () =>
        (await inNamespace('/opt/stockade-agent/stockade-agent alive && echo yes || true')).stdout.includes('yes'),
      'the answer of the server',
    )
    await until(async () => (await server.engineVersion(serverId)) === '1.0.2', 'the version of fail2ban')
    const status = (await inNamespace('/opt/stockade-agent/stockade-agent status')).stdout
    expect(status).not.toContain('FAIL')
    expect(status).toContain(`${filesUrl} answers through the proxy http://${host.gateway}:${proxy.port};`)
    expect(wentThrough('/api/v1/servers/heartbeat')).toBe(true)
    expect(stdout + status).not.toContain('pr0xy-secret')
    await host.attack('203.0.113.80')
    await until(() => server.rows.some(row => row.ip === '203.0.113.80'), 'the ban')

    expect((await install('--upgrade')).stdout).toContain('is now version')
    const over = new Promise(resolve => agent.once('exit', resolve))
    agent.kill('SIGTERM')
    await within(over, 'the end of the agent')
    const removed = (await install('--uninstall --purge')).stdout
    for (const sentence of ['are removed', 'knows that the agent was removed on purpose', 'nftables and Node.js stay'])
      expect(removed).toContain(sentence)
    expect(server.farewells).toEqual([host.name])
    const left = await inNamespace(
      'ls -d /opt/stockade-agent /etc/stockade-agent /var/lib/stockade-agent /run/stockade-agent /etc/fail2ban/*/*stockade* 2>/dev/null || true',
    )
    expect(left.stdout).toBe('')
    expect(await host.client('status')).not.toContain('stockade')
    await until(() => host.bannedInNft('203.0.113.80'), 'the ban in the firewall')
  })
})
