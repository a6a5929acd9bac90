import { appendFileSync, renameSync, statSync } from 'node:fs'
import { iso, second } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'

/** A refusal as the security log tells it. */
export interface Refusal {
  readonly status: number
  readonly ip: string
  readonly method: string
  /** As the contract writes it: nothing of what was sent. */
  readonly path: string
  /** The name that was typed, at a sign-in. */
  readonly user: string | null
}
export interface SecurityLog {
  note(refusal: Refusal): void
}

/** Lines that are written in a second: a flood tells no more than its beginning, and fills no disk. */
const perSecond = 50
/** A file that is larger becomes `FILE.1`, in place of the one before. */
const mostBytes = 16 * 1024 * 1024

/** What anybody typed, so that it can not end its quotes or its line, nor look like another field. */
const quoted = (text: string) => `"${text.slice(0, 64).replace(/[^\w.@+-]/g, '?')}"`

/**
 * One line a refusal (401, 403, 429), in a stable format: for fail2ban (template `stockade-login`) and other programs.
 * `2026-11-22T10:00:00.000Z stockade-auth: 401 from 192.0.2.7 POST /api/v1/auth/login user="anna"`
 */
export const createSecurityLog = (needs: {
  clock: Clock
  /** Where it goes beside `print`; null: nowhere. */
  file: string | null
  print: ((line: string) => void) | null
  fail: (error: unknown) => void
}): SecurityLog => {
  const { clock, file, print, fail } = needs
  let [since, count, failed] = [0, 0, false]
  const keep = (line: string) => {
    if (file === null) return
    try {
      appendFileSync(file, line, { mode: 0o600 })
      if (statSync(file).size > mostBytes) renameSync(file, `${file}.1`)
      failed = false
    } catch (error) {
      if (!failed) fail(error)
      failed = true
    }
  }
  const write = (at: number, text: string) => {
    const line = `${iso(at)} stockade-auth: ${text}\n`
    print?.(line)
    keep(line)
  }
  return {
    note({ status, ip, method, path, user }) {
      if (print === null && file === null) return
      const now = clock()
      if (now - since >= second || now < since) {
        if (count > perSecond) write(now, `${count - perSecond} more lines were left out`)
        ;[since, count] = [now, 0]
      }
      if (++count > perSecond) return
      write(now, `${status} from ${ip} ${method} ${path}${user === null ? '' : ` user=${quoted(user)}`}`)
    },
  }
}
