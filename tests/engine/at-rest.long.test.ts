import * as fs from 'node:fs'
import { expect, it } from 'vitest'
import { sleep, until } from './host.ts'
import { reported } from './scenarios.ts'
import { onStage } from './stage.ts'

/* What it needs of a core and of memory, and how soon it reports: `npm run bench -- rest`. */
onStage('the agent at rest', [], scene => {
  it('keeps one connection, and asks for nothing but commands and by heartbeats', async () => {
    const { host, server, serverId } = scene()
    // The last of what a start reports, when the jail of the agent runs.
    await until(() => server.jailDetails(serverId).some(({ name }) => name === 'stockade'), 'the report of its jails')
    for (const last of [1, 2, 3]) {
      await host.attack(`192.0.2.${last}`)
      await reported(scene(), `192.0.2.${last}`)
    }
    // What the reports of bans needed beside it is closed again; heartbeats and polls take turns on one.
    const port = Number(new URL(server.url(host)).port)
    const open = () => connections(host.agentPid(), port)
    await until(() => open() === 1, 'a single connection', open)
    const before = server.requests.length
    await sleep(10_000)
    // A minute after its start the agent compares its bans with those of the server, once.
    const isComparison = (path: string): boolean => path.endsWith('/agent/active')
    const others = server.requests
      .slice(before)
      .filter(({ path }) => !/\/(heartbeat|commands\/pending)$/.test(path) && !isComparison(path))
      .map(({ path }) => path)
    expect(others).toEqual([])
    expect(server.requests.filter(({ path }) => isComparison(path)).length).toBeLessThanOrEqual(1)
    await until(() => open() === 1, 'a single connection', open)
    expect(server.complaints).toEqual([])
  })
})

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
