/* The state of protection that the simulated hosts report: most are well, one reads a silent log, one has lost its fail2ban. */

const hour = 3_600_000
const checksDone = 14

interface Problem {
  readonly level: 'degraded' | 'unprotected'
  readonly check: string
  readonly subject: string | null
  readonly detail: string
  /** Milliseconds since when, at the start of the demo. */
  readonly before: number
}
const problems: Readonly<Record<string, Problem>> = {
  'web-03': {
    level: 'degraded',
    check: 'log',
    subject: 'nginx-botsearch',
    detail: '/var/log/nginx/access.log has had no new line for 26 hours, so the jail sees no requests.',
    before: 26 * hour,
  },
  'db-02': {
    level: 'unprotected',
    check: 'engine',
    subject: null,
    detail: 'fail2ban does not answer: its service failed to start.',
    before: 2 * hour,
  },
}

/** The report of a host; `began` is when the demo did. */
export const protectionOf = (hostname: string, began: number) => {
  const problem = Object.hasOwn(problems, hostname) ? problems[hostname] : undefined
  const since = new Date(began - (problem?.before ?? 72 * hour)).toISOString()
  if (!problem)
    return {
      level: 'protected' as const,
      since,
      summary: 'All checks are fine.',
      checks: [],
      counted: { ok: checksDone, not_ok: 0, unknown: 0 },
    }
  const { level, check, subject, detail } = problem
  return {
    level,
    since,
    summary: detail,
    checks: [{ id: check, subject, state: 'bad' as const, since, detail }],
    counted: { ok: checksDone - 1, not_ok: 1, unknown: 0 },
  }
}
