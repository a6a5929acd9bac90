import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until, type Host } from './host.ts'
import { carriedOut } from './scenarios.ts'
import { onStage, type RecordedScene } from './stage.ts'

interface Report {
  readonly level: string
  readonly summary: string
  readonly checks: readonly { id: string; subject: string | null; state: string; detail: string }[]
}

const reports = ({ server, serverId }: RecordedScene): Report[] =>
  server.heartbeats(serverId).flatMap(beat => (beat['protection'] ? [beat['protection'] as Report] : []))
const latest = (scene: RecordedScene): Report | undefined => reports(scene).at(-1)

/** Waits until the host reports this level with this sentence. */
async function seen(scene: RecordedScene, level: string, detail: RegExp): Promise<void> {
  await until(
    () => latest(scene)?.level === level && (latest(scene)?.checks ?? []).some(check => detail.test(check.detail)),
    90,
    `${level}: ${detail.source}`,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; last report: ${JSON.stringify(latest(scene))}`)
  })
  expect(latest(scene)?.summary).not.toBe('')
}

async function wellAgain(scene: RecordedScene): Promise<void> {
  await until(() => latest(scene)?.level === 'protected', 90, 'the level "protected"').catch((error: unknown) => {
    throw new Error(`${String(error)}; last report: ${JSON.stringify(latest(scene))}`)
  })
}

const enginePid = (host: Host): number => Number(fs.readFileSync(join(host.directory, 'run', 'f2b.pid'), 'utf8'))
const authLog = (host: Host): string => join(host.directory, 'log', 'auth.log')

/** The levels that were reported, without repetitions. */
const levels = (all: readonly Report[]): string[] =>
  all.map(({ level }) => level).filter((level, index, list) => level !== list[index - 1])

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
  { agentArgs: ['--check-pace', '0.1'], jailLocal: web },
)

onStage('a calm day', [], scene => {
  it('changes no level while bans come and go, and while fail2ban reloads and restarts', async () => {
    const { host } = scene()
    await wellAgain(scene())
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 10; i += 1) await host.client('set', 'sshd', 'banip', `203.0.113.${10 * round + i}`)
      for (let i = 0; i < 5; i += 1) await host.client('set', 'sshd', 'unbanip', `203.0.113.${10 * round + i}`)
      await host.client('reload')
      fs.renameSync(authLog(host), `${authLog(host)}.1`)
      fs.writeFileSync(authLog(host), '')
      await host.attack(`198.51.100.${round}`)
    }
    await host.stopEngine()
    await host.startEngine()
    expect((await carriedOut(scene(), 'reload-all')).success).toBe(true)
    expect((await carriedOut(scene(), 'service-restart')).success).toBe(true)
    // The checks were at work all the time: they find what is really wrong.
    await host.client('stop', 'nginx-http-auth')
    await seen(scene(), 'degraded', /^jail nginx-http-auth is enabled/)
    expect(levels(reports(scene()))).toEqual(expect.arrayContaining(['protected', 'degraded']))
    expect(levels(reports(scene())).filter(level => level !== 'unknown')).toEqual(['protected', 'degraded'])
  })
})
