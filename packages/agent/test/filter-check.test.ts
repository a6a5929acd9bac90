import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { filterCheck } from '../src/protection/checks/filter.ts'
import { createWindowFile } from '../src/protection/checks/filter-window.ts'
import { loginsIn } from '../src/protection/logins/journal.ts'
import { createUtmpLogins } from '../src/protection/logins/utmp.ts'

const hour = 3_600_000
const attacker = '198.51.100.7'

let directory: string
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-logins-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** A host with jails of SSH, and a source of logins that the test fills. A look is made each hour. */
const scene = (jails: readonly string[] = ['sshd'], more: { filter?: string } = {}) => {
  let now = 100 * hour
  let startedAt = now
  let connectedAt = now - hour
  const socketPath = join(directory, 'fail2ban.sock')
  /** As a start of fail2ban does, which makes another file. */
  const listens = () => {
    fs.writeFileSync(`${socketPath}.new`, '')
    fs.renameSync(`${socketPath}.new`, socketPath)
  }
  listens()
  const totals = new Map(jails.map(jail => [jail, 7]))
  let ignored: string[] = ['127.0.0.1/8']
  let abilities = { ignoreCommand: '', ignoreExpressions: 0, expressions: 5, actions: [] }
  let failed: string[] = []
  let accepted: string[] = []
  const steadyNow = () => now - startedAt
  const path = join(directory, 'failed-logins.json')
  const warn = (text: string): never => expect.unreachable(text)
  const startAgent = (boot: string) =>
    filterCheck({
      file: createWindowFile({ path, socketPath, warn, steadyNow, boot, booted: () => now }),
      engine: {
        jails: () => Promise.resolve([...totals.keys(), 'web']),
        counts: jail =>
          Promise.resolve({ current_bans: 0, total_banned: 0, current_failed: 0, total_failed: totals.get(jail) ?? 0 }),
        abilities: () => Promise.resolve(abilities),
        ignored: () => Promise.resolve(ignored),
        connectedFor: () => now - connectedAt,
      },
      config: {
        jails: () =>
          Promise.resolve([
            ...[...jails, 'later'].map(name => ({ name, filter: more.filter ?? 'sshd' }) as never),
            { name: 'web', filter: 'nginx-http-auth' } as never,
          ]),
      },
      sources: [
        () => {
          const logins = { failed, accepted }
          failed = []
          accepted = []
          return Promise.resolve(logins)
        },
        () => Promise.resolve({ failed: [], accepted: [] }),
      ],
      ownAddresses: () => ['198.51.100.200'],
      steadyNow,
    })
  let check = startAgent('boot')
  const look = async () => ((await check.look()) ?? []).map(({ state, detail }) => `${state}: ${detail}`)
  return {
    look,
    fails: (times: number, address = attacker) => void failed.push(...Array<string>(times).fill(address)),
    signsIn: (address = attacker) => void accepted.push(address),
    counts: (jail = 'sshd') => void totals.set(jail, (totals.get(jail) ?? 0) + 1),
    adds: (jail: string) => void totals.set(jail, 0),
    ignores: (...entries: string[]) => void (ignored = entries),
    can: (some: Partial<typeof abilities>) => void (abilities = { ...abilities, ...some }),
    restarts: () => void (connectedAt = now),
    listens,
    forgets: () => check.forget?.(),
    /** The agent ends, and another one starts after some time. */
    restartsAgent(away = 60_000, boot = 'boot') {
      now += away
      startedAt = now
      connectedAt = now
      failed = []
      accepted = []
      check = startAgent(boot)
    },
    saved: () => fs.existsSync(path),
    damages: (content: string) => fs.writeFileSync(path, content),
    /** A look at the end of each hour; what the last one said. */
    async pass(hours: number) {
      let said: string[] = []
      for (let n = 0; n < hours; n += 1) {
        now += hour
        said = await look()
      }
      return said
    },
  }
}
const text = (failures: number, time = 'since yesterday') =>
  `warning: ${failures} failed logins of SSH were logged ${time}, jail sshd saw none: its filter does not match what sshd writes, or it reads another log`

it('warns of failed logins that were logged for a day and that the jail did not count', async () => {
  const { look, fails, pass, counts } = scene()
  expect(await look()).toEqual([])
  fails(40)
  expect(await pass(12)).toEqual([])
  fails(12)
  expect(await pass(11)).toEqual([])
  expect(await pass(1)).toEqual([text(52)])
  expect(await pass(48)).toEqual([text(52, 'in the last 3 days')])
  counts()
  expect(await pass(1)).toEqual([])
  expect(await pass(48)).toEqual([])
})

it('says nothing where the jail counted one, and of few', async () => {
  const one = scene()
  await one.look()
  one.fails(500)
  await one.pass(20)
  one.counts()
  expect(await one.pass(23)).toEqual([])
  const few = scene()
  await few.look()
  few.fails(4)
  expect(await few.pass(30)).toEqual([])
})

it('says nothing of ignored addresses, of the server itself, and of addresses that signed in', async () => {
  const { look, fails, signsIn, ignores, pass } = scene()
  ignores('203.0.113.0/24', '2001:db8::/32', '127.0.0.1/8')
  await look()
  fails(20, '203.0.113.9')
  fails(20, '2001:db8::9')
  fails(20, '198.51.100.200')
  fails(20, '127.0.0.1')
  fails(20)
  await pass(3)
  signsIn()
  // A whitelist entry that is removed does not make its failures count.
  await pass(3)
  ignores('127.0.0.1/8')
  expect(await pass(30)).toEqual([])
})

it.each<[string, (on: ReturnType<typeof scene>) => void]>([
  ['fail2ban was restarted', on => on.restarts()],
  ['a jail was reloaded', on => on.forgets()],
  ['another jail was made', on => on.adds('later')],
  ['the jail was made anew', on => on.adds('sshd')],
])('begins again when %s', async (_, happens) => {
  const on = scene()
  await on.look()
  on.fails(50)
  await on.pass(20)
  happens(on)
  expect(await on.pass(20)).toEqual([])
  on.fails(6)
  expect((await on.pass(6)).join()).toMatch(/^warning: 6 failed/)
})

it('goes on with its day when the agent starts again', async () => {
  const { look, fails, signsIn, pass, restartsAgent, saved, counts } = scene()
  await look()
  await pass(2)
  expect(saved(), 'a calm host writes nothing').toBe(false)
  fails(40)
  fails(3, '203.0.113.5')
  await pass(8)
  restartsAgent()
  expect(await look()).toEqual([])
  fails(12)
  signsIn('203.0.113.5')
  await pass(8)
  restartsAgent()
  await look()
  expect(await pass(5)).toEqual([])
  expect(await pass(1)).toEqual([text(52)])
  restartsAgent()
  expect(await look()).toEqual([text(52)])
  counts()
  restartsAgent()
  expect(await look()).toEqual([])
  expect(saved()).toBe(false)
})

it.each<[string, (on: ReturnType<typeof scene>) => void]>([
  ['fail2ban was restarted, too', on => on.listens()],
  ['a jail was reloaded, too', on => on.forgets()],
  ['another jail was made', on => on.adds('later')],
  ['the agent was away for long', on => on.restartsAgent(hour)],
  ['the host was restarted', on => on.restartsAgent(0, 'another boot')],
  ['the host keeps no file', on => on.damages('{"v":1,"tallies":[{"fail')],
  ['the file is of something else', on => on.damages('{"v":1,"tallies":7}')],
])('begins its day again when the agent starts and %s', async (_, happens) => {
  const on = scene()
  await on.look()
  on.fails(50)
  await on.pass(20)
  on.restartsAgent()
  happens(on)
  expect(await on.look()).toEqual([])
  expect(await on.pass(20)).toEqual([])
})

it('does not judge what an ignorecommand, an ignoreregex or a name in ignoreip may explain', async () => {
  for (const change of [
    (on: ReturnType<typeof scene>) => on.can({ ignoreCommand: '/usr/local/bin/is-friend <ip>' }),
    (on: ReturnType<typeof scene>) => on.can({ ignoreExpressions: 1 }),
    (on: ReturnType<typeof scene>) => on.ignores('office.example'),
  ]) {
    const on = scene()
    change(on)
    await on.look()
    on.fails(50)
    expect(await on.pass(60)).toEqual([])
  }
})

it('judges several jails of SSH together, and no others', async () => {
  const both = scene(['sshd', 'inner'])
  await both.look()
  both.fails(50)
  await both.pass(20)
  both.counts('inner')
  expect(await both.pass(20)).toEqual([])
  both.fails(50)
  expect(await both.pass(25)).toEqual([
    text(50).replace('jail sshd saw none: its', 'jails sshd, inner saw none: their'),
  ])
  const other = scene(['dropbear'], { filter: 'dropbear' })
  await other.look()
  other.fails(50)
  expect(await other.pass(60)).toEqual([])
})

it('remembers a bounded number of addresses', async () => {
  const { look, fails, pass } = scene()
  await look()
  for (let n = 0; n < 6000; n += 1) fails(1, `203.0.${113 + (n >> 8)}.${n & 255}`)
  expect(await pass(25)).toEqual([text(5000)])
})

/** A record of utmp(5) as glibc has it on a machine with narrow or wide times. */
const record = (isWide: boolean, { type = 6, line = 'ssh:notty', address = attacker } = {}): Buffer => {
  const buffer = Buffer.alloc(isWide ? 400 : 384)
  buffer.writeInt16LE(type, 0)
  buffer.writeInt32LE(4711, 4)
  buffer.write(line, 8)
  buffer.write('root', 44)
  buffer.write('host.example', 76)
  if (isWide) buffer.writeBigInt64LE(1_780_000_000n, 344)
  else buffer.writeInt32LE(1_780_000_000, 340)
  const bytes = address.includes(':')
    ? Buffer.from('20010db8000000000000000000000007', 'hex')
    : Buffer.from(address.split('.').map(Number))
  bytes.copy(buffer, isWide ? 360 : 348)
  return buffer
}

it.each([
  ['x64', false],
  ['arm64', true],
])('reads the records of btmp and wtmp on %s, and only new and whole ones', async (architecture, isWide) => {
  const [btmp, wtmp] = [join(directory, 'btmp'), join(directory, 'wtmp')]
  fs.writeFileSync(btmp, record(isWide))
  const read = createUtmpLogins({ btmp, wtmp, architecture })
  expect(await read()).toEqual({ failed: [], accepted: [] })
  fs.appendFileSync(btmp, record(isWide))
  fs.appendFileSync(btmp, record(isWide, { address: '2001:db8::7' }))
  fs.appendFileSync(btmp, record(isWide, { line: 'tty1' }))
  fs.appendFileSync(btmp, record(isWide, { type: 7 }))
  fs.writeFileSync(wtmp, '')
  expect(await read()).toEqual({ failed: [attacker, '2001:db8::7'], accepted: [] })
  const torn = record(isWide, { address: '203.0.113.5' })
  fs.appendFileSync(btmp, torn.subarray(0, 100))
  fs.appendFileSync(wtmp, record(isWide, { type: 7, line: 'pts/0' }))
  expect(await read()).toEqual({ failed: [], accepted: [attacker] })
  fs.appendFileSync(btmp, torn.subarray(100))
  expect(await read()).toEqual({ failed: ['203.0.113.5'], accepted: [] })
})

it('takes nothing from a btmp that was rotated, cut or replaced, and little from a long one', async () => {
  const btmp = join(directory, 'btmp')
  const read = createUtmpLogins({ btmp, wtmp: join(directory, 'wtmp'), architecture: 'x64' })
  const failures = async () => (await read()).failed.length
  const many = Buffer.concat(Array.from({ length: 3000 }, () => record(false)))
  fs.writeFileSync(btmp, many)
  expect(await failures()).toBe(0)
  fs.renameSync(btmp, `${btmp}.1`)
  fs.writeFileSync(btmp, many)
  expect(await failures()).toBe(0)
  fs.truncateSync(btmp, 384)
  expect(await failures()).toBe(0)
  fs.appendFileSync(btmp, record(false))
  expect(await failures()).toBe(1)
  fs.appendFileSync(btmp, many)
  expect(await failures()).toBe(1000)
  fs.rmSync(btmp)
  fs.symlinkSync(`${btmp}.1`, btmp)
  expect(await failures()).toBe(0)
  fs.appendFileSync(`${btmp}.1`, record(false))
  expect(await failures()).toBe(0)
  fs.rmSync(btmp)
  fs.mkdirSync(btmp)
  expect(await failures()).toBe(0)
  fs.rmdirSync(btmp)
  fs.writeFileSync(btmp, Buffer.alloc(384 * 5, 0xff))
  fs.appendFileSync(btmp, Buffer.alloc(384 * 5, 0xff))
  expect(await failures()).toBe(0)
})

it('reads messages of sshd, and is not led astray by user names in them', () => {
  let at = 100
  const line = (message: unknown, pid = '1'): string =>
    JSON.stringify({ __MONOTONIC_TIMESTAMP: String((at += 1)), SYSLOG_PID: pid, _PID: '9', MESSAGE: message })
  const lines = [
    line('Failed password for root from 198.51.100.1 port 40001 ssh2'),
    line('Failed keyboard-interactive/pam for invalid user x from 198.51.100.2 port 40001 ssh2'),
    line('Failed password for invalid user a from 203.0.113.99 port 1 ssh2 from 2001:db8::3 port 40001 ssh2'),
    // An unknown user who tried no password, and one who did.
    line('Invalid user admin from 198.51.100.4 port 40002', '4'),
    line('Invalid user admin from 198.51.100.5 port 40002', '5'),
    line('Failed password for invalid user admin from 198.51.100.5 port 40002 ssh2', '5'),
    line('Accepted publickey for root from 198.51.100.6 port 40001 ssh2: ED25519 SHA256:abc'),
    line('Failed publickey for root from 198.51.100.7 port 40001 ssh2: ED25519 SHA256:abc'),
    line('Failed password for root from host.example port 40001 ssh2'),
    line('Connection closed by 198.51.100.8 port 40001 [preauth]'),
    line(null),
    line([70, 97]),
    '{"MESSAGE":"Failed password for root from 198.51.100.1 port 40001 ssh2"}',
    '{"__MONOTONIC_TIME',
  ]
  const { logins, lastAt } = loginsIn(lines.join('\n'), 100)
  expect(logins).toEqual({
    failed: ['198.51.100.1', '198.51.100.2', '2001:db8::3', '198.51.100.5', '198.51.100.4'],
    accepted: ['198.51.100.6'],
  })
  expect(lastAt).toBe(110)
  expect(loginsIn(lines.join('\n'), lastAt).logins.failed).toEqual([])
})
