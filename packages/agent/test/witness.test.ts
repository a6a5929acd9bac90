import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { samePlaces } from '../src/engine/places.ts'
import { createPortsCheck } from '../src/protection/checks/ports.ts'
import { createLogTail, parseLine, witnessCheck } from '../src/protection/checks/witness.ts'
import type { Listener } from '../src/protection/firewall/ports.ts'

const ip = '198.51.100.20'
const start = Date.UTC(2026, 10, 28, 9, 0, 0)
const stamp = (at: number): string => new Date(at).toISOString().slice(0, 23).replace('T', ' ').replace('.', ',')

/** fail2ban's own log, written as time goes on, and the check that reads it. Seconds count from the start. */
const scene = (more: { maxretry?: number; files?: string[]; isRefused?: boolean } = {}) => {
  const bans = new Map<string, Set<string>>()
  const lines: string[] = []
  let seconds = 0
  const write = (level: string, module: string, text: string): void => {
    lines.push(`${stamp(start + seconds * 1000)} fail2ban.${module.padEnd(14)} [4711]: ${level.padEnd(7)} ${text}`)
  }
  const check = witnessCheck({
    places: samePlaces,
    engine: {
      banned: () => Promise.resolve(bans),
      logTarget: () => Promise.resolve('/var/log/fail2ban.log'),
      sources: () => Promise.resolve({ files: more.files ?? ['/var/log/auth.log'], journalMatches: null }),
      thresholds: () => Promise.resolve({ maxretry: more.maxretry ?? 3, bantime: 600, findtime: 600 }),
    },
    isRefused: () => more.isRefused === true,
    readLog: () => lines.splice(0),
    now: () => seconds * 1000,
  })
  return {
    ban(jail = 'sshd', address = ip) {
      bans.set(jail, new Set([...(bans.get(jail) ?? []), address]))
      write('NOTICE', 'actions', `[${jail}] Ban ${address}`)
    },
    /** `ago`: seconds before now at which the attempts were made. */
    finds(times: number, { jail = 'sshd', address = ip, ago = 0 } = {}) {
      for (let time = 0; time < times; time += 1)
        write('INFO', 'filter', `[${jail}] Found ${address} - ${stamp(start + (seconds - ago) * 1000).slice(0, 19)}`)
    },
    again: () => write('WARNING', 'actions', `[sshd] ${ip} already banned`),
    unban() {
      bans.clear()
      write('NOTICE', 'actions', `[sshd] Unban ${ip}`)
    },
    wait(time: number) {
      seconds += time
    },
    said: async () => (await check.look())?.map(({ detail }) => detail) ?? [],
  }
}

it('tells of an address that is banned and goes on failing', async () => {
  const { ban, finds, wait, said } = scene()
  finds(3)
  ban()
  expect(await said()).toEqual([])
  for (let burst = 0; burst < 4; burst += 1) {
    wait(4)
    finds(3)
  }
  expect(await said()).toEqual([`${ip} is banned in sshd and still writes to its log (12 lines in 1 min)`])
  wait(30)
  expect(await said()).toEqual([])
})

it('tells of one that goes on slowly, and of one where fail2ban names no attempts', async () => {
  const slow = scene({ maxretry: 5, isRefused: true })
  slow.ban()
  for (let minute = 0; minute < 4; minute += 1) {
    slow.wait(60)
    slow.finds(1)
    expect(await slow.said()).toEqual([])
  }
  slow.wait(60)
  slow.finds(1)
  expect(await slow.said()).toEqual([`${ip} is banned in sshd and still writes to its log (5 lines in 4 min)`])

  const quiet = scene()
  quiet.ban()
  for (let time = 0; time < 6; time += 1) {
    quiet.wait(10)
    quiet.again()
  }
  expect(await quiet.said()).toHaveLength(1)
})

it('says nothing of lines that were under way, of old lines, and of connections that end', async () => {
  const batch = scene()
  batch.finds(3)
  batch.ban()
  batch.finds(400)
  batch.wait(2)
  batch.finds(40)
  expect(await batch.said()).toEqual([])

  const delayed = scene()
  delayed.ban()
  for (let time = 0; time < 20; time += 1) {
    delayed.wait(5)
    delayed.finds(5, { ago: 120 })
    expect(await delayed.said()).toEqual([])
  }

  const ending = scene({ maxretry: 5 })
  ending.ban()
  for (let time = 0; time < 4; time += 1) {
    ending.wait(25)
    ending.finds(1)
    expect(await ending.said()).toEqual([])
  }

  // Ten at a time, where packets show that no new connection gets through.
  const parallel = scene({ maxretry: 3, isRefused: true })
  parallel.ban()
  for (let time = 0; time < 10; time += 1) {
    parallel.wait(10)
    parallel.finds(1)
    expect(await parallel.said()).toEqual([])
  }
})

it('says nothing of bans of a range, of bans that ended, of others, and of a jail over the log of fail2ban', async () => {
  const goOn = (on: ReturnType<typeof scene>, more: Parameters<typeof on.finds>[1] = {}): void => {
    for (let time = 0; time < 6; time += 1) {
      on.wait(5)
      on.finds(3, more)
    }
  }
  const range = scene()
  range.ban('sshd', '198.51.100.0/24')
  goOn(range)
  expect(await range.said()).toEqual([])

  const ended = scene()
  ended.ban()
  goOn(ended)
  ended.unban()
  goOn(ended)
  expect(await ended.said()).toEqual([])

  const other = scene()
  other.ban()
  goOn(other, { address: '198.51.100.21' })
  goOn(other, { jail: 'web' })
  expect(await other.said()).toEqual([])

  const recidive = scene({ files: ['/var/log/fail2ban.log'] })
  recidive.ban('recidive')
  goOn(recidive, { jail: 'recidive' })
  expect(await recidive.said()).toEqual([])
})

it('reads the lines of fail2ban, and of no one who writes like it', () => {
  const line =
    '2026-11-28 09:00:01,250 fail2ban.filter         [4711]: INFO    [sshd] Found 2001:db8::7 - 2026-11-28 08:59:58'
  expect(parseLine(line)).toEqual({
    jail: 'sshd',
    ip: '2001:db8::7',
    event: 'found',
    at: start + 1250,
    attemptAt: start - 2000,
  })
  expect(parseLine(line.replace('Found 2001:db8::7 - 2026-11-28 08:59:58', 'Restore Ban 198.51.100.20'))?.event).toBe(
    'ban',
  )
  expect(parseLine(line.replace('INFO', 'DEBUG').replace('[sshd] Found', 'Found'))).toBeNull()
  expect(parseLine('2026-11-28 09:00:01,250 fail2ban.server [4711]: INFO Starting Fail2ban v1.0.2')).toBeNull()
})

it('reads a log from where it was, also after it was rotated, and no more than a bound', () => {
  const directory = fs.mkdtempSync(join(tmpdir(), 'stockade-tail-'))
  const log = join(directory, 'f.log')
  try {
    fs.writeFileSync(log, 'old\n')
    const read = createLogTail()
    expect(read(log)).toEqual([])
    fs.appendFileSync(log, 'one\ntwo\nhal')
    expect(read(log)).toEqual(['one', 'two'])
    fs.appendFileSync(log, 'f\n')
    expect(read(log)).toEqual(['half'])
    fs.renameSync(log, `${log}.1`)
    expect(read(log)).toEqual([])
    fs.writeFileSync(log, 'new\n')
    expect(read(log)).toEqual(['new'])
    fs.appendFileSync(log, `${'x'.repeat(3 * 1024 * 1024)}\nlast\n`)
    expect(read(log).at(-1)).toBe('last')
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
})

it('warns of a port on which the program listens and which its jail leaves open', async () => {
  const listening = (...ports: number[]): Listener[] =>
    ports.map(port => ({ address: null, isIPv6: false, port, inode: `${port}` }))
  const said = async (filter: string, closes: number[] | null, opens: Record<string, number[]>) => {
    const ports = closes === null ? null : closes.map(port => ({ first: port, last: port }))
    const { check, isWhollyClosed } = createPortsCheck({
      engine: { jails: () => Promise.resolve(['jail']) },
      config: { jails: () => Promise.resolve([{ name: 'jail', filter } as never]) },
      firewalls: {
        of: () => Promise.resolve([{ closed: { ports, isTcp: true, hook: 'input' } } as never]),
        keep: () => undefined,
        forget: () => undefined,
      },
      listeners: () => listening(...Object.values(opens).flat()),
      portsOf: programs =>
        Promise.resolve(
          new Map(
            Object.entries(opens).flatMap(([name, of]) => (programs.has(name) ? [[name, new Set(of)] as const] : [])),
          ),
        ),
      steadyNow: () => 0,
    })
    const found = (await check.look())?.map(({ state, detail }) => `${state}: ${detail}`) ?? []
    return [...found, isWhollyClosed('jail')]
  }
  const text = 'warning: jail jail closes port 22; sshd listens on 2222'
  expect(await said('sshd', [22], { sshd: [2222] })).toEqual([text, false])
  expect(await said('sshd', [22], { sshd: [22, 2222] })).toEqual([`${text}, too`, false])
  expect(await said('sshd', [22], { sshd: [22], nginx: [80] })).toEqual([true])
  expect(await said('sshd', null, { sshd: [2222] })).toEqual([true])
  expect(await said('sshd', [22], { nginx: [80] })).toEqual([false])
  // A web server may have more ports than those that are attacked.
  expect(await said('nginx-http-auth', [80, 443], { nginx: [80, 8080] })).toEqual([false])
  expect(await said('nginx-http-auth', [80, 443], { nginx: [8080] })).toEqual([
    'warning: jail jail closes port 80, 443; nginx listens on 8080',
    false,
  ])
  expect(await said('exim-spam', [25], { exim4: [2525] })).toHaveLength(2)
})
