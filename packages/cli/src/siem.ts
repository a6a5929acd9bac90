import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from 'commander'
import type { Command } from 'commander'
import { ApiError } from '@stockade/client'
import type { Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printFields, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { stepsOf } from './steps.ts'
import type { Step } from './steps.ts'
import { momentOf, timeText, wholeOf } from './times.ts'

type Status = Reply<'GET /siem/status'>
type Settings = Reply<'GET /siem/settings'>
type Replay = Reply<'GET /siem/replay/{jobId}'>
type Type = Settings['events'][number]
const periods = ['day', 'week', 'month'] as const

/** How forwarding does, in one word, as the dashboard has it. */
const stateOf = ({ enabled, connected, last_error }: Status): 'off' | 'connected' | 'waiting' | 'failing' =>
  !enabled ? 'off' : connected ? 'connected' : last_error === null ? 'waiting' : 'failing'
const percentOf = (percent: number | null) => (percent === null ? null : `${percent} %`)
const targetOf = ({ host, port }: Settings) =>
  host === null ? null : host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
const certificates = (text: string) => {
  const count = text.split('-----BEGIN CERTIFICATE-----').length - 1
  return `${count} ${count === 1 ? 'certificate' : 'certificates'}`
}
const printSteps = (steps: readonly Step[]) =>
  printTable(
    ['STEP', 'RESULT', 'MS', 'DETAIL'],
    steps.map(({ name, ok, ms, detail }) => [name, ok ? 'ok' : 'failed', ms, detail]),
  )
const printReplay = (replay: Replay) =>
  printFields([
    ['job', replay.job_id],
    ['status', replay.status],
    ['events', replay.total_events],
    ['sent', replay.events_sent],
    ['failed', replay.events_failed],
    ['progress', percentOf(replay.progress_percent)],
    ['started', timeText(replay.started_at)],
  ])
const refuseFailed = ({ status, events_failed }: Replay) => {
  if (status === 'failed') throw new Failure('The replay failed.')
  if (status === 'completed' && events_failed > 0)
    throw new Failure(`${events_failed} ${events_failed === 1 ? 'event was' : 'events were'} not taken.`)
}

const addSettings = (siem: Command): void => {
  siem
    .command('settings')
    .description('show the settings; the token is never shown')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const settings = await client.call('GET /siem/settings')
      if (json) return printJson(settings)
      printFields([
        ['forwarding', settings.enabled ? 'on' : 'off'],
        ['target', targetOf(settings)],
        ['format', settings.format],
        ['protocol', settings.protocol],
        ['framing', settings.framing],
        ['TLS', settings.tls_enabled ? 'on' : 'off'],
        ['certificate is checked', settings.tls_verify ? 'yes' : 'no'],
        ['authority', settings.ca_cert === null ? null : certificates(settings.ca_cert)],
        ['path', settings.path],
        ['token', settings.token_set ? 'set' : 'not set'],
        ['events', settings.events.join(' ')],
        ['severity from', settings.min_severity],
        ['events in a batch', settings.batch_size],
        ['seconds between', settings.flush_interval],
      ])
    })

  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    siem
      .command(name)
      .description(enabled ? 'forward what happens from now on' : 'forward nothing that happens from now on')
      .action(async (_: object, command: Command) => {
        const { client, json } = contextOf(command)
        const done = await client.call('PATCH /siem/settings', { body: { enabled } })
        if (json) return printJson(done)
        print(safe(done.message))
      })
}

const addFigures = (siem: Command): void => {
  siem
    .command('status')
    .description('whether events arrive')
    .option('--check', 'exit 1 while forwarding is on and its target fails')
    .action(async ({ check }: { check?: boolean }, command: Command) => {
      const { client, json } = contextOf(command)
      const status = await client.call('GET /siem/status')
      if (json) printJson(status)
      else
        printFields([
          ['state', stateOf(status)],
          ['waiting', status.queue_size],
          ['sent today', status.events_sent_today],
          ['failed today', status.events_failed_today],
          ['last event', timeText(status.last_event)],
          ['last error', status.last_error],
          ['reachable', percentOf(status.uptime_percent)],
        ])
      if (check && stateOf(status) === 'failing') throw new Failure(`The target fails: ${status.last_error ?? ''}`)
    })

  siem
    .command('deliveries')
    .description('list the last attempts to deliver, newest first')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const list = await client.call('GET /siem/deliveries')
      if (json) return printJson(list)
      printTable(
        ['AT', 'RESULT', 'EVENTS', 'BYTES', 'STATUS', 'NEXT TRY', 'ERROR'],
        list.deliveries.map(({ at, ok, events, bytes, status, next_try, error }) => [
          timeText(at),
          ok ? 'ok' : 'failed',
          events,
          bytes,
          status,
          timeText(next_try),
          error,
        ]),
      )
    })

  siem
    .command('stats')
    .description('what was forwarded in a period')
    .addOption(new Option('--period <period>', 'until now (default: day)').choices(periods))
    .action(async (query: { period?: (typeof periods)[number] }, command: Command) => {
      const { client, json } = contextOf(command)
      const stats = await client.call('GET /siem/stats', { query })
      if (json) return printJson(stats)
      const { sent, failed, retried, success_rate } = stats.delivery_stats
      printFields([
        ['period', stats.period],
        ['events', stats.total_events],
        ['sent', sent],
        ['failed', failed],
        ['tried again', retried],
        ['taken', percentOf(success_rate)],
      ])
      const types = Object.entries(stats.by_type).sort(([, a], [, b]) => b - a)
      if (types.length === 0) return
      print('')
      printTable(['TYPE', 'EVENTS'], types)
    })

  siem
    .command('types')
    .description('list the types of events that can be forwarded')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const list = await client.call('GET /siem/event-types')
      if (json) return printJson(list)
      printTable(
        ['TYPE', 'SEVERITY', 'MEANING'],
        list.event_types.map(({ id, default_severity, description }) => [id, default_severity, description]),
      )
    })
}

const addDelivery = (siem: Command): void => {
  siem
    .command('test')
    .description('send a test event, also while forwarding is off; exit 1 when it does not arrive')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      try {
        const done = await client.call('POST /siem/test')
        if (json) return printJson(done)
        printSteps(done.steps)
        print(`\n${safe(done.message)}`)
      } catch (error) {
        // The error body lists the steps done so far.
        const steps = stepsOf(error)
        if (steps && json) printJson(error instanceof ApiError ? error.body : null)
        else if (steps && steps.length > 0) printSteps(steps)
        throw error
      }
    })

  siem
    .command('queue')
    .description('list what waits to be sent, newest first')
    .option('--limit <number>', 'rows, at most 1000', wholeOf)
    .action(async (query: { limit?: number }, command: Command) => {
      const { client, json } = contextOf(command)
      const { queue_size, events } = await client.call('GET /siem/queue', { query })
      if (json) return printJson({ queue_size, events })
      printTable(
        ['TYPE', 'HAPPENED', 'TRIED AGAIN', 'ID'],
        events.map(event => [event.type, timeText(event.created_at), event.retry_count, event.id]),
      )
      print(`\n${events.length} of ${queue_size} waiting`)
    })

  siem
    .command('flush')
    .description('send now what waits; exit 1 when some was not taken')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const done = await client.call('POST /siem/flush')
      printEither(json, done, safe(done.message))
      if (done.events_failed > 0)
        throw new Failure(`${done.events_failed} ${done.events_failed === 1 ? 'event was' : 'events were'} not taken.`)
    })

  siem
    .command('discard')
    .description('discard what waits: it is never sent')
    .option('--yes', 'yes, all of it')
    .action(async ({ yes }: { yes?: boolean }, command: Command) => {
      const { client, json } = contextOf(command)
      if (!yes) throw new Misuse('What waits would be lost. Say --yes if it shall be.')
      const done = await client.call('DELETE /siem/queue')
      if (json) return printJson(done)
      print(safe(done.message))
    })
}

const addReplays = (siem: Command): void => {
  siem
    .command('replay')
    .description('send past events again')
    .requiredOption('--from <time>', 'not before: a time, a date, or 24h for that long ago', momentOf)
    .option('--to <time>', 'before: likewise (default: now)', momentOf)
    .option('--type <type...>', 'only these types (default: all); see "siem types"')
    .option('--wait', 'wait for its end; exit 1 unless all are taken')
    .action(
      async (
        { from, to, type, wait }: { from: string; to?: string; type?: Type[]; wait?: boolean },
        command: Command,
      ) => {
        const { client, json } = contextOf(command)
        const started = await client.call('POST /siem/replay', {
          body: {
            from,
            to: to ?? new Date().toISOString(),
            ...(type === undefined ? {} : { event_types: type }),
          },
        })
        if (!wait) {
          if (json) return printJson(started)
          return print(`${safe(started.message)} How far it is: stockade siem replayed ${started.job_id}`)
        }
        const read = () => client.call('GET /siem/replay/{jobId}', { params: { jobId: started.job_id } })
        let replay = await read()
        for (let pause = 250; replay.status === 'running'; pause = Math.min(5000, pause * 2)) {
          await sleep(pause)
          replay = await read()
        }
        if (json) printJson(replay)
        else printReplay(replay)
        refuseFailed(replay)
      },
    )

  siem
    .command('replayed')
    .description('how far a replay is; exit 1 when it failed')
    .argument('<job-id>')
    .action(async (jobId: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const replay = await client.call('GET /siem/replay/{jobId}', { params: { jobId } })
      if (json) printJson(replay)
      else printReplay(replay)
      refuseFailed(replay)
    })
}

export const addSiemCommands = (program: Command): void => {
  const siem = program.command('siem').description('forwarding of events to a SIEM (Pro; the key needs admin)')
  addFigures(siem)
  addSettings(siem)
  addDelivery(siem)
  addReplays(siem)
}
