import { expect, it } from 'vitest'
import { clockLibrary } from './host-config.ts'
import { loudly, until } from './host.ts'
import { levelsSince, reports, seen, wellAgain } from './protection.ts'
import { bansOf, carriedOut, ended, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

const hour = 3600

if (clockLibrary === null) {
  loudly('SKIPPED: a host whose clock is set: needs libfaketime')
  it.skip('a host whose clock is set')
} else
  onStage(
    'a host whose clock is set',
    [],
    scene => {
      const order = async (type: string, params: Record<string, unknown>): Promise<void> => {
        const { success, output } = await carriedOut(scene(), type, params)
        expect(success, output).toBe(true)
      }
      /** Seconds until the kernel ends a ban by command. */
      const left = async (ip: string): Promise<number> => {
        const set = await scene().host.inside('nft', '-j', 'list', 'set', 'inet', 'stockade_shield', 'ban_4')
        type Element = { elem: { val: string; expires: number } }
        const [, { set: found }] = (JSON.parse(set) as { nftables: [unknown, { set: { elem?: Element[] } }] }).nftables
        return found.elem?.find(({ elem }) => elem.val === ip)?.elem.expires ?? 0
      }
      const startedAt = Date.now()
      /** A clock that is wrong is so by an hour. */
      const isNow = (at: string | number): void => {
        expect(new Date(at).getTime()).toBeGreaterThan(startedAt - 60_000)
        expect(new Date(at).getTime()).toBeLessThan(Date.now() + 60_000)
      }

      it('that is an hour ahead bans, reports true times, and says that its clock is wrong', async () => {
        const { host } = scene()
        await wellAgain(scene())
        host.setClock(hour)
        await seen(scene(), 'protected', /^the clock of this server is 3\d\d\d s ahead of that of the Stockade server$/)
        await host.attack('203.0.113.1')
        isNow((await reported(scene(), '203.0.113.1')).banned_at)
        await order('ban-ip', { ip: '203.0.113.2', duration: hour })
        isNow((await reported(scene(), '203.0.113.2')).banned_at)
        expect(await left('203.0.113.2')).toBeGreaterThan(3000)
        // A ban in a jail, whose end the agent keeps.
        await order('ban-ip', { ip: '203.0.113.3', jail: 'sshd', duration: hour })
      })

      it.each([
        ['ahead', 3 * hour],
        ['back', -hour],
      ])(
        'that jumps %s ends no ban by command before its time, and still reports what fail2ban does',
        async (_, to) => {
          const { host } = scene()
          const from = reports(scene()).length
          host.setClock(to)
          const [attacker, short] = to < 0 ? ['203.0.113.5', '203.0.113.7'] : ['203.0.113.4', '203.0.113.6']
          await host.attack(attacker)
          isNow((await reported(scene(), attacker)).banned_at)
          if (to > 0) await ended(scene(), '203.0.113.1')
          await until(() => host.bannedInEngine('sshd', '203.0.113.3'), 'the ban that fail2ban ended by its clock')
          expect(await left('203.0.113.2')).toBeGreaterThan(1800)
          for (const ip of ['203.0.113.2', '203.0.113.3'])
            expect(await bansOf(scene(), ip)).toMatchObject([{ unbanned_at: null }])
          await order('ban-ip', { ip: short, jail: 'sshd', duration: 5 })
          await ended(scene(), short)
          await until(async () => !(await host.bannedInEngine('sshd', short)), 'the end of the short ban')
          await host.client('set', 'sshd', 'unbanip', attacker)
          await ended(scene(), attacker)
          // A later report only says what the checks found after all of this.
          await until(() => reports(scene()).length > from + 1, 'two reports after the clock was set')
          expect(levelsSince(scene(), from)).toEqual(['protected'])
          expect(scene().server.complaints).toEqual([])
        },
      )
    },
    { hasOwnClock: true, agentArgs: ['--check-pace', '0.1'] },
  )
