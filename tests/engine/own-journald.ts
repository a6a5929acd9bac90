import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { connect, type Socket } from 'node:net'
import { until } from './host.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

const program = '/lib/systemd/systemd-journald'

/** Whether this machine can run a journald of a test's own. */
export const canRunJournald = process.getuid?.() === 0 && fs.existsSync(program)

/** A journald whose sockets and files carry the name of a namespace. */
export interface OwnJournald {
  readonly namespace: string
  start(): Promise<void>
  /** Kills it; what it wrote stays. */
  stop(): Promise<void>
  /** Sends it a signal. */
  signal(name: NodeJS.Signals): void
  /** A message of root under a name such as `sshd`, each of a process of its own. */
  send(message: string, identifier: string): void
  /** Stops it and removes its files. */
  remove(): Promise<void>
}

/** sshd's filter ties lines of one process together, so each line has its own. */
let lastPid = 4000

export function ownJournald(): OwnJournald {
  const namespace = `skd${randomBytes(4).toString('hex')}`
  const runDirectory = `/run/systemd/journal.${namespace}`
  let journald: ChildProcess | null = null
  let client: Socket | null = null

  const send = (message: string, identifier: string): void => {
    const text = `MESSAGE=${message}\nSYSLOG_IDENTIFIER=${identifier}\nSYSLOG_PID=${(lastPid += 1)}\n`
    const code =
      'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[1].encode(), sys.argv[2])'
    execFileSync('/usr/bin/python3', ['-c', code, text, `${runDirectory}/socket`], { stdio: 'ignore' })
  }
  const canSend = (): boolean => {
    try {
      send('a message of no jail', 'nobody')
      return true
    } catch {
      return false
    }
  }
  const stop = async (): Promise<void> => {
    client?.destroy()
    const child = journald
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const over = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await within(over, 'the end of the program')
  }
  return {
    namespace,
    async start() {
      journald = spawn(program, [namespace], { stdio: 'ignore' })
      await until(() => fs.existsSync(`${runDirectory}/io.systemd.journal`) && canSend(), 'journald')
      // A journald of a namespace ends after 30 s without a client.
      client = connect({ path: `${runDirectory}/stdout` })
      client.on('error', () => undefined)
      client.write('a test\n\n6\n0\n0\n0\n0\n')
    },
    stop,
    signal: name => void journald?.kill(name),
    send,
    async remove() {
      await stop()
      fs.rmSync(runDirectory, { recursive: true, force: true })
      for (const root of ['/var/log/journal', '/run/log/journal'])
        for (const name of fs.existsSync(root) ? fs.readdirSync(root) : [])
          if (name.endsWith(`.${namespace}`)) fs.rmSync(`${root}/${name}`, { recursive: true, force: true })
    },
  }
}
