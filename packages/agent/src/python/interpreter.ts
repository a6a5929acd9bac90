import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { delimiter, join } from 'node:path'
import { firstBytes } from '../text.ts'

/** Runs one of our programs with fail2ban's own Python, isolated (-I), JSON in and text out. */
export interface Interpreter {
  readonly command: readonly string[]
  run(program: string, input: unknown, options?: { timeout?: number; maxOutput?: number }): Promise<string>
}

/**
 * fail2ban's interpreter is the first line of `fail2ban-server`: the only Python that is sure to have its classes, and
 * SQLite. A host without it is still watched (heartbeats), so a missing file is not an error here.
 */
export const findInterpreter = (server: string | null): Interpreter => {
  const file = server ?? onPath('fail2ban-server')
  return createInterpreter((file === null ? null : shebang(file)) ?? ['/usr/bin/python3'])
}

export const createInterpreter = (command: readonly string[]): Interpreter => {
  const [program = '/usr/bin/python3', ...first] = command
  return {
    command,
    run(source, input, { timeout = 20_000, maxOutput = 64 * 1024 * 1024 } = {}) {
      return new Promise((resolve, reject) => {
        const child = spawn(program, [...first, '-I', '-c', source], { stdio: ['pipe', 'pipe', 'pipe'] })
        const out: Buffer[] = []
        let size = 0
        let complaint = ''
        const timer = setTimeout(() => child.kill('SIGKILL'), timeout)
        child.stdout.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxOutput) child.kill('SIGKILL')
          else out.push(chunk)
        })
        child.stderr.on('data', (chunk: Buffer) => {
          complaint = (complaint + chunk.toString('utf8')).slice(-4000)
        })
        child.on('error', error => {
          clearTimeout(timer)
          reject(error)
        })
        child.on('close', (code, signal) => {
          clearTimeout(timer)
          if (code === 0) return resolve(Buffer.concat(out).toString('utf8'))
          const last = complaint.trim().split('\n').pop() ?? ''
          reject(
            new Error(
              signal ? `stopped by ${signal} (time or size limit)` : firstBytes(last || `exit code ${code}`, 500),
            ),
          )
        })
        // A child that died early closes its input; its exit code says what happened.
        child.stdin.on('error', () => undefined)
        child.stdin.end(JSON.stringify(input))
      })
    },
  }
}

export const onPath = (name: string): string | null => {
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/local/bin',
    '/usr/bin',
    '/usr/sbin',
    '/sbin',
    '/bin',
  ]
  for (const place of places) {
    const file = join(place, name)
    if (place !== '' && fs.existsSync(file)) return file
  }
  return null
}

const shebang = (file: string): string[] | null => {
  try {
    const line = fs.readFileSync(file, 'utf8').slice(0, 300).split('\n')[0] ?? ''
    const words = /^#!\s*(\S.*)$/.exec(line)?.[1]?.trim().split(/\s+/)
    return words && /python/.test(words.join(' ')) ? words.filter(word => word !== '-I') : null
  } catch {
    return null
  }
}
