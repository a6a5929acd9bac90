import { afterAll, beforeAll, expect, it } from 'vitest'
import { aHost, describeHosts, loudly, type Host } from './host.ts'
import { aRecorder, type Recorder } from './recorder.ts'
import { online, scenarios, type Scene } from './scenarios.ts'

export type RecordedScene = Scene & { readonly host: Host; readonly server: Recorder }

/** A host with its agent and a recorder, for the scenarios named and for tests of its own. */
export function onStage(
  title: string,
  names: readonly (keyof typeof scenarios)[],
  more?: (scene: () => RecordedScene) => void,
  { agentArgs = [], ...settings }: Parameters<typeof aHost>[0] & { agentArgs?: readonly string[] } = {},
): void {
  describeHosts(title, () => {
    let scene: RecordedScene | null = null

    const theScene = (): RecordedScene => {
      if (!scene) throw new Error('there is no scene before beforeAll')
      return scene
    }

    beforeAll(async () => {
      const server = await aRecorder()
      const host = await aHost(settings)
      const { serverId, token } = await server.addServer(host.name)
      scene = { host, server, serverId }
      await host.startAgent({ baseUrl: server.url(host), token, args: ['--verbose', ...agentArgs] })
      await online(scene).catch((error: unknown) => {
        throw new Error(`${String(error)}; the agent's log:\n${host.agentLog().slice(-8000)}`)
      })
    })

    afterAll(async () => {
      if (process.env['STOCKADE_TEST_LOG']) loudly(scene?.host.agentLog() ?? '')
      await scene?.host.stop()
      await scene?.server.close()
    })

    for (const name of names) {
      it(name, async () => {
        await scenarios[name](theScene())
        expect(theScene().server.complaints).toEqual([])
        expect(theScene().host.agentRunning()).toBe(true)
      })
    }
    more?.(theScene)
  })
}
