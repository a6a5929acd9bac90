import { connect, createServer, type Server } from 'node:net'
import { pipeline } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crowdJail, crowdOf, fillCrowd } from './crowd.ts'
import { aHost, describeHosts, loudly, sleep, until, type Host } from './host.ts'
import { aRecorder, type Recorder } from './recorder.ts'

/** How many bans fail2ban holds. STOCKADE_TEST_BANS=50000 takes three minutes. The heap is that of the installed agent, or a part of it. */
const count = Number(process.env['STOCKADE_TEST_BANS'] ?? 20_000)
const heap = count >= 50_000 ? 64 : 30
/** Bytes of a ban in fail2ban's list: 20 of these addresses. And milliseconds after which the agent may read that list again. */
const [bytesOfBan, readEvery] = [25, 10_000]
/** Bytes of a ban in the list that says how long each lasts. */
const bytesOfLength = 75
/** Seconds at rest. */
const restSeconds = Number(process.env['STOCKADE_TEST_REST'] ?? 32)

describeHosts(`${count} bans in fail2ban`, () => {
  let host: Host
  let server: Recorder
  let relay: Server
  /** What fail2ban told the agent. */
  const read = { bytes: 0 }

  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost({ jailLocal: crowdJail })
    await fillCrowd(host, count)
    relay = createServer(agent => {
      const engine = connect(host.f2bSocket)
      engine.on('data', (bytes: Buffer) => (read.bytes += bytes.length))
      pipeline(agent, engine, agent, () => undefined)
    })
    await new Promise<void>(resolve => relay.listen(`${host.directory}/run/relay.sock`, resolve))
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG']) loudly(host.agentLog())
    await host.stop()
    relay?.close()
    await server.close()
  })

  it('are adopted once each in the heap of the installed agent', async () => {
    const { token } = await server.addServer(host.name)
    await host.startAgent({
      baseUrl: server.url(host),
      token,
      heap,
      args: ['--verbose', '--f2b-socket', `${host.directory}/run/relay.sock`],
    })
    await until(() => !host.agentRunning() || server.rows.length >= count, 'the adopted bans')
    expect(host.agentRunning()).toBe(true)
    expect(server.adopted.size).toBe(count)
    expect(new Set(server.rows.map(({ ip }) => ip)).size).toBe(count)
    expect(server.rows.every(({ jail }) => jail === 'crowd')).toBe(true)
    expectOnce()
  })

  it('are not reported again after a restart of the agent, and a new ban is', async () => {
    await host.stopAgent()
    const before = answers()
    await host.startAgent()
    await until(() => answers() > before, 'the agent to reach fail2ban')
    await host.attack('203.0.113.7')
    await until(() => server.rows.length > count, 'the report of a new ban')
    expectOnce()
  })

  it('are not reported again after a restart of fail2ban, and the list of bans is read seldom then', async () => {
    await host.stopEngine()
    const earlier = answers()
    await host.startEngine()
    await until(() => answers() > earlier, 'the agent to reach fail2ban again')
    await until(async () => (await crowdOf(host)) === count, 'fail2ban to restore its bans')
    const [before, from] = [read.bytes, Date.now()]
    await sleep(restSeconds * 1000)
    const [bytes, slept] = [read.bytes - before, Date.now() - from]
    loudly(`${count} bans at rest for ${restSeconds} s: ${(bytes / count).toFixed(1)} bytes of each read`)
    const ofList = (slept / readEvery + 1) * bytesOfBan * count
    // The lengths of so many bans are read once a minute.
    expect(bytes).toBeLessThan(ofList + (slept / 60_000 + 1) * bytesOfLength * count)
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
})
