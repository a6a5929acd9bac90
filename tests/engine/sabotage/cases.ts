import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { stamp } from '../host-config.ts'
import { loudly, until, type Host } from '../host.ts'
import { neighboursOf, passes, sources } from '../neighbours.ts'
import { authLog, levelsSince, reports, seen, wellAgain } from '../protection.ts'
import { carriedOut } from '../scenarios.ts'
import type { RecordedScene } from '../stage.ts'
import type { Alerted } from './alerted.ts'
import { silenceBans, type FirewallKind } from './firewalls.ts'

/* What can go wrong on a host. Each case does it for real, waits until the host says so in words, repairs it, and waits until all is well. */

export type Case = (scene: RecordedScene, firewall: FirewallKind) => Promise<void>

const pidOf = (host: Host): number => Number(fs.readFileSync(join(host.directory, 'run', 'f2b.pid'), 'utf8'))

interface Delay {
  readonly what: string
  readonly seen: number
  readonly well: number
  /** When the receiver of an alert heard of it; null where nobody was asked to send one. */
  readonly alerted: number | null
}
/** The sentence of each report and how long it took; printed at the end. */
const delays: Delay[] = []
/** SABOTAGE_RECORD names a file that gets a line of JSON for each report at once: a long run may be cut off. */
const noteDelay = (delay: Delay): void => {
  delays.push(delay)
  const file = process.env['SABOTAGE_RECORD']
  if (file) fs.appendFileSync(file, `${JSON.stringify({ test: expect.getState().currentTestName, ...delay })}\n`)
}
/** Who hears of it beyond the host's own report, in `npm run check -- prometheus`. */
export const listening: { alerted: Alerted | null } = { alerted: null }

/** With the real intervals a problem has to be seen within a minute. */

/** The problem is told once, and once it is told that it is over. */
const told = async (
  scene: RecordedScene,
  act: { readonly level: string; readonly says: RegExp; do(): unknown; repair(): unknown },
): Promise<void> => {
  const from = reports(scene).length
  const startedAt = Date.now()
  await act.do()
  try {
    await seen(scene, act.level, act.says)
  } catch (error) {
    await act.repair()
    throw error
  }
  const seenAt = Date.now()
  const firing = Promise.resolve(listening.alerted?.fires(act.level, startedAt))
  const alerted = (await firing.finally(() => act.repair())) ?? null
  const repairedAt = Date.now()
  await wellAgain(scene)
  noteDelay({ what: act.says.source, seen: seenAt - startedAt, well: Date.now() - repairedAt, alerted })
  await listening.alerted?.ends(act.level, repairedAt)
  const levels = levelsSince(scene, from).filter(level => level !== 'unknown')
  const problems = levels.slice(levels.findIndex(level => level !== 'protected'))
  if (act.level !== 'protected') expect(problems.filter(level => level === 'protected')).toHaveLength(1)
}

const restartAll = async (host: Host): Promise<void> => {
  const [, list = ''] = /Jail list:\s*(.*)$/m.exec(await host.client('status')) ?? []
  for (const jail of list.split(/,\s*/)) await host.client('restart', jail)
}

export const printDelays = (title: string): void => {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  loudly(
    `${title}:\n${delays.map(({ what, seen: s, well, alerted }) => `  ${seconds(s)} s, ${alerted === null ? '' : `alert ${seconds(alerted)} s, `}well again ${seconds(well)} s: ${what}`).join('\n')}`,
  )
  delays.length = 0
}

/** The cases of every run. */
export const shortCases: Readonly<Record<string, Case>> = {
  async 'is protected when every ban is in the kernel, and says so on the command line'(scene) {
    const { host } = scene
    await host.client('set', 'sshd', 'banip', '203.0.113.1', '203.0.113.2', '2001:db8::1')
    await host.client('set', 'nginx-http-auth', 'banip', '203.0.113.3')
    await wellAgain(scene)
    expect(await host.agentCommand('status')).toMatch(/^ok +protection: protected: /m)
  },

  async 'names a stopped fail2ban, and that it is back'(scene) {
    const { host } = scene
    await told(scene, {
      level: 'unprotected',
      says: /^fail2ban is not running/,
      do: () => host.stopEngine(),
      repair: async () => {
        const status = await host.agentCommand('status').catch((error: { stdout: string }) => error.stdout)
        expect(status).toMatch(/^warn +protection: unprotected: fail2ban is not running/m)
        await host.startEngine()
      },
    })
  },

  async 'names a fail2ban that does not answer'(scene) {
    const pid = pidOf(scene.host)
    await told(scene, {
      level: 'unprotected',
      says: /^fail2ban does not answer/,
      do: () => process.kill(pid, 'SIGSTOP'),
      repair: () => process.kill(pid, 'SIGCONT'),
    })
  },

  async 'names a jail that was stopped by hand'(scene) {
    const { host } = scene
    await told(scene, {
      level: 'degraded',
      says: /^jail nginx-http-auth is enabled in the configuration but does not run$/,
      do: () => host.client('stop', 'nginx-http-auth'),
      repair: () => host.client('reload'),
    })
  },

  async 'names a jail that ignores everybody, and one whose bans end at once'(scene) {
    const { host } = scene
    await told(scene, {
      level: 'degraded',
      says: /^jail sshd bans nobody: its ignoreip covers every public address$/,
      do: () => host.client('set', 'sshd', 'addignoreip', '0.0.0.0/1', '128.0.0.0/1'),
      async repair() {
        await host.client('set', 'sshd', 'delignoreip', '0.0.0.0/1')
        await host.client('set', 'sshd', 'delignoreip', '128.0.0.0/1')
      },
    })
    const bantime = (await host.client('get', 'sshd', 'bantime')).trim()
    await told(scene, {
      level: 'protected',
      says: /^bans of jail sshd last only 1 s/,
      do: () => host.client('set', 'sshd', 'bantime', '1'),
      repair: () => host.client('set', 'sshd', 'bantime', bantime),
    })
  },

  async 'names a log that was removed or renamed'(scene) {
    const log = authLog(scene.host)
    await told(scene, {
      level: 'degraded',
      says: /auth\.log of jail sshd does not exist/,
      do: () => fs.rmSync(log),
      repair: () => fs.writeFileSync(log, ''),
    })
    await told(scene, {
      level: 'degraded',
      says: /auth\.log of jail sshd was renamed to auth\.log\.1/,
      do: () => fs.renameSync(log, `${log}.1`),
      repair: () => fs.writeFileSync(log, ''),
    })
  },

  async 'names bans that a flush took out of the firewall'(scene, firewall) {
    const { host } = scene
    await told(scene, {
      level: 'unprotected',
      says: new RegExp(`^bans of jail sshd are not enforced: .* is banned, but .*${firewall.says.flushed}`),
      do: () => firewall.flush(host),
      repair: () => restartAll(host),
    })
  },

  async 'names a rule that was removed'(scene, firewall) {
    const { host } = scene
    await told(scene, {
      level: 'degraded',
      says: new RegExp(`203\\.0\\.113\\.3 is banned, but ${firewall.says.unhooked('nginx-http-auth')}`),
      do: () => firewall.unhook(host, 'nginx-http-auth'),
      repair: () => host.client('restart', 'nginx-http-auth'),
    })
  },

  async 'names a ban that was deleted behind its back'(scene, firewall) {
    const { host } = scene
    await told(scene, {
      level: 'degraded',
      says: new RegExp(
        `^bans of jail sshd are not enforced: 203\\.0\\.113\\.2 is banned, but ${firewall.says.dropped('sshd')}`,
      ),
      do: () => firewall.drop(host, 'sshd', '203.0.113.2'),
      repair: () => host.client('restart', 'sshd'),
    })
  },

  async 'names a ban whose action failed'(scene, firewall) {
    const { host } = scene
    const jail = 'nginx-http-auth'
    const restore = await silenceBans(host, firewall, 1)
    await told(scene, {
      level: 'degraded',
      says: new RegExp(
        `^bans of jail ${jail} are not enforced: 198\\.51\\.100\\.8 is banned, but ${firewall.says.dropped(jail)}`,
      ),
      do: () => host.client('set', jail, 'banip', '198.51.100.8'),
      async repair() {
        restore()
        await host.client('set', jail, 'unbanip', '198.51.100.8')
      },
    })
  },

  async 'lifts a ban of the Stockade server at once, and says so'(scene) {
    const { host } = scene
    await host.client('set', 'sshd', 'banip', host.gateway)
    await until(async () => !(await host.bannedInEngine('sshd', host.gateway)), 'the end of the ban')
    await seen(scene, 'protected', new RegExp(`^jail sshd banned ${host.gateway}, the address of the Stockade server`))
  },

  async 'names published ports that bans of jails do not cover'(scene, firewall) {
    const { host } = scene
    await firewall.publish(host)
    await seen(scene, 'protected', new RegExp(`^${firewall.says.published}`))
    await firewall.unpublish(host)
  },
}

/** Ends the stage: no ban is left. */
export const lastCase: Case = async (scene, { banProgram }) => {
  const { host } = scene
  await host.client('unban', '--all')
  await host.stopEngine()
  // The firewall programs are in /usr/sbin.
  await host.startEngine('/usr/bin')
  await seen(scene, 'unprotected', new RegExp(`^bans of jail sshd reach no firewall: ${banProgram} is not installed$`))
  await host.stopEngine()
  await host.startEngine()
  await wellAgain(scene)
}

/** The jail `web` of the short setting uses iptables beside jails that use nftables. */
export const iptablesBeside: Case = async scene => {
  const { host } = scene
  await host.client('set', 'web', 'banip', '203.0.113.4', '2001:db8::4')
  await wellAgain(scene)
  await told(scene, {
    level: 'degraded',
    says: /203\.0\.113\.4 is banned, but no rule of iptables leads to chain f2b-web/,
    do: () => host.inside('iptables', '-D', 'INPUT', '-p', 'tcp', '-m', 'multiport', '--dports', '80', '-j', 'f2b-web'),
    repair: () => host.client('restart', 'web'),
  })
  await host.client('set', 'web', 'unbanip', '203.0.113.4', '2001:db8::4')
}

/** Debian's fail2ban calls iptables, which it only recommends: the hosts of this kind do not have it. */
export const bareCases: Readonly<Record<string, Case>> = {
  async 'names iptables, which fail2ban calls and this Debian does not have'(scene) {
    const { host } = scene
    const file = join(host.f2bConfig, 'jail.d', 'packaged.local')
    const restart = async (): Promise<void> => {
      await host.stopEngine()
      await host.startEngine()
    }
    await expect(host.inside('which', 'iptables')).rejects.toThrow()
    // With short intervals the restart itself is a problem that comes and goes.
    fs.writeFileSync(file, '[DEFAULT]\nbanaction = iptables-multiport\nbanaction_allports = iptables-allports\n')
    const startedAt = Date.now()
    await restart()
    const says = /^bans of jail sshd reach no firewall: iptables is not installed$/
    await seen(scene, 'unprotected', says)
    const seenAt = Date.now()
    fs.rmSync(file)
    await restart()
    await wellAgain(scene)
    noteDelay({ what: says.source, seen: seenAt - startedAt, well: Date.now() - seenAt, alerted: null })
  },
}

/** The cases of `npm run check -- sabotage` only. */
export const moreCases: Readonly<Record<string, Case>> = {
  async 'names a control socket that is gone'(scene) {
    const { host } = scene
    const hidden = `${host.f2bSocket}.hidden`
    await told(scene, {
      level: 'unprotected',
      says: /^fail2ban is not running/,
      do: () => fs.renameSync(host.f2bSocket, hidden),
      repair: () => fs.renameSync(hidden, host.f2bSocket),
    })
  },

  async 'names a jail that no longer reads its log'(scene) {
    const { host } = scene
    const write = (): void => void host.writeLog(`${stamp()} host sshd[1]: Accepted publickey for root\n`)
    let writing = setInterval(write, 500)
    try {
      await told(scene, {
        level: 'degraded',
        says: /^jail sshd does not read its log .*auth\.log: \d+ bytes of it are unread, and it grows$/,
        do: () => host.client('set', 'sshd', 'idle', 'on'),
        async repair() {
          clearInterval(writing)
          // fail2ban saves its position with the first line after 10 s.
          writing = setInterval(write, 12_000)
          await host.client('set', 'sshd', 'idle', 'off')
        },
      })
    } finally {
      clearInterval(writing)
    }
  },

  async 'names an action that bans nobody and says that all is well'(scene, firewall) {
    const { host } = scene
    const restore = await silenceBans(host, firewall)
    await told(scene, {
      level: 'degraded',
      says: new RegExp(`198\\.51\\.100\\.9 is banned, but ${firewall.says.dropped('sshd')}`),
      do: () => host.client('set', 'sshd', 'banip', '198.51.100.9'),
      async repair() {
        restore()
        await host.client('set', 'sshd', 'unbanip', '198.51.100.9')
      },
    })
  },

  async 'names bans of IPv6 that are lost'(scene, firewall) {
    const { host } = scene
    const restore = await silenceBans(host, {
      ...firewall,
      banProgram: firewall.banProgram.replace('iptables', 'ip6tables'),
    })
    await told(scene, {
      level: 'degraded',
      says: /2001:db8::99 is banned, but (?:it is not in |\S+ still answers its packets)/,
      do: () => host.client('set', 'sshd', 'banip', '2001:db8::99'),
      async repair() {
        restore()
        await host.client('set', 'sshd', 'unbanip', '2001:db8::99')
      },
    })
  },

  async 'puts back a whitelist that somebody took out of a jail'(scene) {
    const { host, server } = scene
    server.whitelist(['203.0.113.200'])
    const isIgnored = async (): Promise<boolean> =>
      (await host.client('get', 'sshd', 'ignoreip')).includes('203.0.113.200')
    await until(isIgnored, 'the whitelist')
    await host.client('set', 'sshd', 'delignoreip', '203.0.113.200')
    await until(isIgnored, 'the whitelist again')
    await seen(
      scene,
      'protected',
      /^somebody removed entries of the whitelist from jail sshd: the agent put them back$/,
    )
  },

  async 'proves with a line in a log that its firewall stops what fail2ban bans'(scene) {
    const { output } = await carriedOut(scene, 'self-test', { level: 'engine' })
    expect(JSON.parse(output), output).toMatchObject({ result: 'proved' })
    expect(output.match(/packets of the address that fail2ban banned by/g)).toHaveLength(2)
    // And of bans that jails hold already.
    expect(output).toMatch(/packets of 203\.0\.113\.\d, which is banned in jail sshd, do not get through/)
  },

  /** The last one: it leaves the host without its shield. */
  async 'drops what an address sends that was banned by hand where the shield does not work'(scene) {
    const { host } = scene
    const neighbours = await neighboursOf(host)
    try {
      await host.stopAgent()
      await host.startAgent({ args: ['--nft', '/nonexistent/nft'] })
      for (const source of [sources.bad, sources.bad6]) {
        await passes(() => neighbours.reachesHost(source), `${source} before its ban`)
        const { success, output } = await carriedOut(scene, 'ban-ip', { ip: source, duration: 600 })
        expect(success, output).toBe(true)
        expect(await host.bannedInEngine('stockade', source)).toBe(true)
        await until(async () => !(await neighbours.reachesHost(source)), `the ban of ${source} in the firewall`)
      }
    } finally {
      await neighbours.end()
    }
  },
}
