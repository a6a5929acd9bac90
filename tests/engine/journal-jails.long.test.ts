import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loudly } from './host.ts'
import { canRunJournald, ownJournald } from './own-journald.ts'
import { seen, wellAgain } from './protection.ts'
import { carriedOut, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

const journald = ownJournald()

/** What the jail `door` reads. */
const jail = `
[door]
enabled = true
filter = sshd
backend = systemd[namespace=${journald.namespace}]
journalmatch = SYSLOG_IDENTIFIER=sshd
maxretry = 3
`

const canRun = canRunJournald && hasReader()
if (!canRun) loudly('SKIPPED: jails that read the journal: needs root, systemd-journald and python3-systemd')

describe.skipIf(!canRun)('on a journald', () => {
  beforeAll(() => journald.start())
  afterAll(() => journald.remove())

  onStage(
    'a jail that reads the journal',
    [],
    scene => {
      it('bans what the journal has, and is protected', async () => {
        attack('203.0.113.7')
        await reported(scene(), '203.0.113.7')
        await wellAgain(scene())
      })

      it('is previewed with what the journal has', async () => {
        const { success, output } = await carriedOut(scene(), 'jail-preview', { jail: 'door', maxretry: 2 })
        expect([success, output]).toEqual([true, expect.stringContaining('"banned":1')])
        expect(JSON.parse(output)).toMatchObject({
          addresses: [{ ip: '203.0.113.7', failures: 3, bans: 1 }],
          log: { total_bytes: null, cut: null },
        })
      })

      it('is named when journald is stopped, and when it stands still', async () => {
        await journald.stop()
        await seen(
          scene(),
          'degraded',
          /^jail door reads the journal, but journald does not run: nothing new is found$/,
        )
        await journald.start()
        await wellAgain(scene())
        journald.signal('SIGSTOP')
        await seen(scene(), 'degraded', /^jail door reads the journal, but journald does not answer/)
        journald.signal('SIGCONT')
        await wellAgain(scene())
      })

      it('is named when it waits for a unit that the server does not have', async () => {
        const { host } = scene()
        await host.client('set', 'door', 'addjournalmatch', '_SYSTEMD_UNIT=no-such-door.service')
        await host.client('set', 'door', 'deljournalmatch', 'SYSLOG_IDENTIFIER=sshd')
        await seen(
          scene(),
          'degraded',
          /^jail door reads the messages of no-such-door\.service in the journal, but this server has no such unit$/,
        )
        await host.client('set', 'door', 'addjournalmatch', 'SYSLOG_IDENTIFIER=sshd')
        await wellAgain(scene())
      })

      it('is named when it does not read what arrives', async () => {
        const { host } = scene()
        await host.client('set', 'door', 'idle', 'on')
        attack('203.0.113.8')
        await seen(scene(), 'degraded', /^jail door does not read the journal: messages that concern it are unread/)
        await host.client('set', 'door', 'idle', 'off')
        await reported(scene(), '203.0.113.8')
        expect(scene().server.complaints).toEqual([])
      })
    },
    { jailLocal: jail, agentArgs: ['--check-pace', '0.1'] },
  )

  const attack = (ip: string): void => {
    for (let times = 0; times < 3; times += 1)
      journald.send(`Failed password for invalid user admin${times} from ${ip} port ${40_000 + times} ssh2`, 'sshd')
  }
})

function hasReader(): boolean {
  try {
    execFileSync('/usr/bin/python3', ['-c', 'import systemd.journal'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
