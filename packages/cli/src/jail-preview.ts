import type { Command } from 'commander'
import type { Reply } from '@stockade/client'
import type { JailPreviewResult } from '@stockade/contract/command-types/jail-preview.ts'
import { withoutUndefined } from '@stockade/contract/records.ts'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { placesOnly, queueAll, targetsAsked } from './orders.ts'
import type { Where } from './orders.ts'
import { print, printJson, printTable } from './print.ts'
import { safe, safeLines } from './safe.ts'
import { durationOf, timeText, wholeOf } from './times.ts'
import { waitForBatch } from './wait.ts'

type Ended = Reply<'GET /commands'>['commands'][number]

interface Options extends Where {
  readonly template?: string
  readonly maxretry?: number
  readonly findtime?: number
  readonly bantime?: number
  readonly ignore?: string[]
  readonly days?: number
}

/** A server reads 16 MB of logs at most, which takes a slow one a minute. */
const patience = 180
/** Rows of one server for people; with --json there are up to 200. */
const mostRows = 20

export const addJailPreview = (jails: Command): void => {
  placesOnly(
    jails
      .command('preview')
      .description('whom a jail or a template would have banned in the last days; bans nobody')
      .argument('[jail]', 'its name, as fail2ban knows it'),
  )
    .option('--template <name>', 'a template in place of a jail: whom it would have banned where it is not deployed')
    .option('--maxretry <count>', 'attempts until a ban (default: as the jail or template has it)', wholeOf)
    .option(
      '--findtime <time>',
      'time within which they count: seconds, 10m, 1h (default: as the jail or template has it)',
      durationOf,
    )
    .option('--bantime <time>', 'length of a ban, or perm (default: as the jail or template has it)', durationOf)
    .option('--ignore <ip...>', 'addresses and ranges to ignore in place of those of the jail')
    .option('--days <count>', 'how many days of the log, 7 at most (default: 1)', wholeOf)
    .option('--timeout <seconds>', `how long to wait for the servers (default: ${patience})`, wholeOf)
    .action(async (jail: string | undefined, options: Options, command: Command) => {
      const context = contextOf(command)
      const order = orderOf(jail, options)
      const { timeout = patience } = options
      const targets = await targetsAsked(context.client, options)
      const batches = await queueAll(context, options, targets, order)
      const until = Date.now() + timeout * 1000
      const ended: Ended[] = []
      for (const { batch_id, commands } of batches)
        ended.push(...(await waitForBatch(context.client, batch_id, commands.length, (until - Date.now()) / 1000)))
      if (context.json) printJson(ended)
      else for (const each of ended) printPreview(each)
      const done = ended.filter(({ status }) => status === 'completed').length
      if (done < ended.length) throw new Failure(`${ended.length - done} of ${ended.length} servers gave no preview.`)
    })
}

/** @throws Misuse unless it is either a jail or a template */
const orderOf = (jail: string | undefined, options: Options) => {
  const { template, maxretry, findtime, bantime, ignore: ignoreip, days } = options
  const settings = withoutUndefined({ maxretry, findtime, bantime })
  if (jail !== undefined && template === undefined)
    return { type: 'jail-preview', params: { jail, ...settings, ...withoutUndefined({ ignoreip, days }) } } as const
  if (template === undefined || jail !== undefined) throw new Misuse('Name a jail, or a template by --template NAME.')
  if (ignoreip !== undefined) throw new Misuse('--ignore is for a jail.')
  return {
    type: 'template-preview',
    params: { template_id: template, settings, ...withoutUndefined({ days }) },
  } as const
}

const printPreview = ({ server, status, result, id }: Ended): void => {
  const preview = status === 'completed' ? readPreview(result?.output ?? '') : null
  if (preview === null) {
    const open = status === 'pending' || status === 'running'
    const why = open ? `no answer yet: stockade command ${id}` : safeLines(result?.output ?? status)
    return print(`${safe(server.hostname)}: ${why}\n`)
  }
  print(safe(`${server.hostname}: ${sentencesOf(preview).join(' ')}`))
  const rows = preview.addresses.slice(0, mostRows)
  if (rows.length > 0)
    printTable(
      ['ADDRESS', 'ATTEMPTS', 'FIRST BAN', 'BANS', 'STOPPED', 'NOTE'],
      rows.map(row => [row.ip, row.failures, timeText(row.banned_at), row.bans, row.stopped, noteOf(row)]),
    )
  const rest = preview.banned + preview.whitelisted - rows.length
  print(rest > 0 ? `${rest} more.\n` : '')
}

const noteOf = ({ whitelisted, signed_in_at }: JailPreviewResult['addresses'][number]): string | null =>
  whitelisted ? 'whitelisted' : signed_in_at === null ? null : `signed in ${timeText(signed_in_at) ?? ''}`

const addresses = (count: number): string => `${count} ${count === 1 ? 'address' : 'addresses'}`

const cutWords = {
  bytes: 'Older lines were left out: the log is too long.',
  entries: 'Older messages were left out: the journal has too many.',
  cpu: 'Newer lines were left out: reading took too long.',
  addresses: 'Newer lines were left out: there are too many addresses.',
} as const

const sentencesOf = ({ settings, banned, whitelisted, signed_in, log }: JailPreviewResult): string[] => {
  const bantime = settings.bantime < 0 ? 'without an end' : `${settings.bantime} s`
  return [
    `${addresses(banned)} banned with maxretry ${settings.maxretry}, findtime ${settings.findtime} s, bantime ${bantime}.`,
    ...(whitelisted > 0 ? [`${addresses(whitelisted)} spared by the whitelist or ignoreip.`] : []),
    ...(signed_in > 0 ? [`From ${signed_in} of the banned somebody signed in later.`] : []),
    log.from === null
      ? 'The log has no line of this time.'
      : `Log read from ${timeText(log.from) ?? ''} to ${timeText(log.to) ?? ''}, ${log.lines} lines.`,
    ...(log.cut === null ? [] : [cutWords[log.cut]]),
  ]
}

/** What an agent adds to the output of a signed command. */
const signature = / \(signed by [^)]*\)$/
/** Null where the server answered with a sentence instead. */
const readPreview = (output: string): JailPreviewResult | null => {
  try {
    const value: unknown = JSON.parse(output.replace(signature, ''))
    return isPreview(value) ? value : null
  } catch {
    return null
  }
}
const isTime = (value: unknown): boolean => value === null || typeof value === 'string'
/** What a host says may be anything. */
const isPreview = (value: unknown): value is JailPreviewResult => {
  const { settings, addresses: rows, log, banned, whitelisted, signed_in } = recordOf(value)
  const { from, to, cut } = recordOf(log)
  const { bantime } = recordOf(settings)
  return (
    [banned, whitelisted, signed_in, bantime].every(count => typeof count === 'number') &&
    [from, to].every(isTime) &&
    (cut === null || (typeof cut === 'string' && Object.hasOwn(cutWords, cut))) &&
    Array.isArray(rows) &&
    rows.every(row => typeof recordOf(row)['banned_at'] === 'string' && isTime(recordOf(row)['signed_in_at']))
  )
}
