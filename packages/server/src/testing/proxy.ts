import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { until, within } from './waiting.ts'

const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy'].find(existsSync)
/** Whether there is a HAProxy here; says aloud where there is none. */
export const hasProxy = (): boolean => {
  if (program === undefined)
    process.stderr.write('SKIPPED: no haproxy here, so nothing runs as two processes behind it\n')
  return program !== undefined
}

/** Each request to the next of several servers: nothing sticks to a process. */
const roundRobin = (port: number, behind: readonly number[]): string => `defaults
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
${behind.map((to, index) => `  server s${index} 127.0.0.1:${to}`).join('\n')}
`

/** HAProxy before several servers, with the given configuration of them or without checks. */
export const startProxy = async (
  folder: string,
  port: number,
  behind: readonly number[],
  config = roundRobin(port, behind),
  maxConnections = 4000,
): Promise<{ readonly pid: number; close(): Promise<void> }> => {
  const file = join(folder, `haproxy-${port}.cfg`)
  writeFileSync(file, `global\n  maxconn ${maxConnections}\n${config}`)
  const child = spawn(program ?? 'haproxy', ['-q', '-db', '-f', file], { stdio: 'inherit' })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const answers = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  await until(answers, 'the answer of HAProxy')
  return {
    pid: child.pid ?? 0,
    async close() {
      child.kill('SIGKILL')
      await within(ended, 'the end of HAProxy')
    },
  }
}
