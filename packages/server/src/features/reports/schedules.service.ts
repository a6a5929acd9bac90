import { reports as contract } from '@stockade/contract'
import { withoutUndefined } from '@stockade/contract/records.ts'
import type { FastifyBaseLogger } from 'fastify'
import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { isTimeZone } from '../../core/checks.ts'
import { iso, isoOrNull, minute } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { JsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { Outbox } from '../channels/outbox.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { lastDue, nextDue } from './periods.ts'
import { messageOf } from './report-mail.ts'
import { wordsOf } from './report-words.ts'
import type { ReportsService } from './reports.service.ts'
import {
  allSchedules,
  claimDue,
  deleteSchedule,
  findSchedule,
  idOfScheduleName,
  insertSchedule,
  updateSchedule,
} from './schedules.store.ts'
import type { ScheduleRow } from './schedules.store.ts'

type Input = BodyOf<typeof contract.updateReportSchedule>

export interface SchedulesService {
  list(actor: Principal): Promise<ReplyOf<typeof contract.listReportSchedules>>
  /** @throws Problem 400 naming the field, 409 where the name is taken or there are too many */
  create(actor: Principal, input: BodyOf<typeof contract.createReportSchedule>): Promise<contract.ReportSchedule>
  change(actor: Principal, id: number, input: Input): Promise<contract.ReportSchedule>
  /** Answers the name. */
  remove(actor: Principal, id: number): Promise<string>
  /** Queues the report now. @throws Problem 409 where nothing can take it */
  test(id: number): Promise<string>
  /** Queues what is due. */
  run(): Promise<void>
}

/** A report that could not be made is tried again after this time (milliseconds). */
const retryAfter = 5 * minute
const none = jsonText<readonly string[]>([])
const usual = { hour: 7, weekday: 1, day: 1, timezone: null, recipients: none, channels: none, enabled: 1 } as const
const listed = (text: JsonText<readonly string[]>): string[] => [...parseJson(text)]

export const createSchedules = (
  needs: StoreAccess & {
    readonly log: Pick<FastifyBaseLogger, 'error'>
    readonly targeting: Pick<Targeting, 'named' | 'view' | 'describe'>
    readonly settings: Pick<SettingsService, 'get'>
    readonly outbox: Pick<Outbox, 'states' | 'isReady' | 'queue' | 'queueMail' | 'site' | 'summaryChannels'>
    readonly reports: Pick<ReportsService, 'make'>
  },
): SchedulesService => {
  const { db, clock, events, targeting, outbox } = needs
  const retryAt = new Map<number, number>()
  const zoneOf = ({ timezone }: Pick<ScheduleRow, 'timezone'>) => timezone ?? needs.settings.get('service.timezone')

  /** The daily summary goes where and when the switches of chat and e-mail say. */
  const bySwitches = (row: ScheduleRow): ScheduleRow => {
    if (row.builtin === 0) return row
    const ids = outbox.summaryChannels()
    const hour = needs.settings.get('notifications.daily_summary_hour')
    return { ...row, hour, channels: jsonText(ids), enabled: ids.length > 0 ? 1 : 0 }
  }
  const rowsNow = async (): Promise<ScheduleRow[]> => (await allSchedules(db.read)).map(bySwitches)
  const refuseBuiltin = ({ builtin }: ScheduleRow) => {
    if (builtin === 1)
      throw conflict('The daily summary is changed by PATCH /api/v1/settings/chat and /api/v1/settings/email.')
  }

  const view = (actor: Principal, row: ScheduleRow): contract.ReportSchedule => ({
    id: row.id,
    builtin: row.builtin === 1,
    name: row.name,
    period: row.period,
    hour: row.hour,
    weekday: row.weekday,
    day: row.day,
    timezone: row.timezone,
    target: targeting.view(actor, targetsOf(row.target)),
    recipients: listed(row.recipients),
    channels: listed(row.channels),
    enabled: row.enabled === 1,
    next_at: row.enabled === 1 ? iso(nextDue(row, row.last_due, zoneOf(row))) : null,
    last_at: isoOrNull(row.last_at),
    last_error: row.last_error,
    created_by: row.created_by,
  })
  const scheduleById = async (sql: Parameters<typeof findSchedule>[0], id: number): Promise<ScheduleRow> => {
    const row = await findSchedule(sql, id)
    if (!row) throw notFound(`There is no schedule ${id}.`)
    return row
  }
  const checkName = async (typed: string, own: number | null): Promise<string> => {
    const name = tame(typed, bounds.name * 4)
    const takenId = await idOfScheduleName(db.read, name)
    if (takenId !== null && takenId !== own) throw conflict(`There is a schedule with the name ${name}.`)
    return name
  }
  const columnsOf = async (actor: Principal, input: Input) => {
    const { hour, weekday, day, period, timezone, target, recipients, enabled } = input
    if (typeof timezone === 'string' && !isTimeZone(timezone))
      throw invalid('timezone', 'timezone must be an IANA time zone, such as Europe/Vienna.')
    if (input.channels) {
      const ids = await outbox.states()
      const unknown = input.channels.findIndex(id => !ids.has(id))
      if (unknown >= 0) throw invalid(`channels.${unknown}`, `There is no channel ${input.channels[unknown] ?? ''}.`)
    }
    return {
      ...withoutUndefined({ hour, weekday, day, period, timezone }),
      ...(target && { target: textOf(targeting.named(actor, target)) }),
      ...(recipients && { recipients: jsonText([...new Set(recipients)]) }),
      ...(input.channels && { channels: jsonText([...new Set(input.channels)]) }),
      ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
    }
  }
  const record = (
    change: Change,
    name: 'report.create' | 'report.update' | 'report.delete',
    actor: Principal,
    row: ScheduleRow,
  ) =>
    change.record({
      name,
      author: authorOf(actor),
      data: {
        ...{ id: row.id, name: row.name, period: row.period, enabled: row.enabled === 1 },
        ...targeting.describe(targetsOf(row.target)),
        recipients: listed(row.recipients),
      },
    })

  /** Why nobody would get it; null where somebody would. */
  const obstacle = async (row: ScheduleRow): Promise<string | null> => {
    const ids = listed(row.channels)
    const needsMail = listed(row.recipients).length > 0 || ids.length === 0
    if (needsMail && !outbox.isReady('email')) return 'E-mail is off, or has no mail server or recipients.'
    const queueStates = await outbox.states()
    return !needsMail && ids.every(id => !queueStates.has(id)) ? 'Its channels were deleted.' : null
  }
  const messageFor = async (row: ScheduleRow) => {
    const report = await needs.reports.make(row.period, zoneOf(row), targetsOf(row.target))
    const site = outbox.site()
    return messageOf(wordsOf(report, site, row.name), site, clock())
  }
  const queue = async (
    change: Pick<Change, 'sql'>,
    row: ScheduleRow,
    message: Awaited<ReturnType<typeof messageFor>>,
  ) => {
    const [recipients, ids] = [listed(row.recipients), listed(row.channels)]
    if (recipients.length > 0) await outbox.queueMail(change, recipients, message)
    await outbox.queue(change, recipients.length + ids.length > 0 ? ids : ['email'], message)
  }

  return {
    async list(actor) {
      const rows = await rowsNow()
      return { schedules: rows.map(row => view(actor, row)), total: rows.length }
    },
    async create(actor, { name: typed, period, ...input }) {
      const name = await checkName(typed, null)
      const columns = {
        ...usual,
        period,
        target: 'all',
        ...(await columnsOf(actor, { ...input, target: input.target ?? { all: true } })),
      }
      const now = clock()
      const row = await events.change(async change => {
        admit(contract.createReportSchedule.leaves, {
          all: (await allSchedules(change.sql)).filter(({ builtin }) => builtin === 0).length,
        })
        const added = await insertSchedule(change.sql, {
          ...columns,
          name,
          last_due: lastDue(columns, now, zoneOf(columns)),
          last_at: null,
          last_error: null,
          created_by: actor.name,
          created_at: now,
        })
        await record(change, 'report.create', actor, added)
        return added
      })
      return view(actor, row)
    },
    async change(actor, id, { name: typed, ...input }) {
      const name = typed === undefined ? undefined : await checkName(typed, id)
      const columns = await columnsOf(actor, input)
      const row = await events.change(async change => {
        const before = await scheduleById(change.sql, id)
        refuseBuiltin(before)
        const after = { ...before, ...columns, ...(name === undefined ? {} : { name }) }
        // What was due by the old times is not made up for.
        const last_due = lastDue(after, clock(), zoneOf(after))
        await updateSchedule(change.sql, id, { ...columns, ...(name === undefined ? {} : { name }), last_due })
        await record(change, 'report.update', actor, after)
        return { ...after, last_due }
      })
      return view(actor, row)
    },
    remove: (actor, id) =>
      events.change(async change => {
        const row = await scheduleById(change.sql, id)
        refuseBuiltin(row)
        await deleteSchedule(change.sql, id)
        await record(change, 'report.delete', actor, row)
        return row.name
      }),
    async test(id) {
      const row = bySwitches(await scheduleById(db.read, id))
      if (row.builtin === 1 && row.enabled === 0) throw conflict('Neither chat nor e-mail asks for the daily summary.')
      const problem = await obstacle(row)
      if (problem !== null) throw conflict(problem)
      const message = await messageFor(row)
      await db.write.transaction().execute(sql => queue({ sql }, row, message))
      return row.name
    },
    async run() {
      for (const row of await rowsNow()) {
        if (row.enabled === 0) continue
        const now = clock()
        const due = lastDue(row, now, zoneOf(row))
        if (due <= row.last_due || now < (retryAt.get(row.id) ?? 0)) continue
        try {
          const problem = await obstacle(row)
          const message = problem === null ? await messageFor(row) : null
          await db.write.transaction().execute(async sql => {
            // The process that writes the date first queues the report, however many came this far.
            if (!(await claimDue(sql, row, due))) return
            await updateSchedule(sql, row.id, message ? { last_at: now, last_error: null } : { last_error: problem })
            if (message) await queue({ sql }, row, message)
          })
          retryAt.delete(row.id)
        } catch (error) {
          retryAt.set(row.id, now + retryAfter)
          needs.log.error(
            { err: error, schedule: row.id },
            'a report could not be made; it is tried again in 5 minutes',
          )
          await updateSchedule(db.write, row.id, {
            last_error: 'The report could not be made. The log of the server says why.',
          })
        }
      }
    },
  }
}
