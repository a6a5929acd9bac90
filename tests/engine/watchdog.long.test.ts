import { afterAll, beforeAll, expect, it } from 'vitest'
import { aHost, describeHosts, loudly, until, type Host } from './host.ts'
import { anInstallServer } from './install-server.ts'
import { ownMachine, type OwnMachine } from './own-machine.ts'
import { aRecorder, type Recorder } from './recorder.ts'

/* The installed agent under a real systemd, which starts it again when it is stuck. */
describeHosts('the watchdog', () => {
  let host: Host
  let server: Recorder
  let files: Awaited<ReturnType<typeof anInstallServer>>
  let machine: OwnMachine | null = null
  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost()
    files = await anInstallServer(host, server)
    const own = await ownMachine(host)
    if ('cannot' in own) return loudly(`SKIPPED: the watchdog: ${own.cannot}`)
    machine = own
  })
  afterAll(async () => {
    await machine?.end()
    files.close()
    await host.stop()
    await server.close()
  })

  it('starts an agent again whose event loop is stuck, and leaves one alone that works', async ctx => {
    if (machine === null) return ctx.skip()
    const { run } = machine
    const { token } = await server.addServer(host.name)
    expect((await run(files.install(`--token ${token}`))).stdout).toContain('Done: this host reports')
    // The unit as it is, but for the time that it grants.
    const dropIn = '/etc/systemd/system/stockade-agent.service.d'
    await run(`mkdir ${dropIn} && printf '[Service]\nWatchdogSec=16\n' >${dropIn}/soon.conf && systemctl daemon-reload`)
    await run('systemctl restart stockade-agent')
    const shown = async (name: string) => (await run(`systemctl show -P ${name} stockade-agent`)).stdout.trim()
    const isAnswered = async () =>
      (await run('/opt/stockade-agent/stockade-agent alive && echo yes || true')).stdout !== ''
    await until(isAnswered, 'the answer of the server')
    const told = await shown('WatchdogTimestampMonotonic')
    await until(async () => (await shown('WatchdogTimestampMonotonic')) !== told, 'the next sign of life')
    expect(await shown('NRestarts')).toBe('0')
    const pid = await shown('MainPID')
    await run(`kill -STOP ${pid}`)
    await until(async () => (await shown('NRestarts')) === '1', 'the restart')
    await until(isAnswered, 'the answer of the server')
    expect(await shown('MainPID')).not.toBe(pid)
    expect(await shown('NRestarts')).toBe('1')
  })
})
