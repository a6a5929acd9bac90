import { afterAll, beforeAll, it } from 'vitest'
import { onStage } from '../stage.ts'
import { alertedBy } from './alerted.ts'
import { bareCases, iptablesBeside, lastCase, listening, moreCases, printDelays, shortCases } from './cases.ts'
import { bareKind } from './firewalls.ts'
import { settings } from './settings.ts'

const web = `
[web]
enabled = true
filter = sshd
port = 80
banaction = iptables-multiport
logpath = /dev/null
`

/** With the rights of its unit the agent does not know fail2ban's path, so it can name a missing program only here. */
const onlyShortCases = {
  'names a rule of iptables that was removed': iptablesBeside,
  'names a firewall program that is missing, before anything is banned': lastCase,
}

for (const { engine, firewall, isWhole, pace } of settings()) {
  const title = `sabotage of fail2ban ${engine.version} with ${firewall.name}`
  onStage(
    title,
    [],
    scene => {
      const cases = {
        ...shortCases,
        ...(firewall === bareKind ? bareCases : {}),
        ...(isWhole ? moreCases : onlyShortCases),
      }
      beforeAll(async () => {
        listening.alerted = await alertedBy(scene())
      })
      for (const [name, test] of Object.entries(cases)) it(name, () => test(scene(), firewall))
      afterAll(async () => {
        printDelays(title)
        await listening.alerted?.stop()
      })
    },
    {
      ...firewall.settings(engine.version),
      // With the real intervals the cases take longer than the usual ten minutes, and need bans of before.
      bantime: 7200,
      ...(isWhole ? {} : { jailLocal: web }),
      engine,
      hasUnitRights: isWhole,
      agentArgs: ['--check-pace', pace],
    },
  )
}
