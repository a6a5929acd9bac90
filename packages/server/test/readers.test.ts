import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { program } from '../programs.cjs'
import { eventually, freePort } from '../src/testing/index.ts'

/* The server as a process whose log nobody reads. */

const main = program('server/src/main')
const endings: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A server whose standard output and error are one pipe, and what holds the other end of it. */
const aServer = async (isFull: boolean) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'stockade-readers-'))
  endings.push(() => fs.rmSync(folder, { recursive: true, force: true }))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const reader = fs.openSync(join(folder, 'pipe'), fs.constants.O_RDWR | fs.constants.O_NONBLOCK)
  const writer = fs.openSync(join(folder, 'pipe'), 'w')
  if (isFull)
    expect(() => {
      for (;;) fs.writeSync(reader, Buffer.alloc(4096))
    }).toThrow('EAGAIN')
  const port = await freePort()
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', writer, writer],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...{ STOCKADE_DATA_DIR: join(folder, 'data'), STOCKADE_HOST: '127.0.0.1', STOCKADE_PORT: String(port) },
    },
  })
  fs.closeSync(writer)
  const ended = new Promise(resolve => child.once('exit', resolve))
  endings.push(() => {
    child.kill('SIGKILL')
    return ended
  })
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1${path}`)).status
  await eventually(async () => expect(await statusOf('/ready')).toBe(200))
  return { reader, statusOf }
}

it('a command ends with the exit code that it earned although nobody reads what it says', () => {
  const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
  const line = `{ { sleep 0.2; "$0" "$1" ban; echo "$?" >&3; } 2>&1 | true; } 3>&1`
  expect(execFileSync('sh', ['-c', line, process.execPath, launcher], { encoding: 'utf8' })).toBe('2\n')
})
it('answers while nobody reads a log that is full', async () => {
  const { reader, statusOf } = await aServer(true)
  endings.push(() => fs.closeSync(reader))
  // Each refusal is a line of the security log.
  for (let refused = 0; refused < 3; refused++) expect(await statusOf('/servers')).toBe(401)
})
it('answers after the reader of its log has gone', async () => {
  const { reader, statusOf } = await aServer(false)
  fs.closeSync(reader)
  for (let refused = 0; refused < 3; refused++) expect(await statusOf('/servers')).toBe(401)
})
