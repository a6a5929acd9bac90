import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loudly, until } from './host.ts'
import { seen, wellAgain } from './protection.ts'
import { reported } from './scenarios.ts'
import { onStage } from './stage.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

const program = '/lib/systemd/systemd-journald'
/** A journald of this test's own: its sockets and files carry this name. */
const namespace = `skd${randomBytes(4).toString('hex')}`
const runDirectory = `/run/systemd/journal.${namespace}`

/** What the jail `door` reads. */
const jail = `
[door]
enabled = true
filter = sshd
backend = systemd[namespace=${namespace}]
journalmatch = SYSLOG_IDENTIFIER=sshd
maxretry = 3
`

const canRun = process.getuid?.() === 0 && fs.existsSync(program) && hasReader()
if (!canRun) loudly('SKIPPED: jails that read the journal: needs root, systemd-journald and python3-systemd')

describe.skipIf(!canRun)('on a journald', () => {
  let journald: ChildProcess | null = null
  let client: Socket | null = null

  beforeAll(async () => {
    await startJournald()
  })
  afterAll(async () => {
    await stopJournald()
    fs.rmSync(runDirectory, { recursive: true, force: true })
    for (const root of ['/var/log/journal', '/run/log/journal'])
      for (const name of fs.existsSync(root) ? fs.readdirSync(root) : [])
        if (name.endsWith(`.${namespace}`)) fs.rmSync(`${root}/${name}`, { recursive: true, force: true })
  })

  onStage(
    'a jail that reads the journal',
    [],
    scene => {
      it('bans what the journal has, and is protected', async () => {
        attack('203.0.113.7')
        await reported(scene(), '203.0.113.7')
        await wellAgain(scene())
      })

      it('is named when journald is stopped, and when it stands still', async () => {
        await stopJournald()
        await seen(
          scene(),
          'degraded',
          /^jail door reads the journal, but journald does not run: nothing new is found$/,
        )
        await startJournald()
        await wellAgain(scene())
        journald?.kill('SIGSTOP')
        await seen(scene(), 'degraded', /^jail door reads the journal, but journald does not answer/)
        journald?.kill('SIGCONT')
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

  async function startJournald(): Promise<void> {
    journald = spawn(program, [namespace], { stdio: 'ignore' })
    await until(() => fs.existsSync(`${runDirectory}/io.systemd.journal`) && canSend(), 'journald')
    // A journald of a namespace ends after 30 s without a client.
    client = connect({ path: `${runDirectory}/stdout` })
    client.on('error', () => undefined)
    client.write('a test\n\n6\n0\n0\n0\n0\n')
  }

  async function stopJournald(): Promise<void> {
    client?.destroy()
    const child = journald
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const over = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await within(over, 'the end of the program')
  }

  const canSend = (): boolean => {
    try {
      send('a message of no jail', 'nobody')
      return true
    } catch {
      return false
    }
  }

  const attack = (ip: string): void => {
    for (let times = 0; times < 3; times += 1)
      send(`Failed password for invalid user admin${times} from ${ip} port ${40_000 + times} ssh2`, 'sshd')
  }

  const send = (message: string, identifier: string): void => {
    const text = `MESSAGE=${message}\nSYSLOG_IDENTIFIER=${identifier}\nSYSLOG_PID=${4000 + (sent += 1)}\n`
    const code =
      'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[1].encode(), sys.argv[2])'
    execFileSync('/usr/bin/python3', ['-c', code, text, `${runDirectory}/socket`], { stdio: 'ignore' })
  }
})

/** sshd's filter ties lines of one process together, so each line has its own. */
let sent = 0

function hasReader(): boolean {
  try {
    execFileSync('/usr/bin/python3', ['-c', 'import systemd.journal'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
