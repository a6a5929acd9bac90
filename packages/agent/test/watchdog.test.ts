import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'
import { openrcScript } from '../src/units.ts'
import { until } from '../../server/src/testing/waiting.ts'
import { aLoneAgent } from './lone-agent.ts'

/* tests/engine/watchdog.long.test.ts has the real systemd. */

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const launcher = join(import.meta.dirname, '../src/python/launcher.py')
/** Prints what comes to the socket, and the process that sent it. */
const listener = `import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1].replace('@', '\\0', 1))
print('ready', flush=True)
while True:
    data, more, _, _ = s.recvmsg(4096, 256)
    print(struct.unpack('3i', more[0][2])[0], data.decode(), flush=True)
`
const listen = async (address: string) => {
  const heard: string[] = []
  const child = spawn('python3', ['-c', listener, address], { stdio: ['ignore', 'pipe', 'inherit'] })
  endings.push(() => void child.kill('SIGKILL'))
  createInterface({ input: child.stdout }).on('line', line => heard.push(line))
  await until(() => heard[0] === 'ready', 'the socket')
  return heard
}

it.each(['a file', 'an abstract name'])('tells systemd that it works on a socket that is %s, itself', async kind => {
  const agent = await aLoneAgent()
  endings.push(agent.close)
  const address = kind === 'a file' ? join(agent.folder, 'notify') : `@${agent.folder}/notify`
  const heard = await listen(address)
  const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: '400000' }
  const child = agent.start(['ignore', 'ignore', 'ignore'], env, ['python3', '-I', launcher])
  await until(() => heard.length > 4, 'signs of life')
  expect(new Set(heard.slice(1))).toEqual(new Set([`${child.pid} WATCHDOG=1`]))
})

it('writes for other init systems when it was last alive, which OpenRC judges', async () => {
  const agent = await aLoneAgent()
  endings.push(agent.close)
  const beat = join(agent.folder, 'run/beat')
  const script = openrcScript.replaceAll('/run/stockade-agent/beat', beat)
  const isHealthy = (): boolean => {
    try {
      execFileSync('sh', ['-c', `${script}\nhealthcheck`], { stdio: 'pipe' })
      return true
    } catch {
      return false
    }
  }
  // An agent from before writes no file.
  expect(isHealthy()).toBe(true)
  agent.start(['ignore', 'ignore', 'ignore'])
  await until(() => fs.existsSync(beat), 'a sign of life')
  expect(Math.abs(Number(fs.readFileSync(beat, 'utf8')) - uptime())).toBeLessThan(600)
  expect(isHealthy()).toBe(true)
  fs.writeFileSync(beat, `${Math.floor(uptime()) - 61}\n`)
  expect(isHealthy()).toBe(false)
})
