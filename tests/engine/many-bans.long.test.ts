import { DatabaseSync } from 'node:sqlite'
import * as fs from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aHost, describeHosts, loudly, sleep, until, type Host } from './host.ts'
import { aRecorder, type Recorder } from './recorder.ts'

/** How many bans fail2ban holds. STOCKADE_TEST_BANS=50000 takes three minutes. The heap is that of the installed agent, or a part of it. */
const count = Number(process.env['STOCKADE_TEST_BANS'] ?? 20_000)
const heap = count >= 50_000 ? 64 : 30
/** Seconds over which the processor time at rest is measured: two comparisons with fail2ban's list lie in them. */
const restSeconds = Number(process.env['STOCKADE_TEST_REST'] ?? 32)

/** Bans without firewall actions, so that fail2ban restores them at once. */
const jail = `
[crowd]
enabled = true
filter = sshd
action =
bantime = 86400
logpath = /dev/null
`

const addressAt = (index: number): string =>
  index % 10 === 0
    ? `2001:db8::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`
    : `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`

describeHosts(`${count} bans in fail2ban`, () => {
  let host: Host
  let server: Recorder

  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost({ jailLocal: jail })
    await host.stopEngine()
    fillTable(`${host.directory}/lib/f2b.sqlite3`)
    await host.startEngine()
    await until(async () => (await banned(host)) === count, 'fail2ban to restore its bans')
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG']) loudly(host.agentLog())
    await host.stop()
    await server.close()
  })

  it('are adopted once each in the heap of the installed agent', async () => {
    const { token } = await server.addServer(host.name)
    await host.startAgent({ baseUrl: server.url(host), token, heap, args: ['--verbose'] })
    await until(() => !host.agentRunning() || server.rows.length >= count, 'the adopted bans')
    expect(host.agentRunning()).toBe(true)
    expect(server.adopted.size).toBe(count)
    expect(new Set(server.rows.map(({ ip }) => ip)).size).toBe(count)
    expect(server.rows.every(({ jail }) => jail === 'crowd')).toBe(true)
    expectOnce()
    loudly(`${count} bans adopted: at most ${megabytes('VmHWM').toFixed(1)} MB resident`)
    expect(megabytes('VmHWM')).toBeLessThan(128)
  })

  it('are not reported again after a restart of the agent, and a new ban is', async () => {
    await host.stopAgent()
    await host.startAgent()
    await until(() => answers() === 2, 'the agent to reach fail2ban')
    await host.attack('203.0.113.7')
    await until(() => server.rows.length > count, 'the report of a new ban')
    expectOnce()
  })

  it('are not reported again after a restart of fail2ban, and cost nearly no processor time then', async () => {
    await host.stopEngine()
    await host.startEngine()
    await until(() => answers() === 3, 'the agent to reach fail2ban again')
    await until(async () => (await banned(host)) === count, 'fail2ban to restore its bans')
    const busy = cpuSeconds('own')
    const busyPrograms = cpuSeconds('children')
    await sleep(restSeconds * 1000)
    const [share, programs] = [cpuSeconds('own') - busy, cpuSeconds('children') - busyPrograms].map(
      seconds => (seconds / restSeconds) * 100,
    )
    loudly(
      `${count} bans at rest: ${share?.toFixed(2)} % of a core, its programs ${programs?.toFixed(2)} %, ${megabytes('VmRSS').toFixed(1)} MB`,
    )
    // A look at fail2ban's list costs as much as the list is long.
    expect(share).toBeLessThan(2 * Math.max(1, count / 20_000))
    expect(megabytes('VmHWM')).toBeLessThan(128)
    await host.attack('203.0.113.8')
    await until(() => server.rows.length > count + 1, 'the report of a new ban')
    expect(server.rows.map(({ ip }) => ip).slice(count)).toEqual(['203.0.113.7', '203.0.113.8'])
    expectOnce()
  })

  function expectOnce(): void {
    expect(server.rows.filter(row => row.deliveries !== 1 || row.unbanned_at !== null)).toEqual([])
    expect(server.complaints).toEqual([])
  }

  const answers = (): number => host.agentLog().match(/fail2ban \S+ answers/g)?.length ?? 0

  /** Of the agent's resident memory: now (VmRSS), or the largest since its start (VmHWM). */
  const megabytes = (field: 'VmRSS' | 'VmHWM'): number => {
    const status = fs.readFileSync(`/proc/${host.agentPid()}/status`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024
  }

  /** User and system time of the agent, or of its programs that have ended; the kernel counts in hundredths. */
  const cpuSeconds = (whose: 'own' | 'children'): number => {
    const stat = fs.readFileSync(`/proc/${host.agentPid()}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const first = whose === 'own' ? 11 : 13
    return (Number(fields[first]) + Number(fields[first + 1])) / 100
  }
})

async function banned(host: Host): Promise<number> {
  const status = await host.client('status', 'crowd').catch(() => '')
  return Number(/Currently banned:\s+(\d+)/.exec(status)?.[1] ?? 0)
}

/** Writes the bans into the tables that fail2ban restores them from. */
function fillTable(file: string): void {
  const database = new DatabaseSync(file)
  const now = Math.floor(Date.now() / 1000) - 600
  const data = JSON.stringify({ matches: ['a line of the log that counted, as long as such lines are'], failures: 3 })
  const bans = database.prepare(
    'INSERT INTO bans (jail, ip, timeofban, bantime, bancount, data) VALUES (?, ?, ?, ?, 1, ?)',
  )
  const current = database.prepare(
    'INSERT INTO bips (ip, jail, timeofban, bantime, bancount, data) VALUES (?, ?, ?, ?, 1, ?)',
  )
  database.exec('BEGIN')
  for (let index = 1; index <= count; index += 1) {
    bans.run('crowd', addressAt(index), now - (index % 300), 86_400, data)
    current.run(addressAt(index), 'crowd', now - (index % 300), 86_400, data)
  }
  database.exec('COMMIT')
  database.close()
}
