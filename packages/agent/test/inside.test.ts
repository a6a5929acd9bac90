import { expect, it } from 'vitest'
import type { Pickled } from '../src/engine/pickle.ts'
import { createInsideInterpreter } from '../src/python/inside.ts'

/* Programs that run in the container of fail2ban, whose answers cannot be trusted. */

const attachedAction = { name: 'stockade', file: '/share/stockade_action.py', spool: '/share/events.jsonl' }

/** A fail2ban whose looks are answered by `look`; the methods that were called, in order. */
const interpreterOf = (
  look: (at: number) => Pickled,
  { jails = ['sshd'], methods = ['begin'] }: { jails?: string[]; methods?: string[] } = {},
) => {
  const calls: string[] = []
  const python = createInsideInterpreter({
    action: attachedAction,
    engine: {
      connectedFor: () => 1000,
      jails: () => Promise.resolve(jails),
      actionMethods: () => Promise.resolve(methods),
      addIdle: jail => Promise.resolve(void calls.push(`add ${jail}`)),
      attach: (jail, name, file) => Promise.resolve(void calls.push(`attach ${jail} ${name} ${file}`)),
      dissolve: jail => Promise.resolve(void calls.push(`dissolve ${jail}`)),
      callAction(jail, _action, method, params) {
        if (method !== 'look') calls.push(`${method} in ${jail}`)
        return Promise.resolve(method === 'look' ? look(Number(params['at'])) : 'a job')
      },
    },
  })
  return { python, calls }
}

it('the output comes in parts, and the program is forgotten', async () => {
  const text = '{"jails": {}}'
  const { python, calls } = interpreterOf(at => [at < 5 ? null : 0, text.slice(at, at + 5), ''])
  expect(await python.run('a program', {})).toBe(text)
  expect(calls).toEqual(['begin in sshd', 'end in sshd'])
})

it('without a jail, or with actions of an older agent alone, a jail of its own serves for the moment', async () => {
  for (const setting of [{ jails: [] }, { methods: ['ban', 'unban'] }]) {
    const { python, calls } = interpreterOf(at => [0, 'x'.slice(at), ''], setting)
    expect(await python.run('a program', {})).toBe('x')
    expect(calls).toEqual([
      'dissolve stockade-helper',
      'add stockade-helper',
      'attach stockade-helper stockade /share/stockade_action.py',
      'begin in stockade-helper',
      'end in stockade-helper',
      'dissolve stockade-helper',
    ])
  }
})

it('what a program complained of is the error', async () => {
  const { python } = interpreterOf(() => [1, '', "Traceback\nModuleNotFoundError: No module named 'x'\n"])
  await expect(python.run('a program', {})).rejects.toThrow("ModuleNotFoundError: No module named 'x'")
})

it('an output without an end, a program without an end, and answers of other types end in an error', async () => {
  const endless = interpreterOf(() => [null, 'x'.repeat(1024 * 1024), ''])
  await expect(endless.python.run('a program', {})).rejects.toThrow('time or size limit')
  const silent = interpreterOf(() => [null, '', ''])
  await expect(silent.python.run('a program', {}, { timeout: 1 })).rejects.toThrow('time or size limit')
  for (const answer of [null, 'text', [[]], { py: 'os.system', args: [] }, [null, { a: 1 }, 7]]) {
    const odd = interpreterOf(() => answer)
    await expect(odd.python.run('a program', {}, { timeout: 1 })).rejects.toThrow('time or size limit')
    expect(odd.calls).toEqual(['begin in sshd', 'end in sshd'])
  }
  const killed = interpreterOf(() => [-14, '', ''])
  await expect(killed.python.run('a program', {})).rejects.toThrow('time or size limit')
})
