import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy'].find(existsSync)
/** Whether there is a HAProxy here; says aloud where there is none. */
export const hasProxy = (): boolean => {
  if (program === undefined)
    process.stderr.write('SKIPPED: no haproxy here, so nothing runs as two processes behind it\n')
  return program !== undefined
}

/** What asks each server whether it is ready, as docs/guides/high-availability.md has it, only more often. */
const readiness = {
  before: '  option httpchk GET /api/v1/ready\n  timeout check 10s\n',
  server: ' check inter 500ms fall 1 rise 1',
}

/**
 * HAProxy before several servers, each request to the next of them: nothing sticks to a process. With `isChecking` it leaves out
 * those that are not ready.
 */
export const startProxy = async (
  folder: string,
  port: number,
  behind: readonly number[],
  isChecking = false,
): Promise<{ close(): Promise<void> }> => {
  const file = join(folder, `haproxy-${port}.cfg`)
  writeFileSync(
    file,
    `global
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  timeout tunnel 1h
  option redispatch
  option abortonclose
frontend all
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
${isChecking ? readiness.before : ''}${behind
      .map((to, index) => `  server s${index} 127.0.0.1:${to}${isChecking ? readiness.server : ''}`)
      .join('\n')}
`,
  )
  const child = spawn(program ?? 'haproxy', ['-q', '-db', '-f', file], { stdio: 'inherit' })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const answers = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  for (let wait = 0; wait < 200 && !(await answers()); wait++) await new Promise(resolve => setTimeout(resolve, 20))
  return {
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
