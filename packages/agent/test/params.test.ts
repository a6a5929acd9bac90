import { commands } from '@stockade/contract'
import { expect, it } from 'vitest'
import { compileBody } from '../../server/src/core/validation.ts'
import { runHandler } from '../src/commands/params.ts'
import type { Handlers } from '../src/commands/params.ts'

/* The agent's readers of parameters, held against the contract's schemas. */

const output = (params: unknown): Promise<string> => Promise.resolve(JSON.stringify(params))
const handlers: Handlers = {
  'ban-ip': output,
  'unban-ip': output,
  'jail-status': output,
  'jail-preview': output,
  'jail-enable': output,
  'jail-disable': output,
  'jail-reload': output,
  'reload-all': output,
  'service-restart': output,
  'deploy-template': output,
  'remove-template': output,
  'template-preview': output,
  'approve-whitelist': output,
  'approve-port': output,
  'approve-ban': output,
  'self-test': output,
  'upgrade-agent': output,
}
const read = async (type: commands.CommandType, params: Record<string, unknown>): Promise<unknown> =>
  JSON.parse(await runHandler(handlers, type, params, 'x')) as unknown

const jail = { jail: 'sshd' }
const samples: { readonly [T in commands.CommandType]: commands.CommandParamsOf<T> } = {
  'ban-ip': { jail: 'sshd', ip: '192.0.2.0/24', duration: -1, reason: 'scan', force: true, cut: true },
  'unban-ip': { jail: '*', ip: '2001:db8::1' },
  'jail-status': jail,
  'jail-preview': { jail: 'sshd', days: 7, maxretry: 3, findtime: 600, bantime: -1, ignoreip: ['192.0.2.0/24'] },
  'jail-enable': jail,
  'jail-disable': jail,
  'jail-reload': jail,
  'reload-all': {},
  'service-restart': {},
  'deploy-template': { template_id: 7, settings: { maxretry: 3, bantime: null } },
  'remove-template': { template_name: 'web-1' },
  'template-preview': { template_id: 'web-1', settings: { maxretry: 3 }, days: 7 },
  'approve-whitelist': { ip: '192.0.2.0/24' },
  'approve-port': { port: 22 },
  'approve-ban': { ip: '198.51.0.0/16' },
  'self-test': { level: 'engine', ports: [22, 8080] },
  'upgrade-agent': { version: '0.2.0', manifest_sha256: 'a'.repeat(64), program_sha256: null, rollback: false },
}

it.each(commands.commandTypeNames)('reads the parameters of %s that the contract describes', async type => {
  const sample: Record<string, unknown> = samples[type]
  expect(compileBody(commands.commandTypes[type].params)(sample)).toBe(true)
  const { reason: _, template_id: __, settings: ___, ...used } = sample
  const template =
    commands.commandTypes[type].takesTemplate && type !== 'remove-template' ? { template: { name: 'web-1' } } : {}
  expect(await read(type, { ...sample, ...template })).toEqual({ ...used, ...template })
})

it.each<[commands.CommandType, Record<string, unknown>, RegExp]>([
  ['self-test', { ports: [] }, /"ports" must be 1 to 10 ports/],
  ['self-test', { ports: [22, '80'] }, /"ports" must be 1 to 10 ports/],
  ['self-test', { ports: Array.from({ length: 11 }, (_, i) => i + 1) }, /"ports" must be 1 to 10 ports/],
  ['ban-ip', { jail: 'stockade-probe', ip: '192.0.2.1' }, /"jail" must be/],
  ['ban-ip', { jail: '../x', ip: '192.0.2.1' }, /"jail" must be/],
  ['ban-ip', { jail: '*', ip: '192.0.2.1' }, /"jail" must be/],
  ['ban-ip', { jail: 'sshd', ip: '010.0.0.1' }, /"ip" must be/],
  ['ban-ip', { jail: 'sshd', ip: '192.0.2.1', duration: 0 }, /"duration" must be/],
  ['ban-ip', { jail: 'sshd', ip: '192.0.2.1', duration: 1.5 }, /"duration" must be/],
  ['ban-ip', { jail: 'sshd', ip: '192.0.2.1', duration: 31_557_601 }, /"duration" must be/],
  ['unban-ip', { jail: '-x', ip: '192.0.2.1' }, /"jail" must be/],
  ['jail-reload', {}, /"jail" must be/],
  ['deploy-template', { template_id: 7, settings: {} }, /without its template/],
  ['template-preview', { template_id: 7, settings: {} }, /without its template/],
  ['template-preview', { template: {}, days: 8 }, /"days" must be 1 to 7/],
  ['approve-whitelist', { ip: '192.0.2.1' }, /range to approve/],
  ['approve-ban', { ip: '192.0.2.1' }, /range to approve/],
  ['approve-port', { port: 65_536 }, /port to approve/],
])('refuses %s with %o', (type, params, sentence) => expect(() => read(type, params)).rejects.toThrow(sentence))

it('takes the jail of Stockade, or every jail, where the server names none', async () => {
  expect(await read('ban-ip', { ip: '192.0.2.1' })).toEqual({
    jail: 'stockade',
    ip: '192.0.2.1',
    force: false,
    cut: false,
  })
  expect(await read('unban-ip', { ip: '192.0.2.1' })).toEqual({ jail: '*', ip: '192.0.2.1' })
})
