import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { aHost, launcherFile, type Host } from './host.ts'
import { neighboursOf, type Neighbours } from './neighbours.ts'
import type { DriverRequest } from './shield-driver.ts'

export type Kind = 'netlink' | 'nft'
type Mode = 'stateful' | 'stateless'
export type AskDriver = (request: DriverRequest) => Promise<unknown>

/** Starts a driver in the namespace of a host, to be asked. A refusal of the kernel is thrown with its code. */
const startDriver = (host: Host, kind: Kind, mode: Mode) => {
  const script = join(import.meta.dirname, 'shield-driver.ts')
  const program = ['/usr/bin/python3', '-I', launcherFile, process.execPath, script, kind, mode]
  const child = spawn('ip', ['netns', 'exec', host.name, ...program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask: AskDriver = async request => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the driver ended')
    const reply = JSON.parse(value) as { value?: unknown; error?: string; code?: string }
    if (reply.error !== undefined) throw Object.assign(new Error(reply.error), { code: reply.code })
    return reply.value
  }
  return { child, ask }
}

export interface ShieldScene {
  readonly host: Host
  readonly neighbours: Neighbours
  /** The drivers that run. */
  readonly drivers: readonly ChildProcess[]
  readonly aDriver: (kind: Kind, mode: Mode) => AskDriver
}

/** What tests of the table of the shield need: a host, its neighbours, and drivers that end with each test. */
export const withShieldDrivers = (take: (scene: ShieldScene) => unknown): void => {
  let host: Host | undefined
  let neighbours: Neighbours | undefined
  const drivers: ChildProcess[] = []
  beforeAll(async () => {
    const started = await aHost()
    host = started
    neighbours = await neighboursOf(started)
    const aDriver = (kind: Kind, mode: Mode) => {
      const { child, ask } = startDriver(started, kind, mode)
      drivers.push(child)
      return ask
    }
    await take({ host, neighbours, drivers, aDriver })
  })
  afterEach(() => {
    for (const driver of drivers.splice(0)) driver.kill('SIGKILL')
  })
  afterAll(async () => {
    await neighbours?.end()
    await host?.stop()
  })
}
