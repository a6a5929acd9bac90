import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { loadIdentity } from '../../packages/agent/src/config.ts'
import { createMover } from '../../packages/agent/src/move/mover.ts'
import { presentIdentity, readMove } from '../../packages/agent/src/move/record.ts'
import { oneOffTransport } from '../../packages/agent/src/one-off.ts'
import { loudly, until } from '../engine/host.ts'
import { aDoor } from './door.ts'

/* The part of the agent that moves, with its real files and a real server: orders that change on the way, restarts, a full disk. */

const agent = fileURLToPath(new URL('../../packages/agent/src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-moving-'))
const smallDisk = mkdtempSync(join(tmpdir(), 'stockade-disk-'))
const mountSmallDisk = (): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'stockade-test', smallDisk], { stdio: 'ignore' })
    return true
  } catch {
    loudly('No disk can be mounted here, so the test of a full one is skipped.')
    return false
  }
}
const isMounted = mountSmallDisk()
const quiet = () => {}
const toClose: (() => void)[] = []
let own: TestServer
let url = ''
let home = ''
let warnings: string[] = []
const identity = () => JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')) as { base_url: string }

/** The part of an agent that moves, as after a start: with the files that are there, and a connection to the server. */
const aMover = (state = folder) => {
  const options = { config: folder, state, checkPace: 0 }
  const present = presentIdentity(options, {})
  const transport = oneOffTransport({
    baseUrl: present.base_url,
    apiKey: present.api_key,
    ca: null,
    pins: present.pins,
    proxy: null,
  })
  toClose.push(transport.close)
  const log = { debug: quiet, info: quiet, warn: (text: string) => void warnings.push(text) }
  const mover = createMover({ options, identity: present, transport, interval: () => 0.02, changed: quiet, log })
  /** A heartbeat, as far as the mover hears of it. */
  const beat = () =>
    transport.json('GET', '/api/v1/agent/state', { timeout: 10_000 }).then(
      () => mover.heard(null),
      (error: unknown) => mover.heard(error),
    )
  return { ...mover, beat }
}
type Moving = ReturnType<typeof aMover>
const live = async (mover: Moving, isThere: () => boolean, what: string) => {
  await until(async () => {
    await mover.beat()
    await mover.tick()
    return isThere()
  }, what)
}
const onDisk = (state = folder) => readMove(state, loadIdentity(folder))
const toTrial = async (mover: Moving, revision: number) => {
  mover.want({ revision, url })
  await mover.tick()
  expect(mover.report()).toEqual({ revision, state: 'trying', reason: null })
  expect(mover.url()).toBe(url)
}

beforeAll(async () => {
  const door = await aDoor(0)
  toClose.push(door.close)
  url = `http://127.0.0.1:${door.port}`
  own = await startServer({ env: { STOCKADE_BASE_URL: url } })
  door.leadTo(own.port)
  const { install_command } = await (await own.setUp()).client.call('POST /servers', { body: { hostname: 'web-01' } })
  home = own.url
  const token = install_command.split(' ').at(-1) ?? ''
  const enrolment = [agent, 'enroll', '--base-url', home, '--token', token, '--config', folder]
  await promisify(execFile)(process.execPath, enrolment)
})
beforeEach(() => {
  warnings = []
  rmSync(join(folder, 'move.json'), { force: true })
})
afterAll(async () => {
  for (const close of toClose) close()
  await own?.close()
  if (isMounted) execFileSync('umount', ['--lazy', smallDisk])
  for (const place of [folder, smallDisk]) rmSync(place, { recursive: true, force: true })
})

test('withdrawn on trial: it goes back at once, and keeps nothing', async () => {
  const mover = aMover()
  await toTrial(mover, 5)
  expect(onDisk()).toMatchObject({ revision: 5, state: 'trying' })
  mover.want(null)
  expect([mover.url(), mover.report(), onDisk()]).toEqual([home, undefined, null])
  // Nothing of the trial comes back.
  await mover.beat()
  await mover.tick()
  expect([mover.url(), mover.report()]).toEqual([home, undefined])
})
test('withdrawn or replaced while the server still proves itself: the answer moves nobody', async () => {
  const mover = aMover()
  mover.want({ revision: 5, url })
  const proving = mover.tick()
  mover.want(null)
  await proving
  expect([mover.url(), mover.report(), onDisk()]).toEqual([home, undefined, null])
  mover.want({ revision: 6, url })
  const provingAgain = mover.tick()
  mover.want({ revision: 7, url: 'http://127.0.0.1:1' })
  await provingAgain
  expect([mover.url(), mover.report()]).toEqual([home, undefined])
  await mover.tick()
  expect(mover.report()).toMatchObject({ revision: 7, state: 'failed', reason: expect.stringContaining('127.0.0.1:1') })
})
test('replaced on trial: it goes back and tries the other one', async () => {
  const mover = aMover()
  await toTrial(mover, 5)
  mover.want({ revision: 6, url: 'http://127.0.0.1:1' })
  expect([mover.url(), mover.report()]).toEqual([home, undefined])
  await mover.tick()
  expect(mover.report()).toMatchObject({ revision: 6, state: 'failed' })
  await toTrial(mover, 7)
  await live(mover, () => mover.report()?.state === 'moved', 'the move')
  expect(onDisk()).toMatchObject({ revision: 7, state: 'moved', url })
})
test('a trial that a restart cut off starts again, from the address that holds', async () => {
  await toTrial(aMover(), 5)
  const mover = aMover()
  expect([mover.url(), mover.report()]).toEqual([home, undefined])
  await mover.tick()
  expect([mover.url(), mover.report()?.state]).toEqual([url, 'trying'])
  await live(mover, () => mover.report()?.state === 'moved', 'the move')
  expect(aMover().url()).toBe(url)
})
test('withdrawn after the address before was shut: it stays where the server answered, also after a restart', async () => {
  const first = await aDoor(own.port)
  toClose.push(first.close)
  const gone = { ...identity(), base_url: `http://127.0.0.1:${first.port}` }
  const before = identity()
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(gone))
  try {
    const mover = aMover()
    await toTrial(mover, 5)
    await mover.beat()
    first.shut()
    mover.want(null)
    expect(mover.url()).toBe(gone.base_url)
    await live(mover, () => mover.url() === url, 'the return')
    expect(warnings).toContainEqual(expect.stringContaining('does not answer any more'))
    expect(aMover().url()).toBe(url)
  } finally {
    writeFileSync(join(folder, 'agent.json'), JSON.stringify(before))
  }
})
test('a server that asks for patience is asked later, and nothing failed', async () => {
  const busy = await startServer({ env: { STOCKADE_BASE_URL: own.url, STOCKADE_RATE_LIMIT: '5' } })
  try {
    const mover = aMover()
    let revision = 4
    const ask = () => fetch(`${busy.url}/api/v1/auth/options`).then(reply => reply.status)
    // A minute may end between the two, which resets the budget.
    await until(async () => {
      while ((await ask()) !== 429);
      mover.want({ revision: ++revision, url: busy.url })
      await mover.tick()
      return mover.report() === undefined
    }, 'the server to ask for patience')
    expect([mover.url(), onDisk()?.state, warnings]).toEqual([home, 'ordered', []])
  } finally {
    await busy.close()
  }
})
test.skipIf(!isMounted)(
  'a full disk: it says so once, holds no half file, and settles when there is room',
  async () => {
    const filler = join(smallDisk, 'filler')
    const fill = () => execFileSync('sh', ['-c', `head -c 1000000 /dev/zero > ${filler} || true`], { stdio: 'ignore' })
    fill()
    const mover = aMover(smallDisk)
    await toTrial(mover, 5)
    expect(onDisk(smallDisk)).toBeNull()
    for (let times = 0; times < 20; times++) {
      await mover.beat()
      await mover.tick()
    }
    // It would be at the address before after a restart, so it does not say that it moved.
    expect(mover.report()).toMatchObject({ revision: 5, state: 'trying' })
    expect(warnings.filter(text => text.includes('move.json cannot be written'))).toHaveLength(1)
    expect(aMover(smallDisk).url()).toBe(home)
    rmSync(filler)
    await live(mover, () => mover.report()?.state === 'moved', 'the move')
    expect(onDisk(smallDisk)).toMatchObject({ revision: 5, state: 'moved', url })
    // Full again: what it moved to holds, whatever is ordered.
    fill()
    mover.want({ revision: 6, url: 'http://127.0.0.1:1' })
    await mover.tick()
    expect(mover.report()).toMatchObject({ revision: 6, state: 'failed' })
    mover.want(null)
    expect([mover.url(), aMover(smallDisk).url()]).toEqual([url, url])
  },
)
