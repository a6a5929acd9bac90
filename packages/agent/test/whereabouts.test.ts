import { expect, it } from 'vitest'
import { createJailHandlers } from '../src/commands/jail-handlers.ts'
import { createWhereabouts } from '../src/engine/whereabouts.ts'

const line = (path: string, flags = '00010000'): string => `00000000: 00000002 00000000 ${flags} 0001 01 4711 ${path}`
const usual = '/var/run/fail2ban/fail2ban.sock'
const ours = '/srv/f2b/run/fail2ban.sock'

/** What the kernel lists, and the files of the host with their numbers or texts. */
const seen = (
  listed: readonly string[],
  files: Readonly<Record<string, string>>,
  {
    socketPath = ours,
    named = null,
    isMapped = false,
  }: { socketPath?: string; named?: string | null; isMapped?: boolean } = {},
) =>
  createWhereabouts({
    ...{ socketPath, named, isMapped },
    sockets: () => ['Num RefCount Protocol Flags Type St Inode Path', ...listed].join('\n'),
    files: { identity: path => files[path] ?? null, read: path => files[path] ?? null },
  })

it('an ordinary fail2ban has the files and the network of the server', () => {
  for (const at of [
    seen([line(usual)], { [usual]: '1' }, { socketPath: usual }),
    seen([line(usual)], { [usual]: '1', [ours]: '1' }),
  ]) {
    expect([at.hasOwnNetwork(), at.hasOwnFiles(), at.hasOtherPaths()]).toEqual([false, false, false])
    expect(at.listensAs()).not.toBeNull()
  }
  // Nobody listens, and a list that may not be read: nothing is claimed.
  expect(seen([], {}).hasOwnFiles()).toBe(false)
  expect(seen([], { [ours]: '1' }).hasOwnNetwork()).toBe(false)
})

it('a socket with another path is that of a container in the same network', () => {
  const at = seen([line('/run/x.sock'), line(usual)], { [ours]: '1' })
  expect([at.hasOwnNetwork(), at.hasOwnFiles(), at.hasOtherPaths(), at.listensAs()]).toEqual([false, true, true, usual])
  const both = seen([line(usual), line(usual)], { [ours]: '1', [usual]: '2' })
  expect([both.hasOwnNetwork(), both.hasOtherPaths()]).toEqual([false, true])
  const named = seen([line('/a/fail2ban.sock'), line('/data/f.sock')], { [ours]: '1' }, { named: '/data/f.sock' })
  expect(named.listensAs()).toBe('/data/f.sock')
})

it('a socket that this network does not list is in another network', () => {
  const own = seen([line('/run/x.sock'), line(usual, '00000000')], { [ours]: '1' })
  expect([own.hasOwnNetwork(), own.hasOwnFiles()]).toEqual([true, true])
  // The listed one belongs to a second fail2ban of the server itself.
  expect(seen([line(usual)], { [ours]: '1', [usual]: '2' }).hasOwnNetwork()).toBe(true)
})

it('a fail2ban that is process 1, or another program by its number, has a container of its own', () => {
  const pidFile = '/var/run/fail2ban/fail2ban.pid'
  const at = (files: Readonly<Record<string, string>>) =>
    seen([line(usual)], { [usual]: '1', ...files }, { socketPath: usual }).hasOwnFiles()
  expect(at({ [pidFile]: '1\n' })).toBe(true)
  expect(at({ [pidFile]: '77', '/proc/77/cmdline': 'sshd\0' })).toBe(true)
  expect(at({ [pidFile]: '77', '/proc/77/cmdline': 'python3\0/usr/bin/fail2ban-server\0' })).toBe(false)
  expect(at({ [pidFile]: '77' })).toBe(false)
  expect(at({ [pidFile]: 'x' })).toBe(false)
})

it('a fail2ban in a container is neither restarted nor reloaded from the host, and the answer says what to do', async () => {
  type Needs = Parameters<typeof createJailHandlers>[0]
  // It asks before it uses anything else.
  const needs = { isRestartable: () => false, reloader: () => null } as Partial<Needs> as Needs
  const handlers = createJailHandlers(needs)
  await expect(handlers['service-restart']({}, '')).rejects.toThrow(
    'nothing was done, since fail2ban runs in a container here: restart the container with the program that started it',
  )
  await expect(handlers['reload-all']({}, '')).rejects.toThrow('run "fail2ban-client reload" in the container')
})
