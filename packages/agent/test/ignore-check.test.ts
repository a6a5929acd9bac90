import { expect, it } from 'vitest'
import { ignoreCheck } from '../src/protection/checks/ignore.ts'
import { bad, ok, warning } from '../src/protection/model.ts'
import type { Finding } from '../src/protection/model.ts'

const able = { ignoreCommand: '', expressions: 2, ignoreExpressions: 0, actions: ['nftables-multiport'] }

it('names a jail from which somebody took what it needs to ban, and one that hardly bans', async () => {
  const jail = {
    enabled: true,
    filter: '',
    logpath: '',
    backend: '',
    banaction: '',
    maxretry: 3,
    bantime: 600,
    findtime: 600,
  }
  const cases: readonly (readonly [Partial<typeof able>, { maxretry?: number; findtime?: number }, Finding])[] = [
    [{}, {}, ok('sshd')],
    [{ expressions: 0 }, {}, bad('sshd', 'jail sshd bans nobody: its filter has no failregex')],
    [
      { ignoreCommand: '/bin/true <ip>' },
      {},
      bad('sshd', 'jail sshd bans nobody: its ignorecommand /bin/true <ip> ignores everybody'),
    ],
    [{ ignoreCommand: '/usr/local/bin/is-friend <ip>' }, {}, ok('sshd')],
    [{ actions: ['stockade'] }, {}, bad('sshd', 'bans of jail sshd reach no firewall: it has lost its actions')],
    [
      {},
      { maxretry: 100_000 },
      warning('sshd', 'jail sshd bans hardly anybody: it takes 100000 attempts within 600 s'),
    ],
    [{}, { findtime: 1 }, warning('sshd', 'jail sshd bans hardly anybody: it takes 3 attempts within 1 s')],
    // As jails do that count the requests of a page.
    [{}, { maxretry: 300, findtime: 60 }, ok('sshd')],
  ]
  for (const [abilities, thresholds, finding] of cases) {
    const check = ignoreCheck({
      engine: {
        jails: () => Promise.resolve(['sshd']),
        ignored: () => Promise.resolve([]),
        thresholds: () => Promise.resolve({ maxretry: 3, findtime: 600, bantime: 600, ...thresholds }),
        abilities: () => Promise.resolve({ ...able, ...abilities }),
      },
      config: { jails: () => Promise.resolve([{ name: 'sshd', hasAction: true, ...jail }]) },
      now: () => 0,
    })
    expect(await check.look()).toEqual([finding])
  }
})

it('does not miss the actions of a jail that is configured without any', async () => {
  const check = ignoreCheck({
    engine: {
      jails: () => Promise.resolve(['count']),
      ignored: () => Promise.resolve([]),
      thresholds: () => Promise.resolve({ maxretry: 3, findtime: 600, bantime: 600 }),
      abilities: () => Promise.resolve({ ...able, actions: [] }),
    },
    config: { jails: () => Promise.resolve([]) },
    now: () => 0,
  })
  expect(await check.look()).toEqual([ok('count')])
})

it('calls bans too short that end at once, but not those that never end', async () => {
  const bantimes: Readonly<Record<string, number>> = { sshd: 600, mail: 9, web: -1 }
  const check = ignoreCheck({
    engine: {
      jails: () => Promise.resolve(Object.keys(bantimes)),
      ignored: () => Promise.resolve(['127.0.0.1/8', '::1']),
      thresholds: jail => Promise.resolve({ maxretry: 3, findtime: 600, bantime: bantimes[jail] ?? 0 }),
      abilities: () => Promise.resolve(able),
    },
    config: { jails: () => Promise.resolve([]) },
    now: () => 0,
  })
  expect(await check.look()).toEqual([
    ok('sshd'),
    warning('mail', 'bans of jail mail last only 9 s: its bantime is too short to stop an attack'),
    ok('web'),
  ])
})
