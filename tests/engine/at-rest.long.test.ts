import * as fs from 'node:fs'
import { expect, it } from 'vitest'
import { sleep, until, loudly } from './host.ts'
import { reported } from './scenarios.ts'
import { onStage } from './stage.ts'

onStage('the agent at rest', [], scene => {
  it('stays within 64 MB, nearly no processor time and one connection, and tells of a ban within 2 s of the decision', async () => {
    const { host, server } = scene()
    const latencies: number[] = []
    for (const last of [1, 2, 3]) {
      await host.attack(`192.0.2.${last}`)
      await until(() => host.bannedInEngine('sshd', `192.0.2.${last}`), 'the ban')
      const log = fs.readFileSync(`${host.directory}/log/fail2ban.log`, 'utf8')
      const decided = new RegExp(`^(\\S+ [\\d:]+),(\\d+) .*Ban 192\\.0\\.2\\.${last}$`, 'm').exec(log)
      const { received_at } = await reported(scene(), `192.0.2.${last}`)
      latencies.push(received_at - Date.parse(`${decided?.[1]}.${decided?.[2]}`))
    }
    const busy = cpuSeconds(host.agentPid())
    await sleep(10_000)
    const share = (cpuSeconds(host.agentPid()) - busy) / 10
    const resident =
      Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${host.agentPid()}/status`, 'utf8'))?.[1]) / 1024
    loudly(
      `at rest: ${resident.toFixed(1)} MB, ${(share * 100).toFixed(1)} % of a core; decision to report: ${latencies.join(', ')} ms`,
    )
    // What the reports of bans needed beside it is closed again; heartbeats and polls take turns on one.
    await until(() => connections(host.agentPid(), Number(new URL(server.url(host)).port)) === 1, 'a single connection')
    // The middle of the three: a busy machine holds up one of them.
    expect(latencies.toSorted((a, b) => a - b)[1]).toBeLessThan(2000)
    expect(resident).toBeLessThanOrEqual(64)
    expect(share).toBeLessThan(0.05)
    expect(server.complaints).toEqual([])
  })
})

/** User and system time, fields 14 and 15, in hundredths. */
function cpuSeconds(pid: number | null): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Established TCP connections of a process to a port, by the kernel's tables of its network namespace. */
function connections(pid: number | null, port: number): number {
  const own = new Set(
    fs.readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
      try {
        return /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        // It was closed in between.
        return []
      }
    }),
  )
  const remote = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')}$`)
  return ['tcp', 'tcp6']
    .flatMap(table => fs.readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map(row => row.trim().split(/\s+/))
    .filter(([, , peer, state, , , , , , inode]) => remote.test(peer ?? '') && state === '01' && own.has(inode ?? ''))
    .length
}
