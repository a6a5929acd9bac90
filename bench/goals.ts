import { judge, say } from './report.ts'
import type { Line } from './report.ts'
import type { ReadLines } from './reads.ts'

/* What is promised of each row (docs/performance.md). A goal that is missed is printed as such; one without a sample fails the bench. */

interface RequestGoal {
  /** Requests a second, at least. */
  readonly rate: number
  /** CPU of the server for one, microseconds, at most. */
  readonly cpu: number
  /** Milliseconds, at most. */
  readonly p99?: number
}
const reportGoals: Readonly<Record<number, RequestGoal>> = {
  1: { rate: 3000, cpu: 200 },
  16: { rate: 9000, cpu: 90 },
  64: { rate: 15_000, cpu: 60, p99: 20 },
}
const heartbeatGoal: RequestGoal = { rate: 30_000, cpu: 30 }
/** CPU of one answer, milliseconds, at most. Other pages of the list are judged by the time they take. */
const pageGoals: Readonly<Record<string, number>> = {
  'page newest': 1,
  'page active': 1,
  'page not active': 1,
  'page from and to': 1,
}
const otherPages = 5
const attackersGoal = 10
const statisticsGoal = 5
const lookUpGoal = 3

const judgeRequests = ({ name, rate, cpu, p99 }: Line, goal: RequestGoal): void => {
  judge(`${name}, a second, at least`, rate, goal.rate)
  judge(`${name}, CPU, at most`, cpu, goal.cpu, ' us')
  if (goal.p99 !== undefined) judge(`${name}, p99, at most`, p99, goal.p99, ' ms')
}
const judgeAnswer = ({ name, cpu }: Line, most: number): void =>
  judge(`${name}, CPU of an answer, at most`, cpu / 1000, most, ' ms')

/** Reports by the number of callers. */
export const judgeReports = (byCallers: ReadonlyMap<number, Line>): void => {
  say('Goals of reports:')
  for (const [callers, line] of byCallers) {
    const goal = reportGoals[callers]
    if (goal) judgeRequests(line, goal)
  }
}
export const judgeHeartbeats = (lines: readonly Line[]): void => {
  say('Goals of heartbeats:')
  for (const line of lines) judgeRequests(line, heartbeatGoal)
}
export const judgeReads = (lines: ReadLines): void => {
  say('Goals of reads:')
  for (const page of lines.pages) {
    const most = pageGoals[page.name.replace(' (NO SAMPLE)', '')]
    if (most === undefined) judge(`${page.name}, p50, at most`, page.p50, otherPages, ' ms')
    else judgeAnswer(page, most)
  }
  for (const attackers of lines.attackers) judgeAnswer(attackers, attackersGoal)
  for (const line of lines.statistics) judgeAnswer(line, line.name.startsWith('look-up') ? lookUpGoal : statisticsGoal)
}
