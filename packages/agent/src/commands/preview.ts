import * as fs from 'node:fs'
import { join } from 'node:path'
import type { JailPreviewResult } from '@stockade/contract/command-types/index.ts'
import { faultsOf } from '../engine/config.ts'
import type { CheckedJail, EngineConfig } from '../engine/config.ts'
import { sharedAge } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { insideText } from '../engine/places.ts'
import type { Places } from '../engine/places.ts'
import { realPath } from '../files.ts'
import { canonicalIp } from '../ip.ts'
import { asFields, asList, asText } from '../json.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { preview as previewProgram } from '../python/programs.ts'
import type { Templates } from '../templates/templates.ts'
import { errorText } from '../text.ts'
import type { Handlers, HandlerParams } from './params.ts'
import { Refused } from './refused.ts'

/* What a jail would have banned, by fail2ban's own filter in a process of its own, and with bounds of all that it takes. */

const day = 86_400
/** Bytes of logs, entries of the journal, bytes of a line, CPU seconds and addresses: fail2ban reads some 10,000 lines a second. */
const limits = { bytes: 16 * 1024 * 1024, entries: 100_000, line: 8192, cpu: 20, addresses: 20_000 } as const
/** Milliseconds. The service of the agent may use half of a core. */
const deadline = 120_000
const maxOutput = 8 * 1024 * 1024
const mostRows = 200
const mostFiles = 20

type Params = HandlerParams['jail-preview']
type Row = JailPreviewResult['addresses'][number]

/** The handlers of `jail-preview` and `template-preview`. */
export const createPreviews = (needs: {
  engine: Pick<Engine, 'jails' | 'thresholds' | 'ignored'>
  config: Pick<EngineConfig, 'check' | 'directory'>
  templates: Pick<Templates, 'examine'>
  python: Interpreter
  policy: Pick<PolicyOfHost, 'allowsLog'>
  /** Only a fail2ban in a container of which no map says anything has other logs than the agent finds. */
  isReachable: () => boolean
  places: Pick<Places, 'isMapped' | 'outside'>
  whitelisted: (ip: string) => boolean
  ownAddresses: () => readonly string[]
  now: () => number
}): Pick<Handlers, 'jail-preview' | 'template-preview'> => {
  const { engine, config } = needs

  /** What builds the jail. Its expressions are tried as those of a template are, before they see the log. */
  const checkedJail = async (jail: string): Promise<CheckedJail> => {
    const isOurs = fs.existsSync(join(config.directory, 'filter.d', `stockade-${jail}.conf`))
    const check = await config.check([jail], { trial: isOurs ? 'mixed' : 'host' })
    const faults = faultsOf(check)
    if (faults.length > 0) throw new Refused(`nothing was tried, since the jail has errors:\n${faults.join('\n')}`)
    const checked = check.jails.get(jail)
    if (checked === undefined) throw new Refused(`there is no jail ${jail} on this host`)
    if (!checked.enabled) throw new Refused(`the jail ${jail} is not enabled on this host`)
    return checked
  }

  /** The log of a jail with links followed, and before it the one before, if that was rotated since and may be read as well. */
  const filesOf = (named: string, since: number): string[] => {
    const path = needs.places.outside(named)
    if (path === null) throw new Refused(`nothing was tried: ${insideText(`the log ${named}`)}`)
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    const real = realPath(path)
    if (stat === undefined) throw new Refused(`the log ${path} does not exist`)
    if (!needs.policy.allowsLog(path))
      throw new Refused(
        `the log ${path} lies outside /var/log; "log_paths" in policy.json on this host does not name it either`,
      )
    if (!stat.isFile() || real === null) throw new Refused(`the log ${path} is no file`)
    const before = `${path}.1`
    const rotated = fs.statSync(before, { throwIfNoEntry: false })
    const older = rotated?.isFile() === true && rotated.mtimeMs >= since * 1000 && needs.policy.allowsLog(before)
    // The program runs where fail2ban runs, and what a link leads to there is the container's own.
    if (needs.places.isMapped) return [...(older ? [`${named}.1`] : []), named]
    return [...(older ? [realPath(before) ?? before] : []), real]
  }

  const ignoredNow = async (jail: string, { stream }: CheckedJail, isRunning: boolean): Promise<string[]> => {
    const entries = isRunning
      ? await engine.ignored(jail)
      : stream.flatMap(([, , what, ...values]) => (what === 'addignoreip' ? values.map(String) : []))
    return entries.flatMap(entry => canonicalIp(entry) ?? [])
  }

  const mustBeReachable = (): void => {
    if (!needs.isReachable())
      throw new Refused('nothing was tried, since fail2ban runs in a container here: its logs are read by other paths')
  }

  /** @param settings null: as the stream has them */
  const preview = async (
    { jail, checked, days = 1 }: { jail: string; checked: CheckedJail; days?: number | undefined },
    settings: ReturnType<typeof settingsOf>,
    ignoreip: readonly string[],
  ): Promise<string> => {
    const since = Math.floor(needs.now() / 1000) - days * day
    const paths = checked.stream.flatMap(([, , what, path]) => (what === 'addlogpath' ? [String(path)] : []))
    if (paths.length > mostFiles) throw new Refused(`the jail ${jail} reads more than ${mostFiles} logs`)
    const input = {
      ...{ name: jail, stream: checked.stream, files: paths.flatMap(path => filesOf(path, since)), since },
      ...settings,
      links: needs.places.isMapped,
      ignoreip: [...ignoreip, ...needs.ownAddresses()],
      ...limits,
    }
    const text = await needs.python
      .run(previewProgram, input, { timeout: deadline, maxOutput })
      .catch((error: unknown) => {
        throw new Refused(`the log was not read to its end: ${errorText(error)}`)
      })
    return JSON.stringify(resultOf(jail, asFields(JSON.parse(text)), needs.whitelisted))
  }

  return {
    async 'jail-preview'(params) {
      mustBeReachable()
      const { jail, days } = params
      const checked = await checkedJail(jail)
      const isRunning = (await engine.jails(sharedAge).catch((): string[] => [])).includes(jail)
      const settings = settingsOf(params, isRunning ? await engine.thresholds(jail) : null)
      return preview({ jail, checked, days }, settings, params.ignoreip ?? (await ignoredNow(jail, checked, isRunning)))
    },
    async 'template-preview'({ template, days }) {
      mustBeReachable()
      const { name, checked } = await needs.templates.examine(template)
      return preview({ jail: name, checked, days }, settingsOf({}, null), await ignoredNow(name, checked, false))
    },
  }
}

/** The settings that were asked for; null: as the jail has them. */
const settingsOf = (
  { maxretry, findtime, bantime }: Omit<Params, 'jail'>,
  own: { readonly maxretry: number; readonly findtime: number; readonly bantime: number } | null,
): Record<'maxretry' | 'findtime' | 'bantime', number | null> => ({
  maxretry: maxretry ?? own?.maxretry ?? null,
  findtime: findtime ?? own?.findtime ?? null,
  bantime: bantime ?? own?.bantime ?? null,
})

const countOf = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.floor(value) : 0)
const timeOf = (value: unknown): string | null =>
  typeof value === 'number' ? new Date(Math.round(value * 1000)).toISOString() : null

const rowOf = (value: unknown, whitelisted: (ip: string) => boolean): Row[] => {
  const { ip: text, failures, at, bans, stopped, ignored, signed_in } = asFields(value)
  const ip = canonicalIp(asText(text))
  const banned_at = timeOf(at)
  if (ip === null || banned_at === null) return []
  return [
    {
      ...{ ip, failures: countOf(failures), banned_at, bans: countOf(bans), stopped: countOf(stopped) },
      whitelisted: ignored === true || whitelisted(ip),
      signed_in_at: timeOf(signed_in),
    },
  ]
}

const cuts = ['bytes', 'entries', 'cpu', 'addresses'] as const

const resultOf = (
  jail: string,
  fields: ReturnType<typeof asFields>,
  whitelisted: (ip: string) => boolean,
): JailPreviewResult => {
  const rows = asList(fields['banned']).flatMap(row => rowOf(row, whitelisted))
  const banned = rows.filter(row => !row.whitelisted)
  const total = fields['log_bytes']
  const settings = asFields(fields['settings'])
  return {
    jail,
    settings: {
      maxretry: countOf(settings['maxretry']),
      findtime: countOf(settings['findtime']),
      bantime: typeof settings['bantime'] === 'number' ? settings['bantime'] : 0,
    },
    banned: banned.length,
    whitelisted: rows.length - banned.length,
    signed_in: banned.filter(({ signed_in_at }) => signed_in_at !== null).length,
    addresses: rows.sort((a, b) => b.failures - a.failures || (a.ip < b.ip ? -1 : 1)).slice(0, mostRows),
    failures: countOf(fields['failures']),
    other_ids: countOf(fields['others']),
    log: {
      from: timeOf(fields['from']),
      to: timeOf(fields['to']),
      lines: countOf(fields['lines']),
      long_lines: countOf(fields['long_lines']),
      read_bytes: countOf(fields['read_bytes']),
      total_bytes: typeof total === 'number' ? countOf(total) : null,
      cut: cuts.find(known => known === fields['cut']) ?? null,
    },
  }
}
