import { afterAll, beforeAll } from 'vitest'
import { aHost, loudly } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { online } from '../engine/scenarios.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'

interface EndToEnd {
  readonly server: RealServer
  readonly host: Host
  readonly serverId: string
}

/** Starts a real server and a host whose agent is online before the tests, and ends both after them. */
export const withAgent = (take: (scene: EndToEnd) => unknown): void => {
  let server: RealServer | undefined
  let host: Host | undefined
  beforeAll(async () => {
    server = await aRealServer()
    host = await aHost()
    const { serverId, token } = await server.addServer(host.name)
    await host.startAgent({ baseUrl: server.url(host), token, args: ['--verbose'] })
    const scene = { host, server, serverId }
    await online(scene)
    await take(scene)
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG'] && host) loudly(host.agentLog())
    await host?.stop()
    await server?.close()
  })
}
