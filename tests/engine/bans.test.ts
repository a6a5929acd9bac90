import { expect, it } from 'vitest'
import { until } from './host.ts'
import { bansOf, reported, stampedLine } from './scenarios.ts'
import { onStage } from './stage.ts'

/** Jails as people name them, one that bans what it reads as a user name, and one that bans names of hosts. */
const oddJails = ['wp login', 'web@home', '_hidden', 'users']
  .map(
    name => `[${name}]
enabled = true
backend = polling
filter =
logpath = %(sshd/logpath)s
failregex = bad login for ${name === 'users' ? '<F-ID>\\S+</F-ID>' : '<F-USER>\\S+</F-USER>'} from <ADDR>$
action = nftables-allports[name=odd]
`,
  )
  .join('')

onStage(
  'bans of a real fail2ban',
  [
    'an IPv4 attack is reported once, with its log lines',
    'an IPv6 attack is reported once',
    'hostile log lines arrive cleaned and cut',
    'an unban by command leaves the firewall and is told',
    'an unban without a jail lifts it everywhere',
    'a ban lifted within milliseconds is told with its end, and a reused row number does no harm',
    'the end of a ban by its own time is told',
    'ends that fail2ban moves are told',
    'bans that fail2ban lifts all at once end at the server',
    'bans and unbans while the agent is down are told once it is back',
    'restart and reload of fail2ban are not reported',
    'the action is put back after a reload by hand',
  ],
  scene => {
    it('bans of jails with any name are told, and none of an address that was not banned', async () => {
      const { host, server, serverId } = scene()
      await host.writeLog(
        Array.from({ length: 3 }, () => stampedLine('bad login for joe from 198.51.100.41\n')).join(''),
      )
      await until(() => host.bannedInEngine('users', 'joe'), 'the ban of the user name')
      for (const jail of ['wp login', 'web@home', '_hidden'])
        await until(
          async () => (await bansOf(scene(), '198.51.100.41')).some(ban => ban.jail === jail),
          `the report of jail ${jail}`,
        )
      await host.client('set', 'sshd', 'banip', 'localhost')
      // Told after both of them.
      await host.attack('198.51.100.42')
      await reported(scene(), '198.51.100.42')
      await until(
        () => host.agentLog().includes('jail users banned something that is not an address'),
        'a word of the agent',
      )
      // A kind of its own, with the heartbeat.
      const ofJail = async (jail: string) => (await server.jails(serverId)).find(({ name }) => name === jail)
      for (const [jail, id] of [
        ['users', 'joe'],
        ['sshd', 'localhost'],
      ] as const)
        await until(async () => (await ofJail(jail))?.other_ids?.ids.includes(id) === true, `${id} of jail ${jail}`)
      expect(await ofJail('users')).toMatchObject({ current_bans: 0, other_ids: { count: 1, ids: ['joe'] } })
      expect((await ofJail('wp login'))?.other_ids ?? null).toBeNull()
      // Over with its ban.
      await host.client('set', 'users', 'unbanip', 'joe')
      await until(async () => ((await ofJail('users'))?.other_ids ?? null) === null, 'the end of the user name')
      expect((await server.bans(serverId)).filter(({ jail }) => jail === 'users')).toEqual([])
      expect(server.complaints).toEqual([])
    })
  },
  { jailLocal: oddJails },
)
