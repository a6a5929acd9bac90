import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../src/log.ts'
import { until, within } from '../../server/src/testing/waiting.ts'
import { aLoneAgent } from './lone-agent.ts'

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const anAgent = async () => {
  const agent = await aLoneAgent()
  endings.push(agent.close)
  return agent
}
/** Both ends of a pipe; the writing one as a program gets it from its init system. */
const aPipe = (folder: string) => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)
  const writer = fs.openSync(path, 'w')
  endings.push(() => fs.closeSync(writer))
  return { reader, writer }
}

describe('the agent as a process', () => {
  it('goes on working after the reader of its log has gone, and ends as it should', async () => {
    const agent = await anAgent()
    const { reader, writer } = aPipe(agent.folder)
    const child = agent.start(['ignore', 'ignore', writer])
    await until(() => agent.heartbeats() > 0, 'the first heartbeat')
    fs.closeSync(reader)
    await agent.stir()
    await agent.stir()
    const ended = new Promise(resolve => child.once('exit', (code, signal) => resolve([code, signal])))
    child.kill('SIGTERM')
    expect(await within(ended, 'the end of the agent')).toEqual([0, null])
  })

  it('goes on working while nobody reads a log that is full', async () => {
    const agent = await anAgent()
    const { reader, writer } = aPipe(agent.folder)
    endings.push(() => fs.closeSync(reader))
    expect(() => {
      for (;;) fs.writeSync(reader, Buffer.alloc(4096))
    }).toThrow('EAGAIN')
    agent.start(['ignore', 'ignore', writer])
    await until(() => agent.heartbeats() > 0, 'the first heartbeat')
    await agent.stir()
  })

  it('does what it was asked although its output is closed', async () => {
    const { folder } = await anAgent()
    const program = join(import.meta.dirname, '../src/main.ts')
    const places = `--state ${folder}/state --run ${folder}/run --f2b-config ${folder}/f2b --f2b-socket ${folder}/none.sock`
    // `clean` says one thing, works on, and says another.
    const line = `{ { sleep 0.2; "$0" "$1" clean --nft /bin/false ${places}; echo "$?" >&3; } | true; } 3>&1`
    expect(execFileSync('sh', ['-c', line, process.execPath, program], { encoding: 'utf8' })).toBe('0\n')
  })
})

describe('the log', () => {
  /** A log whose clock stands, with what it wrote; `waiting` bytes are read by nobody. */
  const build = () => {
    const lines: string[] = []
    const clock = { now: 0, waiting: 0 }
    const output = {
      write: (line: string) => lines.push(line) > 0,
      get writableLength() {
        return clock.waiting
      },
    } as unknown as NodeJS.WriteStream
    const log = createLog({ verbose: true, stamp: false }, { output, now: () => clock.now })
    return { log, lines, clock }
  }

  it('writes what comes back each five seconds ever more seldom, and says how often it came', () => {
    const { log, lines, clock } = build()
    for (let second = 0; second < 86_400; second += 5) {
      clock.now = second * 1000
      log.warn(`it cannot be read: /run/stage-${second}/jail.local`)
    }
    expect(lines.length).toBeGreaterThan(24)
    expect(lines.length).toBeLessThan(40)
    expect(lines[0]).toBe('warn it cannot be read: /run/stage-0/jail.local\n')
    expect(lines.at(-1)).toMatch(/jail\.local \(and 719 times since this was last written\)\n$/)
  })
  it('writes at once what comes back after an hour, and what is another matter', () => {
    const { log, lines, clock } = build()
    for (let i = 0; i < 50; i++) log.warn('fail2ban is gone; waiting for it')
    log.info('fail2ban 1.0.2 answers')
    expect(lines).toHaveLength(4)
    clock.now = 3_600_000
    log.warn('fail2ban is gone; waiting for it')
    expect(lines.at(-1)).toBe('warn fail2ban is gone; waiting for it\n')
  })
  it('has a bound for each minute, whatever the lines say', () => {
    const { log, lines, clock } = build()
    const word = (n: number) => [...String(n)].map(digit => 'abcdefghij'[Number(digit)]).join('')
    for (let i = 0; i < 5000; i++) log.warn(word(i))
    for (let i = 0; i < 5000; i++) log.debug('looked')
    expect(lines).toHaveLength(120)
    clock.now = 60_000
    log.info('next')
    expect(lines.slice(120)).toEqual(['info 9880 lines were left out, since a minute has 120 at most\n', 'info next\n'])
  })
  it('keeps no more than a little for a reader that does not read', () => {
    const { log, lines, clock } = build()
    clock.waiting = 1e6
    for (const text of ['a', 'b', 'c']) log.warn(text)
    expect(lines).toEqual([])
    clock.waiting = 0
    log.warn('d')
    expect(lines).toEqual(['warn 3 lines were left out, since nobody read them\n', 'warn d\n'])
  })
})
