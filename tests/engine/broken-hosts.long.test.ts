import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, it } from 'vitest'
import { launcherFile, until, type AgentOptions, type Host } from './host.ts'
import { reports, seen, wellAgain } from './protection.ts'
import { bansOf, carriedOut, ended, outcomeOf, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

/** A kernel without netfilter's sockets: each program that opens one gets EPROTONOSUPPORT. */
const withoutNetfilter = `
import ctypes, os, platform, struct, sys
number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
load, equals, answer = 0x20, 0x15, 0x06
code = [(load, 0, 0, 0), (equals, 0, 5, number), (load, 0, 0, 16), (equals, 0, 3, 16),
        (load, 0, 0, 32), (equals, 0, 1, 12), (answer, 0, 0, 0x50000 | 93), (answer, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): raise OSError(ctypes.get_errno())
os.execvp(sys.argv[1], sys.argv[1:])
`

/** Takes all the room that a file system has. */
const fillUp = (path: string): void => {
  const file = fs.openSync(path, 'w')
  try {
    for (let size = 1 << 20; size >= 1; size >>= 1)
      try {
        for (;;) fs.writeSync(file, Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  } finally {
    fs.closeSync(file)
  }
}

interface ShieldReport {
  readonly supported: boolean
  readonly reason: string | null
}

onStage(
  'a host on which something is broken',
  [],
  scene => {
    const nft = (): string => join(scene().host.directory, 'nft')
    const hang = (): string => join(scene().host.directory, 'hang')
    const shields = (): ShieldReport[] =>
      scene()
        .server.heartbeats(scene().serverId)
        .map(beat => (beat['capabilities'] as { shield: ShieldReport }).shield)
    const restart = async (options: AgentOptions = {}): Promise<number> => {
      const { host } = scene()
      await host.stopAgent()
      const beats = shields().length
      await host.startAgent({ starter: [], args: ['--check-pace', '0.05'], ...options })
      return beats
    }
    const saidSince = (beats: number, reason: RegExp): Promise<void> =>
      until(
        () =>
          shields()
            .slice(beats)
            .some(shield => reason.test(shield.reason ?? '')),
        String(reason),
      )
    const isSupported = (): Promise<void> => until(() => shields().at(-1)?.supported === true, 'the shield')
    const order = async (ip: string): Promise<void> => {
      const { success, output } = await carriedOut(scene(), 'ban-ip', { ip, duration: 600 })
      expect(success, output).toBe(true)
    }
    const isInKernel = (host: Host, ip: string): Promise<boolean> =>
      host.inside('nft', 'list', 'set', 'inet', 'stockade_shield', 'ban_4').then(text => text.includes(`${ip} `))

    beforeAll(async () => {
      fs.writeFileSync(nft(), `#!/bin/sh\nwhile [ -e ${hang()} ]; do sleep 0.2; done\nexec nft "$@"\n`, { mode: 0o755 })
      await order('203.0.113.1')
      expect(await isInKernel(scene().host, '203.0.113.1')).toBe(true)
    })

    it('is online at once where nft hangs, says so, and bans by fail2ban until nft answers again', async () => {
      const { host } = scene()
      fs.writeFileSync(hang(), '')
      const beats = await restart({ args: ['--nft', nft(), '--check-pace', '0.05'] })
      await saidSince(beats, /^it was not tried yet$/)
      await host.attack('203.0.113.2')
      await reported(scene(), '203.0.113.2')
      await saidSince(beats, /^the program nft did not answer within 20 s$/)
      await seen(scene(), 'degraded', /^bans by command may not be enforced: the program nft did not answer/)
      // Of bans of jail sshd nothing is said: packets show that they hold, and fail2ban's own nft does not hang.
      await order('203.0.113.3')
      expect(await host.bannedInEngine('stockade', '203.0.113.3')).toBe(true)
      expect(await bansOf(scene(), '203.0.113.1')).toMatchObject([{ unbanned_at: null }])
      fs.rmSync(hang())
      await isSupported()
      await order('203.0.113.4')
      for (const ip of ['203.0.113.1', '203.0.113.4']) expect(await isInKernel(host, ip), ip).toBe(true)
      await wellAgain(scene())
    })

    it.each([
      ['where nft fails', { args: ['--nft', '/bin/false', '--check-pace', '0.05'] }, /nftables of this host refused: /],
      [
        'on a kernel without nf_tables',
        { starter: ['/usr/bin/python3', '-c', withoutNetfilter] },
        /^the kernel of this host has no nf_tables$/,
      ],
      [
        'without CAP_NET_ADMIN',
        { starter: ['setpriv', '--bounding-set', '-all,+dac_read_search', '--no-new-privs'] },
        /^the agent is not allowed to change nftables \(it needs CAP_NET_ADMIN\)$/,
      ],
    ] as const)(
      'says why its bans by command may not hold, and reports those of fail2ban, %s',
      async (_, how, reason) => {
        const { host } = scene()
        const beats = await restart(how)
        await saidSince(beats, reason)
        await seen(scene(), 'degraded', /^bans by command may not be enforced: /)
        const ip = `203.0.113.${10 + (beats % 200)}`
        await host.attack(ip)
        await reported(scene(), ip)
        expect(await host.agentCommand('status').catch((error: { stdout: string }) => error.stdout)).toMatch(
          /protection: degraded: /,
        )
      },
    )

    it('says that another agent holds the table, takes it over when that one is gone, and runs one agent only', async () => {
      const { host } = scene()
      await expect(host.agentCommand('run')).rejects.toThrow(/another agent runs on this host/)
      await host.stopAgent()
      const script = join(import.meta.dirname, 'shield-driver.ts')
      const program = ['/usr/bin/python3', '-I', launcherFile, process.execPath, script, 'netlink', 'stateless']
      const other = spawn('ip', ['netns', 'exec', host.name, ...program], { stdio: ['pipe', 'pipe', 'inherit'] })
      try {
        const lines = createInterface({ input: other.stdout })[Symbol.asyncIterator]()
        other.stdin.write('{"load":{"bans":[],"kept":[]}}\n')
        await lines.next()
        other.stdin.write('{"ask":"isOwned"}\n')
        const isOwned = ((await lines.next()).value as string).includes('true')
        const beats = await restart()
        if (!isOwned) return
        await saidSince(beats, /^the kernel does not let the agent change its table: it belongs to another process$/)
      } finally {
        other.kill('SIGKILL')
      }
      await isSupported()
      expect(await isInKernel(host, '203.0.113.1')).toBe(true)
    })

    it("says that fail2ban's database is gone, and still reports its bans", async () => {
      const { host } = scene()
      const file = join(host.directory, 'lib', 'f2b.sqlite3')
      fs.rmSync(file)
      await seen(scene(), 'degraded', /^fail2ban's database \S+ is gone: its bans do not survive a restart$/)
      await host.attack('203.0.113.242')
      await reported(scene(), '203.0.113.242')
      await host.client('set', 'sshd', 'unbanip', '203.0.113.242')
      await ended(scene(), '203.0.113.242')
      await host.stopEngine()
      await host.startEngine()
      await host.attack('203.0.113.243')
      await reported(scene(), '203.0.113.243')
      await wellAgain(scene())
    })

    it('names a second fail2ban', async () => {
      const { host } = scene()
      const path = (...parts: string[]): string => join(host.directory, ...parts)
      fs.cpSync(path('etc'), path('etc2'), { recursive: true })
      const local = fs.readFileSync(path('etc2', 'fail2ban.local'), 'utf8')
      const own = local
        .replace(path('run', 'f2b.sock'), path('run', 'other'))
        .replace(path('run', 'f2b.pid'), path('run', 'fail2ban.pid'))
        .replace('f2b.sqlite3', 'f2b2.sqlite3')
      fs.writeFileSync(path('etc2', 'fail2ban.local'), own)
      fs.writeFileSync(path('etc2', 'jail.local'), '')
      await host.inside('fail2ban-client', '-c', path('etc2'), 'start')
      try {
        await seen(scene(), 'protected', /^a second fail2ban runs on this server \(\S+\/run\/other\)/)
      } finally {
        await host.inside('fail2ban-client', '-c', path('etc2'), 'stop')
      }
      await until(
        () =>
          reports(scene())
            .at(-1)
            ?.checks.every(({ id }) => id !== 'engine') === true,
        'its end',
      )
    })

    it('loses no ban while its disk is full, and says so', async () => {
      const { host } = scene()
      const disk = join(host.directory, 'disk')
      fs.mkdirSync(disk)
      await host.stopAgent()
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
      try {
        fs.cpSync(host.agentState, join(disk, 'state'), { recursive: true })
        const beats = shields().length
        await host.startAgent({ starter: [], args: ['--check-pace', '0.05', '--state', join(disk, 'state')] })
        await until(() => shields().slice(beats).at(-1)?.supported === true, 'the agent')
        await wellAgain(scene())
        fillUp(join(disk, 'filler'))
        await seen(scene(), 'degraded', /^the agent cannot write to \S+: reports and commands have to wait \(ENOSPC/)
        await host.attack('203.0.113.240')
        await until(() => host.bannedInEngine('sshd', '203.0.113.240'), 'the ban')
        const { server, serverId } = scene()
        const id = await server.order(serverId, 'ban-ip', { ip: '203.0.113.241', duration: 600 })
        await until(() => host.agentLog().includes(`command ${id} is not begun`), 'the refusal of the command')
        expect(await isInKernel(host, '203.0.113.241')).toBe(false)
        fs.rmSync(join(disk, 'filler'))
        await reported(scene(), '203.0.113.240')
        // Without a note on the disk it did not run, so the server gives it again.
        server.redeliver(id)
        expect((await outcomeOf(scene(), id)).success).toBe(true)
        expect(await isInKernel(host, '203.0.113.241')).toBe(true)
        expect(await bansOf(scene(), '203.0.113.240')).toHaveLength(1)
        await wellAgain(scene())
      } finally {
        await host.stopAgent()
        execFileSync('umount', ['-l', disk])
      }
    })
  },
  { agentArgs: ['--check-pace', '0.05'] },
)
