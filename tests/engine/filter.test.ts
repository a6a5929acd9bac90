import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { steadyNow } from '../../packages/agent/src/clock.ts'
import { createEngineConfig } from '../../packages/agent/src/engine/config.ts'
import { createEngine } from '../../packages/agent/src/engine/engine.ts'
import { filterCheck } from '../../packages/agent/src/protection/checks/filter.ts'
import { createWindowFile } from '../../packages/agent/src/protection/checks/filter-window.ts'
import { createJournalLogins } from '../../packages/agent/src/protection/logins/journal.ts'
import { createUtmpLogins } from '../../packages/agent/src/protection/logins/utmp.ts'
import { findInterpreter } from '../../packages/agent/src/python/interpreter.ts'
import { checker, lister } from '../../packages/agent/src/python/programs.ts'
import { aHost, describeHosts, loudly, type Host } from './host.ts'
import { stamp } from './host-config.ts'
import { canRunJournald, ownJournald } from './own-journald.ts'
import { until } from '../../packages/server/src/testing/waiting.ts'

/* A real fail2ban reads a log, and the system's own records say what was tried. The days of the check pass at the word of the test. */

const day = 86_400_000

interface Guard {
  readonly host: Host
  /** What the check says now. */
  said(): Promise<string[]>
  passDay(): void
  totals(jail: string): Promise<number>
  close(): void
}

const guarded = (host: Host, journalNamespace: string | null): Guard => {
  const engine = createEngine({ socketPath: host.f2bSocket, onUp: () => undefined, onDown: () => undefined })
  let passed = 0
  const check = filterCheck({
    engine: {
      ...engine,
      connectedFor() {
        const time = engine.connectedFor()
        return time === null ? null : time + passed
      },
    },
    config: createEngineConfig({
      directory: host.f2bConfig,
      runDirectory: host.directory,
      python: findInterpreter(null),
      lister,
      checker,
    }),
    sources: [
      createUtmpLogins({ btmp: join(host.directory, 'btmp'), wtmp: join(host.directory, 'wtmp') }),
      ...(journalNamespace === null ? [] : [createJournalLogins({ namespace: journalNamespace })]),
    ],
    ownAddresses: () => [],
    file: createWindowFile({
      path: join(host.directory, 'failed-logins.json'),
      socketPath: host.f2bSocket,
      warn: text => expect.unreachable(text),
      steadyNow: () => steadyNow() + passed,
    }),
    steadyNow: () => steadyNow() + passed,
  })
  return {
    host,
    said: async () => ((await check.look()) ?? []).map(({ state, detail }) => `${state}: ${detail}`),
    passDay: () => void (passed += day),
    totals: async jail => (await engine.counts(jail)).total_failed,
    close: () => engine.close(),
  }
}

/** Waits for a look that fail2ban answers, as it does not while it starts. */
const lookUntil = (said: Guard['said'], isRight: (texts: readonly string[]) => boolean, what: string) =>
  until(() => said().then(isRight, () => false), what)

/** Failed logins as sshd notes them in btmp, written by the program of the distribution that knows its format. */
const note = async (host: Host, ip: string, times: number): Promise<void> => {
  const time = new Date().toISOString().replace(/\.(\d{3})Z$/, ',$1000+00:00')
  const line = `[6] [04711] [    ] [root    ] [ssh:notty   ] [${ip.padEnd(20)}] [${ip.padEnd(15)}] [${time}]\n`
  const dump = join(host.directory, 'dump')
  fs.writeFileSync(dump, line.repeat(times))
  await host.inside('sh', '-c', `utmpdump -r <"$0" >>"$1" 2>/dev/null`, dump, join(host.directory, 'btmp'))
}

/** Lines of a daemon whose messages the filter does not know. */
const strangeLines = (host: Host, ip: string, times: number): Promise<void> =>
  host.writeLog(`${stamp()} ${host.name} sshd[77]: login denied: user root, peer ${ip}\n`.repeat(times))

const warningOf = (failures: number, jail = 'sshd'): string =>
  `warning: ${failures} failed logins of SSH were logged since yesterday, jail ${jail} saw none: its filter does not match what sshd writes, or it reads another log`

describeHosts('failed logins that the system logged', () => {
  let guard: Guard
  beforeAll(async () => {
    const host = await aHost({ jailLocal: '[door]\nfilter = sshd[mode=aggressive]\nport = 22\nlogpath = DOOR' })
    const jailFile = join(host.f2bConfig, 'jail.local')
    const doorLog = join(host.directory, 'log', 'door.log')
    fs.writeFileSync(doorLog, '')
    fs.writeFileSync(jailFile, fs.readFileSync(jailFile, 'utf8').replace('DOOR', doorLog))
    fs.writeFileSync(join(host.directory, 'btmp'), '')
    guard = guarded(host, null)
    await guard.said()
  })
  afterAll(async () => {
    guard.close()
    await guard.host.stop()
  })

  it('are a warning where the jail counts none of them, until it counts one', async () => {
    const { host, said, passDay, totals } = guard
    await strangeLines(host, '198.51.100.7', 52)
    await note(host, '198.51.100.7', 52)
    expect(await said()).toEqual([])
    passDay()
    expect(await said()).toEqual([warningOf(52)])
    await host.attack('198.51.100.8', { times: 1 })
    await until(async () => (await totals('sshd')) === 1, 'the attempt')
    expect(await said()).toEqual([])
    passDay()
    expect(await said()).toEqual([])
  })

  it('are none where the jail counts them, whatever its thresholds are', async () => {
    const { host, said, passDay, totals } = guard
    await host.client('set', 'sshd', 'maxretry', '100')
    await host.client('set', 'sshd', 'findtime', '1')
    for (const round of [1, 2]) {
      const before = await totals('sshd')
      await note(host, '198.51.100.9', 10 * round)
      await host.attack('198.51.100.9', { times: 10 * round })
      await until(async () => (await totals('sshd')) === before + 10 * round, 'the attempts')
      expect(await said()).toEqual([])
      passDay()
      expect(await said()).toEqual([])
    }
  })

  it('are none where they come from addresses that the jail ignores', async () => {
    const { host, said, passDay } = guard
    await host.client('set', 'sshd', 'addignoreip', '203.0.113.0/24')
    await said()
    await host.attack('203.0.113.5', { times: 20 })
    await note(host, '203.0.113.5', 20)
    await said()
    passDay()
    expect(await said()).toEqual([])
  })

  it('are none after fail2ban was restarted, until another day has passed', async () => {
    const { host, said, passDay } = guard
    await note(host, '198.51.100.7', 20)
    await said()
    await host.stopEngine()
    await host.startEngine()
    await lookUntil(said, texts => texts.length === 0, 'the new fail2ban')
    passDay()
    expect(await said()).toEqual([])
    await note(host, '198.51.100.7', 21)
    await said()
    expect(await said()).toEqual([warningOf(21)])
  })

  it('are a warning with the aggressive mode and a log in another place, too', async () => {
    const { host, said, passDay, totals } = guard
    const jailFile = join(host.f2bConfig, 'jail.local')
    fs.appendFileSync(jailFile, 'enabled = true\n')
    await host.client('reload')
    await host.client('stop', 'sshd')
    // The list of jails may still have the one that was stopped.
    await lookUntil(said, () => true, 'a look at the jails that are left')
    await note(host, '198.51.100.7', 30)
    await said()
    passDay()
    expect(await said()).toEqual([warningOf(30, 'door')])
    fs.appendFileSync(
      join(host.directory, 'log', 'door.log'),
      `${stamp()} ${host.name} sshd[99]: Failed password for root from 198.51.100.8 port 40001 ssh2\n`,
    )
    await until(async () => (await totals('door')) === 1, 'the attempt')
    expect(await said()).toEqual([])
  })
})

if (!canRunJournald) loudly('SKIPPED: failed logins in the journal: needs root and systemd-journald')
else
  describeHosts('failed logins that stand in the journal', () => {
    const journald = ownJournald()
    let guard: Guard
    beforeAll(async () => {
      await journald.start()
      guard = guarded(await aHost(), journald.namespace)
      await guard.said()
    })
    afterAll(async () => {
      guard.close()
      await guard.host.stop()
      await journald.remove()
    })

    it('are a warning where the jail counts none, without those of an address that signed in', async () => {
      const { said, passDay, host, totals } = guard
      passDay()
      for (const [ip, times] of [
        ['198.51.100.7', 6],
        ['198.51.100.8', 9],
      ] as const)
        for (let n = 0; n < times; n += 1)
          journald.send(`Failed password for root from ${ip} port ${40_000 + n} ssh2`, 'sshd')
      journald.send('Accepted publickey for root from 198.51.100.8 port 40001 ssh2: ED25519 SHA256:abc', 'sshd-session')
      await until(async () => (await said()).includes(warningOf(6)), 'the warning')
      await host.attack('198.51.100.9', { times: 1 })
      await until(async () => (await totals('sshd')) === 1, 'the attempt')
      expect(await said()).toEqual([])
      await said()
      passDay()
      expect(await said()).toEqual([])
    })
  })
