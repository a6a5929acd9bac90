import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '../engine/host.ts'
import { carriedOut, reported } from '../engine/scenarios.ts'
import { onStage, type RecordedScene } from '../engine/stage.ts'

/* A stolen server orders all that it can, beyond what the owner of the host allows; and the policy can't be read. */

const ordered: readonly (readonly [string, Record<string, unknown>])[] = [
  ['ban-ip', { ip: '203.0.113.50' }],
  ['unban-ip', { ip: '203.0.113.9', jail: '*' }],
  ['jail-status', { jail: 'sshd' }],
  ['jail-preview', { jail: 'sshd' }],
  ['jail-enable', { jail: 'nginx-http-auth' }],
  ['jail-disable', { jail: 'sshd' }],
  ['jail-reload', { jail: 'sshd' }],
  ['reload-all', {}],
  ['service-restart', {}],
  [
    'deploy-template',
    {
      template_id: 7,
      settings: {},
      template: {
        name: 'door',
        jail_config: '[door]\nport = 8080\nbackend = auto\nlogpath = /dev/null\n',
        filter_config: '[Definition]\nfailregex = ^<HOST>$\n',
        required_files: [],
        settings: {},
      },
    },
  ],
  ['remove-template', { template_name: 'door' }],
]
/** A ban, root's configuration, and the end of a jail. */
const worst = ordered.filter(([type]) => ['ban-ip', 'deploy-template', 'jail-disable'].includes(type))
const gate = (id: number, port: number) => ({
  id,
  revision: 1,
  protected_port: port,
  knock_ports: [7000 + id, 8000 + id, 9000 + id],
  protocol: 'tcp',
  timeout: 30,
  knock_timeout: 10,
  max_attempts: 5,
  block_duration: 60,
})
const policyFile = ({ host }: RecordedScene): string => join(host.agentConfig, 'policy.json')
const snapshot = async ({ host }: RecordedScene) => ({
  files: fs
    .readdirSync(join(host.f2bConfig, 'jail.d'))
    .filter(name => !/whitelist/.test(name))
    .sort(),
  jails: await host.client('status'),
  banned: await host.client('banned'),
})

onStage(
  'm9: a server beyond the policy',
  [],
  scene => {
    it('gets nothing done of all that it can order', async () => {
      const { host, server } = scene()
      await host.attack('203.0.113.9')
      await reported(scene(), '203.0.113.9')
      await until(async () => (await host.client('status')).includes('stockade'), 'the jail of the agent')
      const before = await snapshot(scene())
      const outcomes = await Promise.all(ordered.map(([type, params]) => carriedOut(scene(), type, params)))
      expect(outcomes.map(({ success, output }) => `${success} ${output}`)).toEqual(
        ordered.map(([type]) => `false policy.json on this host refuses ${type}`),
      )
      expect(await snapshot(scene())).toEqual(before)
      await until(() => host.bannedInNft('203.0.113.9'), 'the ban in the firewall')

      server.whitelist(['198.51.100.1'])
      await until(() => server.agreed() !== null, 'a list that is allowed')
      const held = server.agreed()?.whitelist_version
      server.whitelist(['45.0.0.0/8'])
      await until(() => server.acks.at(-1)?.error !== null, 'the refusal of a wide list')
      expect(server.acks.at(-1)).toMatchObject({
        whitelist_version: held,
        error: expect.stringMatching(/covers 0\.45. % of the public addresses.*refused as a whole/) as string,
      })
      server.whitelist(['198.51.100.1', '198.51.100.2', '198.51.100.3'])
      await until(() => /has 3 entries/.test(server.acks.at(-1)?.error ?? ''), 'the refusal of a long list')
      expect(await host.client('get', 'sshd', 'ignoreip')).toContain('198.51.100.1')
      expect(await host.client('get', 'sshd', 'ignoreip')).not.toMatch(/198\.51\.100\.[23]|45\.0/)
      server.whitelist(['198.51.100.1'])
      await until(() => server.agreed() !== null, 'the list that is allowed')

      server.knock([gate(1, 22), gate(2, 2222)])
      const about = (id: number) => server.acks.at(-1)?.sequences.find(each => each['id'] === id)
      await until(() => about(1)?.['state'] === 'failed' && about(2)?.['state'] === 'enforced', 'the ports')
      expect(about(1)?.['error']).toBe('policy.json on this host does not let port knocking close port 22')
      const rules = await host.inside('nft', 'list', 'ruleset')
      expect(rules).toMatch(/chain p2222 /)
      expect(rules).not.toMatch(/chain p22 /)
      server.knock([])
      expect(server.complaints).toEqual([])
    })

    it('gets the few bans that are allowed, and never one that cuts the host off', async () => {
      const { host } = scene()
      fs.writeFileSync(
        policyFile(scene()),
        '{"version": 1, "commands": ["ban-ip"], "bans_per_hour": 8, "allow_force": true}',
      )
      await host.inside('ip', 'route', 'add', 'default', 'via', host.gateway)
      await host.inside('ip', 'route', 'add', '198.51.100.0/24', 'via', host.gateway.replace(/1$/, '254'))
      const cutting = ['127.0.0.1', '::1', host.address, host.gateway, host.gateway.replace(/1$/, '254')]
      const outcomes = await Promise.all(cutting.map(ip => carriedOut(scene(), 'ban-ip', { ip, force: true })))
      expect(outcomes.map(({ success, output }) => `${success} ${output.replace(/^\S+ /, '')}`)).toEqual([
        'false is loopback or link-local: a ban of it would cut this host off from itself; nothing was done',
        'false is loopback or link-local: a ban of it would cut this host off from itself; nothing was done',
        'false covers an address of this host; nothing was done',
        expect.stringMatching(/gateway of this host/),
        expect.stringMatching(/gateway of this host/),
      ])
      const bans = await Promise.all(
        [1, 2, 3, 4, 5].map(n => carriedOut(scene(), 'ban-ip', { ip: `203.0.113.${100 + n}`, duration: 600 })),
      )
      expect(bans.map(({ success }) => success)).toEqual([true, true, true, false, false])
      expect(bans.at(-1)?.output).toMatch(/allows 8 bans by commands an hour/)
      await until(() => host.bannedInNft('203.0.113.103'), 'the ban in the firewall')
      expect(await host.bannedInNft('203.0.113.104')).toBe(false)
    })

    let lastAttacker = 10
    it.each([
      ['a comma too many', '{"version": 1, "refuse": [],}', 0o644, ordered],
      // The same gate refuses every type. All types again would wait for the agent's limit of requests a minute.
      ['a text in place of a list', '{"refuse": "ban-ip"}', 0o644, worst],
      ['a key that is misspelled', '{"version": 1, "comands": ["ban-ip"]}', 0o644, worst],
      ['a newer version', '{"version": 2}', 0o644, worst],
      ['leave for others to write it', '{"version": 1}', 0o666, worst],
    ])('gets nothing done where the policy has %s; bans are still told', async (_, text, mode, commands) => {
      const { host, server, serverId } = scene()
      fs.writeFileSync(policyFile(scene()), text)
      fs.chmodSync(policyFile(scene()), mode)
      const outcomes = await Promise.all(commands.map(([type, params]) => carriedOut(scene(), type, params)))
      expect(outcomes).toHaveLength(commands.length)
      for (const { success, output } of outcomes)
        expect({ success, output }).toEqual({
          success: false,
          output: expect.stringMatching(/^policy\.json on this host can not be read, so nothing is done: /) as string,
        })
      await until(
        () =>
          (server.heartbeats(serverId).at(-1)?.['policy'] as { state?: string } | undefined)?.state === 'unreadable',
        'the heartbeat that says so',
      )
      const ip = `192.0.2.${(lastAttacker += 1)}`
      await host.attack(ip)
      // The agent keeps to its requests a minute, and these tests use many.
      expect(await reported(scene(), ip)).toMatchObject({ jail: 'sshd', log_lines: '' })
      fs.chmodSync(policyFile(scene()), 0o644)
    })
  },
  { policy: { commands: [], knock_ports: ['1024-65535'], whitelist: { max_entries: 2, max_share: 0.004 } } },
)
