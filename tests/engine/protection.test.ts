import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until, type Host } from './host.ts'
import { authLog, seen, wellAgain } from './protection.ts'
import { onStage } from './stage.ts'

const enginePid = (host: Host): number => Number(fs.readFileSync(join(host.directory, 'run', 'f2b.pid'), 'utf8'))

const web = `
[web]
enabled = true
filter = sshd
port = 80
banaction = iptables-multiport
logpath = /dev/null
`

onStage(
  'the state of protection on a real fail2ban and kernel',
  [],
  scene => {
    it('is protected when every ban is in the kernel, and says so on the command line', async () => {
      const { host } = scene()
      await host.client('set', 'sshd', 'banip', '203.0.113.1', '203.0.113.2', '2001:db8::1')
      await host.client('set', 'nginx-http-auth', 'banip', '203.0.113.3')
      await host.client('set', 'web', 'banip', '203.0.113.4', '2001:db8::4')
      await wellAgain(scene())
      expect(await host.agentCommand('status')).toMatch(/^ok +protection: protected: /m)
    })

    it('names a stopped fail2ban, and that it is back', async () => {
      const { host } = scene()
      await host.stopEngine()
      await seen(scene(), 'unprotected', /^fail2ban is not running/)
      expect(await host.agentCommand('status').catch((error: { stdout: string }) => error.stdout)).toMatch(
        /^warn +protection: unprotected: fail2ban is not running/m,
      )
      await host.startEngine()
      await wellAgain(scene())
    })

    it('names a fail2ban that does not answer', async () => {
      const { host } = scene()
      const pid = enginePid(host)
      process.kill(pid, 'SIGSTOP')
      try {
        await seen(scene(), 'unprotected', /^fail2ban does not answer/)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await wellAgain(scene())
    })

    it('names a jail that was stopped by hand', async () => {
      const { host } = scene()
      await host.client('stop', 'nginx-http-auth')
      await seen(scene(), 'degraded', /^jail nginx-http-auth is enabled in the configuration but does not run$/)
      await host.client('reload')
      await wellAgain(scene())
    })

    it('names a jail that ignores everybody, and one whose bans end at once', async () => {
      const { host } = scene()
      await host.client('set', 'sshd', 'addignoreip', '0.0.0.0/1', '128.0.0.0/1')
      await seen(scene(), 'degraded', /^jail sshd bans nobody: its ignoreip covers every public address$/)
      await host.client('set', 'sshd', 'delignoreip', '0.0.0.0/1')
      await host.client('set', 'sshd', 'delignoreip', '128.0.0.0/1')
      await wellAgain(scene())
      const bantime = await host.client('get', 'sshd', 'bantime')
      await host.client('set', 'sshd', 'bantime', '1')
      await seen(scene(), 'protected', /^bans of jail sshd last only 1 s/)
      await host.client('set', 'sshd', 'bantime', bantime.trim())
      await wellAgain(scene())
    })

    it('names a log that was removed or renamed', async () => {
      const { host } = scene()
      fs.rmSync(authLog(host))
      await seen(scene(), 'degraded', /auth\.log of jail sshd does not exist/)
      fs.writeFileSync(authLog(host), '')
      await wellAgain(scene())
      fs.renameSync(authLog(host), `${authLog(host)}.1`)
      await seen(scene(), 'degraded', /auth\.log of jail sshd was renamed to auth\.log\.1/)
      fs.writeFileSync(authLog(host), '')
      await wellAgain(scene())
    })

    it('names bans that a flush took out of the firewall', async () => {
      const { host } = scene()
      await host.inside('nft', 'flush', 'ruleset')
      await seen(
        scene(),
        'unprotected',
        /^bans of jail sshd are not enforced: .* is banned, but nftables table inet f2b-table is gone/,
      )
      await seen(
        scene(),
        'unprotected',
        /^bans of jail web are not enforced: .* is banned, but chain f2b-web of ip6?tables is gone/,
      )
      for (const jail of ['sshd', 'nginx-http-auth', 'web']) await host.client('restart', jail)
      await wellAgain(scene())
    })

    it('names a rule that was removed', async () => {
      const { host } = scene()
      const rules = await host.inside('nft', '-a', 'list', 'chain', 'inet', 'f2b-table', 'f2b-chain')
      const handle = /@addr-set-nginx-http-auth .*# handle (\d+)/.exec(rules)?.[1] ?? ''
      await host.inside('nft', 'delete', 'rule', 'inet', 'f2b-table', 'f2b-chain', 'handle', handle)
      await seen(
        scene(),
        'degraded',
        /203\.0\.113\.3 is banned, but no rule of nftables table inet f2b-table uses set addr-set-nginx/,
      )
      await host.client('restart', 'nginx-http-auth')
      await wellAgain(scene())
      await host.inside('iptables', '-D', 'INPUT', '-p', 'tcp', '-m', 'multiport', '--dports', '80', '-j', 'f2b-web')
      await seen(scene(), 'degraded', /203\.0\.113\.4 is banned, but no rule of iptables leads to chain f2b-web/)
      await host.client('restart', 'web')
      await wellAgain(scene())
    })

    it('names a ban that was deleted behind its back', async () => {
      const { host } = scene()
      await host.inside('nft', 'delete', 'element', 'inet', 'f2b-table', 'addr-set-sshd', '{ 203.0.113.2 }')
      await seen(
        scene(),
        'degraded',
        /^bans of jail sshd are not enforced: 203\.0\.113\.2 is banned, but it is not in set addr-set-sshd/,
      )
      await host.inside('nft', 'add', 'element', 'inet', 'f2b-table', 'addr-set-sshd', '{ 203.0.113.2 }')
      await wellAgain(scene())
    })

    it('lifts a ban of the Stockade server at once, and says so', async () => {
      const { host } = scene()
      await host.client('set', 'sshd', 'banip', host.gateway)
      await until(async () => !(await host.bannedInEngine('sshd', host.gateway)), 60, 'the end of the ban')
      await seen(
        scene(),
        'protected',
        new RegExp(`^jail sshd banned ${host.gateway}, the address of the Stockade server`),
      )
    })

    it('names published ports that bans of jails do not cover', async () => {
      const { host } = scene()
      const rule = ['PREROUTING', '-p', 'tcp', '--dport', '8080', '-j', 'DNAT', '--to-destination', '172.30.0.2:80']
      await host.inside('iptables', '-w', '-t', 'nat', '-A', ...rule)
      await seen(scene(), 'protected', /^port 8080 is forwarded to 172\.30\.0\.2:80, which bans of jails do not cover$/)
      await host.inside('iptables', '-w', '-t', 'nat', '-D', ...rule)
    })

    it('names a firewall program that is missing, before anything is banned', async () => {
      const { host } = scene()
      await host.client('unban', '--all')
      await host.stopEngine()
      const programs = join(host.directory, 'programs')
      fs.mkdirSync(programs)
      fs.symlinkSync('/usr/sbin/nft', join(programs, 'nft'))
      await host.inside('env', `PATH=/usr/bin:${programs}`, 'fail2ban-client', '-c', host.f2bConfig, 'start')
      await seen(scene(), 'degraded', /^bans of jail web reach no firewall: iptables is not installed$/)
      await host.stopEngine()
      await host.startEngine()
      await wellAgain(scene())
    })
  },
  { agentArgs: ['--check-pace', '0.03'], jailLocal: web },
)
