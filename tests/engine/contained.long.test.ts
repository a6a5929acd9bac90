import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createEngine } from '../../packages/agent/src/engine/engine.ts'
import { readText } from '../../packages/agent/src/files.ts'
import { createInsideInterpreter } from '../../packages/agent/src/python/inside.ts'
import { action } from '../../packages/agent/src/python/programs.ts'
import { until } from '../../packages/server/src/testing/waiting.ts'
import { aContainer } from './containers.ts'
import type { Container } from './containers.ts'
import { describeHosts } from './host.ts'

const [earlier, first, second] = ['203.0.113.6', '203.0.113.7', '203.0.113.8']

describeHosts('an agent and a fail2ban in a container', () => {
  let container: Container
  beforeEach(async () => {
    container = await aContainer()
  })
  afterEach(() => container.end())

  const socket = () => join(container.volume('run'), 'fail2ban.sock')
  const mapped = () => container.mapped()

  /** Every check has looked, and the level is known. */
  const settled = async (level: string): Promise<string[]> => {
    await until(() => container.report().level === level, `the level ${level}: ${container.agentLog()}`)
    return (container.report().checks ?? []).map(({ id, state, detail }) => `${id} ${state}: ${detail}`).sort()
  }
  const isWatched = (jail: string): boolean => container.client('get', jail, 'actions').includes('stockade')
  const banned = (ip: string): Promise<void> => {
    container.attack(ip)
    return until(() => container.reports(ip), `a report of ${ip}: ${container.agentLog()}`)
  }

  /** A ban from before the first start of the agent, which it takes over. */
  const bannedEarlier = (): Promise<void> => {
    container.attack(earlier)
    return until(() => container.client('get', 'sshd', 'banned', earlier).trim() === '1', 'a ban before the agent')
  }
  const isAdopted = (): Promise<void> =>
    until(() => container.reports(earlier), `a report of the ban of before: ${container.agentLog()}`)

  const configText =
    'config unknown: fail2ban reads its configuration in its container, where the agent cannot check it'
  const inside = (what: string): string => `${what} lies in the container of fail2ban, out of the agent's reach`
  const hiddenLog = inside('log unknown: the log /var/log/hidden.log of jail hidden')

  it('a map leads to logs, database, action and jails of ours, also after the container was made anew', async () => {
    await container.startEngine('shared')
    await bannedEarlier()
    await container.startAgent('host', mapped())
    await until(() => isWatched('sshd') && isWatched('hidden') && isWatched('stockade'), 'the action in all jails')
    await isAdopted()
    await banned(first)
    expect(await settled('protected')).toEqual([hiddenLog])
    // What fail2ban notes comes through the shared folder.
    expect(fs.readFileSync(join(container.volume('share'), 'events.jsonl'), 'utf8')).toContain(first)

    await container.stopEngine()
    await container.startEngine('shared')
    await until(() => isWatched('sshd') && isWatched('stockade'), 'the action after the start')
    await banned(second)
  })

  it("a host without fail2ban's classes has jails of ours, made with those in the container", async () => {
    const server = join(container.directory, 'fail2ban-server')
    // With -S, Python finds no package of the distribution.
    fs.writeFileSync(server, '#!/usr/bin/python3 -S\n')
    await container.startEngine('shared')
    await container.startAgent('host', mapped(), ['--f2b-server', server])
    await until(() => isWatched('sshd') && isWatched('hidden') && isWatched('stockade'), 'the action in all jails')
    await banned(first)
    expect(await settled('protected')).toEqual([hiddenLog])
    expect(container.agentLog()).not.toContain("No module named 'fail2ban'")
  })

  it('a program that never ends keeps fail2ban from nothing, and the kernel ends it', async () => {
    await container.startEngine('shared')
    fs.writeFileSync(join(container.volume('share'), 'stockade_action.py'), action)
    const engine = createEngine({ socketPath: socket(), onUp: () => undefined, onDown: () => undefined })
    const inside = '/var/lib/stockade-agent'
    const python = createInsideInterpreter({
      engine,
      action: { name: 'stockade', file: `${inside}/stockade_action.py`, spool: `${inside}/events.jsonl` },
    })
    const mark = `endless-${process.pid}`
    const trace = join(container.volume('share'), mark)
    const run = python.run(`open('${inside}/${mark}', 'w').close()\nwhile True: pass`, {}, { timeout: 2000 })
    // It may be over before anybody has looked at it.
    const over = expect(run).rejects.toThrow('time or size limit')
    const isRunning = (): boolean =>
      fs.readdirSync('/proc').some(pid => /^\d+$/.test(pid) && (readText(`/proc/${pid}/cmdline`) ?? '').includes(mark))
    await until(() => fs.existsSync(trace), 'the program')
    expect(container.client('ping')).toContain('pong')
    await over
    await until(() => !isRunning(), 'the end of the program')
    await until(() => !container.client('status').includes('stockade-helper'), 'the end of the jail of a moment')
    engine.close()
  })

  it('with nothing mapped, bans are reported, nothing is written, and nothing false is said', async () => {
    const hostConfig = join(container.directory, 'host-etc')
    fs.cpSync('/etc/fail2ban', hostConfig, { recursive: true })
    const before = fs.readdirSync(hostConfig, { recursive: true })
    await container.startEngine('shared')
    await bannedEarlier()
    await container.startAgent('host', undefined, ['--f2b-socket', socket(), '--f2b-config', hostConfig])
    await isAdopted()
    await banned(first)
    expect(await settled('protected')).toEqual([
      configText,
      inside("database unknown: fail2ban's database /data/fail2ban.sqlite3"),
      inside('log unknown: the log /remotelogs/auth.log of jail sshd'),
      hiddenLog,
    ])
    await until(() => container.agentLog().includes('the jail stockade cannot be kept: refused'), 'the refusal')
    expect(fs.readdirSync(hostConfig, { recursive: true })).toEqual(before)
  })

  it('beside it, with the same volumes at the same paths, everything works as on a host', async () => {
    await container.startEngine('shared')
    await bannedEarlier()
    await container.startAgent('beside', undefined)
    await until(() => isWatched('sshd') && isWatched('stockade'), 'the action in all jails')
    await isAdopted()
    await banned(first)
    expect(await settled('protected')).toEqual([])
  })

  it('a container with a network of its own protects itself only, and the agent says so', async () => {
    await container.startEngine('own')
    await container.startAgent('host', mapped())
    await banned(first)
    const text =
      'this fail2ban has a network of its own, as in a container: its bans protect only what runs in that network, not this server'
    expect(await settled('unprotected')).toContain(`enforced bad: ${text}`)
    expect(container.report().summary).toBe(`${text}; bans by command still hold`)
  })

  it('links that the container makes lead the agent to no other file of the host', async () => {
    const secret = join(container.directory, 'secret')
    fs.mkdirSync(secret)
    fs.writeFileSync(join(secret, 'file'), 'as it was')
    fs.symlinkSync(join(secret, 'file'), join(container.volume('share'), 'stockade_action.py.new'))
    fs.symlinkSync(join(secret, 'file'), join(container.volume('share'), 'events.jsonl'))
    fs.rmSync(join(container.volume('etc'), 'jail.d'), { recursive: true })
    fs.symlinkSync(secret, join(container.volume('etc'), 'jail.d'))
    await container.startEngine('shared')
    await container.startAgent('host', mapped())
    await until(() => container.agentLog().includes('the jail stockade cannot be kept'), 'the refusal')
    await until(() => isWatched('sshd'), 'the action')
    expect(fs.readdirSync(secret)).toEqual(['file'])
    expect(fs.readFileSync(join(secret, 'file'), 'utf8')).toBe('as it was')
    expect(container.agentLog()).toContain('the jail stockade cannot be kept: refused')
  })
})
