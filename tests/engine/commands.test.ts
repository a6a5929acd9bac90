import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from './host.ts'
import { ended, outcomeOf, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

onStage(
  'commands on a real fail2ban',
  [
    'a ban by command has its own duration, kept over a restart of the agent',
    "a ban by command longer than the jail's goes on, as one ban",
    'an order that would cut the host off is refused, with force too',
    'orders with bad parameters fail with a sentence',
    'a jail is disabled and enabled, also for the next start, with its bans',
    'the state of a jail, its reload, a reload of all and a restart',
    'a reload of a broken configuration is refused, and every jail stays',
  ],
  scene => {
    it('a command that is delivered again is not carried out again, also by the next agent', async () => {
      const { host, server, serverId } = scene()
      const id = await server.order(serverId, 'ban-ip', { ip: '203.0.113.60', duration: 600 })
      await outcomeOf(scene(), id)
      await reported(scene(), '203.0.113.60')
      const lift = await server.order(serverId, 'unban-ip', { ip: '203.0.113.60', jail: 'stockade' })
      await outcomeOf(scene(), lift)
      await ended(scene(), '203.0.113.60')
      await until(async () => (await host.client('get', 'dbpurgeage')).includes('691200'), 'eight days of history')
      await host.client('set', 'dbpurgeage', '300')
      server.redeliver(id)
      await until(() => server.resultDeliveries(id) >= 2, 'the result once more')
      await host.killAgent()
      await host.startAgent()
      server.redeliver(id)
      await until(() => server.resultDeliveries(id) >= 3, 'the result a third time')
      // This one waits for every command before it.
      await outcomeOf(scene(), await server.order(serverId, 'unban-ip', { ip: '203.0.113.61', jail: '*' }))
      expect(await host.bannedInNft('203.0.113.60')).toBe(false)
      // What an administrator chose stays.
      expect(await host.client('get', 'dbpurgeage')).toContain('300')
      expect(server.rows.filter(row => row.ip === '203.0.113.60')).toMatchObject([{ command_id: id }])
    })

    it('a command that was running when the agent died is told as unknown', async () => {
      const { host, server, serverId } = scene()
      // The restart waits for the end of an action, so that it lasts until the agent has died.
      const hold = join(host.directory, 'hold')
      fs.writeFileSync(hold, '')
      await host.client('set', 'nginx-http-auth', 'addaction', 'hold')
      const waits = `while test -e ${hold}; do sleep 0.1; done`
      await host.client('set', 'nginx-http-auth', 'action', 'hold', 'actionstop', waits)
      const id = await server.order(serverId, 'service-restart')
      await until(
        () => fs.readFileSync(join(host.agentState, 'cmd-journal.json'), 'utf8').includes(id),
        'the restart in the journal',
      )
      await host.killAgent()
      expect(await server.outcome(id)).toBeNull()
      fs.rmSync(hold)
      await host.startAgent()
      expect(await outcomeOf(scene(), id)).toMatchObject({
        success: false,
        output: 'the agent restarted while this ran; outcome unknown',
      })
    })
  },
)
