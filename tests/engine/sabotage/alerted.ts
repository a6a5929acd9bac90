import { createClient } from '../../../packages/client/src/index.ts'
import { startServer } from '../../../packages/server/src/testing/index.ts'
import { canMonitor, startMonitoring } from '../monitoring.ts'
import type { RecordedScene } from '../stage.ts'

/* `npm run check -- prometheus`: what a damaged host reports goes on to a real server, and from there by way of Prometheus to a receiver. */

const ruleOf: Readonly<Record<string, string>> = {
  unprotected: 'StockadeServerUnprotected',
  degraded: 'StockadeServerDegraded',
}

export interface Alerted {
  /** Resolves to the milliseconds since `since` at which the receiver heard of this level; null for levels without an alert. */
  fires(level: string, since: number): Promise<number | null>
  /** Waits until the receiver has heard that it is over. */
  ends(level: string, since: number): Promise<void>
  stop(): Promise<void>
}

/** Null without the programs, and in runs that did not ask for it. */
export const alertedBy = async (scene: RecordedScene): Promise<Alerted | null> => {
  if (!canMonitor || process.env['STOCKADE_TEST_PROMETHEUS'] !== '1') return null
  const server = await startServer({ env: { STOCKADE_HOST: '0.0.0.0' } })
  const { client: admin } = await server.setUp()
  const name = scene.host.name
  const { install_command } = await admin.call('POST /servers', { body: { hostname: name } })
  const { key } = await admin.call('POST /keys', {
    body: { name: 'prometheus', permissions: 'read', scopes: ['metrics'] },
  })
  // The shipped rule waits two minutes before it reports a degraded server: too long for this many cases.
  const monitoring = await startMonitoring(server, key, { 'for: 2m': 'for: 5s' })

  let isOver = false
  const passOn = async (): Promise<void> => {
    let agent: ReturnType<typeof createClient> | null = null
    for (let sent = 0; !isOver;) {
      const beats = scene.server.heartbeats(scene.serverId)
      const body = beats[sent]
      if (!body) {
        await new Promise(resolve => setTimeout(resolve, 100))
        continue
      }
      if (!agent) {
        const token = install_command.split(' ').at(-1) ?? ''
        const { api_key } = await server.client().call('POST /agent/enroll', {
          body: { token, hostname: name, agent_id: String(body['agent_id']) },
        })
        agent = createClient({ baseUrl: server.url, token: api_key })
      }
      await agent.call('POST /servers/heartbeat', { body: body as never })
      sent++
    }
  }
  const passing = passOn()

  return {
    async fires(level, since) {
      const rule = ruleOf[level]
      if (rule === undefined) return null
      return (
        (await Promise.race([monitoring.hears('firing', rule, name, since), passing.then(neverEnds)])).heardAt - since
      )
    },
    async ends(level, since) {
      const rule = ruleOf[level]
      if (rule !== undefined) await monitoring.hears('resolved', rule, name, since)
    },
    async stop() {
      isOver = true
      await passing.catch(() => undefined)
      await monitoring.stop()
      await server.close()
    },
  }
}
const neverEnds = (): never => {
  throw new Error('reports are no longer passed on')
}
