import * as fs from 'node:fs'
import { expect, it } from 'vitest'
import { authLog, reports, seen, wellAgain } from './protection.ts'
import type { ProtectionReport } from './protection.ts'
import { carriedOut } from './scenarios.ts'
import { onStage } from './stage.ts'

/** The levels that were reported, without repetitions. */
const levels = (all: readonly ProtectionReport[]): string[] =>
  all.map(({ level }) => level).filter((level, index, list) => level !== list[index - 1])

onStage(
  'a calm day',
  [],
  scene => {
    it('changes no level while bans come and go, and while fail2ban reloads and restarts', async () => {
      const { host } = scene()
      await wellAgain(scene())
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < 10; i += 1) await host.client('set', 'sshd', 'banip', `203.0.113.${10 * round + i}`)
        for (let i = 0; i < 5; i += 1) await host.client('set', 'sshd', 'unbanip', `203.0.113.${10 * round + i}`)
        await host.client('reload')
        fs.renameSync(authLog(host), `${authLog(host)}.1`)
        fs.writeFileSync(authLog(host), '')
        await host.attack(`198.51.100.${round}`)
      }
      await host.stopEngine()
      await host.startEngine()
      expect((await carriedOut(scene(), 'reload-all')).success).toBe(true)
      expect((await carriedOut(scene(), 'service-restart')).success).toBe(true)
      // The checks were at work all the time: they find what is really wrong.
      await host.client('stop', 'nginx-http-auth')
      await seen(scene(), 'degraded', /^jail nginx-http-auth is enabled/)
      expect(levels(reports(scene()))).toEqual(expect.arrayContaining(['protected', 'degraded']))
      expect(levels(reports(scene())).filter(level => level !== 'unknown')).toEqual(['protected', 'degraded'])
    })
  },
  // Half of the usual times: a restart of fail2ban still ends long before a problem would count.
  { agentArgs: ['--check-pace', '0.5'] },
)
