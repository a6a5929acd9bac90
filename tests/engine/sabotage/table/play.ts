import * as fs from 'node:fs'
import { join } from 'node:path'
import { sleep, until, type Host } from '../../host.ts'
import { sources, type Neighbours } from '../../neighbours.ts'
import { reports } from '../../protection.ts'
import type { RecordedScene } from '../../stage.ts'
import { prelude } from './prelude.ts'
import type { Row } from './rows.ts'

/** What became of a row. */
export interface Outcome {
  /** Seconds until the host said it; null: it said nothing. */
  readonly told: number | null
  readonly words: string
  /** Seconds until it no longer said it after the damage was mended; null: it said nothing, or goes on. */
  readonly over: number | null
  /** What is wrong with the host's words; null: nothing. */
  readonly wrong: string | null
}

/** What is banned by a jail closes this port, on which the host listens. */
const port = 8080
const attacker = sources.bad
/** A harm has to be told within this time, seconds. */
const longest = 60
/** What a command does to the firewall is so within this time on a busy machine, seconds. */
const settling = 60

/** The section of a row's jail. */
export const jailText = (row: Row, jail: string, directory: string): string => {
  const lines = [
    `[${jail}]`,
    'enabled = true',
    'filter = sshd',
    `logpath = ${row.hasLog === true ? logOf(jail, directory) : '/dev/null'}`,
    ...(/^port =/m.test(row.jail ?? '') ? [] : [`port = ${port}`]),
    row.jail ?? '',
  ]
  return `${lines.join('\n')}\n`
}
export const logOf = (jail: string, directory: string): string => join(directory, 'log', `${jail}.log`)

/** Whether the condition comes true in this time. */
const within = async (seconds: number, condition: () => Promise<boolean> | boolean): Promise<boolean> => {
  let isOver = false
  let isTrue = false
  const timer = setTimeout(() => (isOver = true), seconds * 1000)
  try {
    await until(async () => (isTrue = await condition()) || isOver, 'the words of a host, or the end of its time')
    return isTrue
  } finally {
    clearTimeout(timer)
  }
}

/** Runs lines of shell on the host. */
export const shell = async (host: Host, variables: Readonly<Record<string, string>>, lines: string): Promise<string> =>
  host.inside(
    'env',
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    'bash',
    '-c',
    `${prelude}\n${lines}`,
  )

const secondsSince = (at: number): number => Math.round((Date.now() - at) / 100) / 10

/** Plays one row on a host: the attacker is banned, the damage is done, and what the host says is compared with what is so. */
export const playRow = async (
  scene: RecordedScene,
  neighbours: Neighbours,
  row: Row,
  { jail, client, silence }: { readonly jail: string; readonly client: string; readonly silence: number },
): Promise<Outcome> => {
  const { host } = scene
  const action = /\$ACTION/.test(`${row.before}${row.does}`) ? await actionOf(host, jail) : ''
  const variables = {
    ...{ JAIL: jail, DIR: host.directory, F2B: client, ACTION: action },
    ...{ PORT: String(port), BAD: attacker, LOG: logOf(jail, host.directory) },
  }
  const run = (lines = ''): Promise<unknown> => (lines === '' ? Promise.resolve() : shell(host, variables, lines))
  const isOut = async (): Promise<boolean> => !(await neighbours.reachesHost(attacker))
  const banned = row.bans ?? attacker
  const isAtOnce = row.harm === 'opens' && (row.does === '' || row.jail?.startsWith('port') === true)

  /** What the host says now that it did not say before. */
  const known = new Set((reports(scene).at(-1)?.checks ?? []).map(({ detail }) => detail))
  const news = (from: number): string[] =>
    reports(scene)
      .slice(from)
      .flatMap(({ checks }) => checks)
      .filter(({ state, detail }) => (state === 'bad' || state === 'warning') && !known.has(detail))
      .map(({ detail }) => detail)
  const isMeant = (detail: string): boolean =>
    row.harm === 'none' ? row.says?.test(detail) !== true : (row.says ?? /./).test(detail)
  const heard = (from: number): string | undefined => news(from).find(isMeant)

  const judge = async (): Promise<Omit<Outcome, 'over'>> => {
    await run(row.before)
    if (banned !== '') await host.client('set', jail, 'banip', banned)
    if (banned === attacker && !isAtOnce && !(await within(settling, isOut)))
      return { told: null, words: '', wrong: 'the ban never held' }
    // The agent takes a ban into account that it has seen before.
    await sleep(silence * 200)
    const from = reports(scene).length
    const startedAt = Date.now()
    await run(row.does)
    const doneAt = Date.now()
    if (row.harm === 'none') {
      await sleep(Math.max(0, silence * 1000 - (Date.now() - doneAt)))
      const words = heard(from)
      if (words !== undefined) return { told: secondsSince(startedAt), words, wrong: 'a false alarm' }
      const isHeld = banned !== attacker || (await isOut())
      return { told: null, words: news(from)[0] ?? '', wrong: isHeld ? null : 'the attacker gets in' }
    }
    const isOpen = row.harm === 'blinds' || (await within(settling, async () => !(await isOut())))
    if (!isOpen) return { told: null, words: heard(from) ?? '', wrong: 'the attacker does not get in' }
    const isTold = await within(longest - (Date.now() - doneAt) / 1000, () => heard(from) !== undefined)
    return isTold
      ? { told: secondsSince(startedAt), words: heard(from) ?? '', wrong: null }
      : { told: null, words: unknownOf(scene, jail), wrong: 'not told' }
  }

  let outcome: Omit<Outcome, 'over'>
  try {
    outcome = await judge()
  } catch (error) {
    outcome = { told: null, words: '', wrong: `cannot be played: ${textOf(error)}` }
  }
  const undone = await run(row.undoes).then(
    () => null,
    (error: unknown) => `cannot be undone: ${textOf(error)}`,
  )
  const undoneAt = Date.now()
  // With firewalld an unban right after a restored ban left the rule in the firewall: the action was probably still at work.
  if (/\b(again|restored)\b/.test(row.undoes ?? '')) await within(settling, isOut)
  await host.client('unban', attacker).catch(() => undefined)
  const remaining = (): string[] =>
    (reports(scene).at(-1)?.checks ?? []).flatMap(({ state, detail }) =>
      state !== 'unknown' && !known.has(detail) ? [detail] : [],
    )
  const isFree = await within(settling, async () => !(await isOut()))
  const isOver = await within(longest, () => remaining().length === 0)
  const over = outcome.told !== null && isOver ? secondsSince(undoneAt) : null
  const remains = isOver ? null : 'goes on after it was mended'
  return {
    ...outcome,
    over,
    words: isOver ? outcome.words : (remaining()[0] ?? outcome.words),
    wrong: outcome.wrong ?? undone ?? remains ?? (isFree ? null : 'the attacker stays out after the end'),
  }
}

const textOf = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message?: string }
  return (stderr || message || String(error)).trim().split('\n').slice(-2).join(' ').slice(0, 200)
}

const actionOf = async (host: Host, jail: string): Promise<string> => {
  const [, list = ''] = (await host.client('get', jail, 'actions')).split('\n')
  return list.split(/,\s*/).find(name => !name.startsWith('stockade')) ?? ''
}

const unknownOf = (scene: RecordedScene, jail: string): string =>
  (reports(scene).at(-1)?.checks ?? []).find(({ subject }) => subject === jail)?.detail ?? ''

/** One line of JSON for each row, at once: a long run may be cut off. */
export const note = (file: string | undefined, line: object): void => {
  if (file) fs.appendFileSync(file, `${JSON.stringify(line)}\n`)
}
