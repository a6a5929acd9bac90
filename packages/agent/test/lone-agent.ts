import { spawn } from 'node:child_process'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until, within } from '../../server/src/testing/waiting.ts'

/** The agent as a process of its own, on a machine without fail2ban and without nftables, and a server that only counts its heartbeats. */
export interface LoneAgent {
  readonly folder: string
  /** @param starter what starts it, such as a launcher; else it is started by itself */
  start(stdio: StdioOptions, env?: NodeJS.ProcessEnv, starter?: readonly string[]): ChildProcess
  heartbeats(): number
  /** Changes the host's policy, at which the agent writes a line to its log and sends a heartbeat. Resolves when that has come. */
  stir(): Promise<void>
  close(): Promise<void>
}

const program = join(import.meta.dirname, '../src/main.ts')

export const aLoneAgent = async (): Promise<LoneAgent> => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'stockade-lone-'))
  for (const name of ['etc', 'f2b', 'run', 'state']) fs.mkdirSync(join(folder, name))
  let heartbeats = 0
  const server = createServer((request, response) => {
    if (request.url === '/api/v1/servers/heartbeat') heartbeats += 1
    request.resume()
    response.writeHead(503, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const identity = {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ server_id: 'a-server', api_key: 'svc_a-key', agent_id: 'an-agent' },
  }
  fs.writeFileSync(join(folder, 'etc/agent.json'), JSON.stringify(identity))
  const children: ChildProcess[] = []
  let stirred = 0
  return {
    folder,
    start(stdio, env = {}, starter = []) {
      const places = { config: 'etc', state: 'state', run: 'run', 'f2b-config': 'f2b' }
      const options = Object.entries(places).flatMap(([name, place]) => [`--${name}`, join(folder, place)])
      const alone = ['--f2b-socket', join(folder, 'none.sock'), '--nft', '/bin/false', '--service', 'client']
      const [first = '', ...words] = [...starter, process.execPath, program, 'run', ...options, ...alone]
      const child = spawn(first, words, { stdio, env: { ...process.env, STOCKADE_NETLINK_FD: '', ...env } })
      children.push(child)
      return child
    },
    heartbeats: () => heartbeats,
    async stir() {
      const before = heartbeats
      // It is not readable, and differs in length each time.
      fs.writeFileSync(join(folder, 'etc/policy.json'), `{${' '.repeat(++stirred)}`)
      await until(() => heartbeats > before, 'a heartbeat')
    },
    async close() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const ended = new Promise(resolve => child.once('exit', resolve))
        child.kill('SIGKILL')
        await within(ended, 'the end of the agent')
      }
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}
