import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/*
 * The switches of chat and e-mail become routes of the alerts, and their daily summary becomes a report schedule. Notifications reported the
 * same incidents before: no channel gets an open alert a second time, and an alert that was not sent yet is sent once.
 */

type Sql = Kysely<unknown>
type Get = <T>(name: string, usual: T) => T

const settingsOf = async (db: Sql): Promise<Get> => {
  const { rows } = await sql<{ key: string; value: string }>`select key, value from settings`.execute(db)
  const values = new Map(rows.map(({ key, value }) => [key, JSON.parse(value)]))
  return (name, usual) => (values.has(name) ? values.get(name) : usual)
}
/** Which of the two are on and have a target. */
const readyOf = (get: Get): string[] => [
  ...(get('chat.enabled', false) && get('chat.webhook_url', null) !== null ? ['chat'] : []),
  ...(get('email.enabled', false) &&
  get('email.smtp_host', null) !== null &&
  get<readonly string[]>('email.recipients', []).length > 0
    ? ['email']
    : []),
]

/** The schedule of the daily summary. Its last date is that of the last summary, so that none is sent twice or left out. */
const addSummary = async (db: Sql, get: Get): Promise<void> => {
  const now = Date.now()
  // As 2026-11-29.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: get('service.timezone', 'UTC') }).format(now)
  const { rows } = await sql<{ date: string; skipped: number; at: number }>`
    select date, skipped, at from daily_summaries order by date desc`.execute(db)
  const isOn = readyOf(get).some(channel => get(`${channel}.daily_summary`, false))
  const yesterday = new Date(Date.parse(`${today}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)
  const lastDue = isOn ? (rows[0]?.date ?? yesterday) : today
  const lastAt = rows.find(({ skipped }) => Number(skipped) === 0)?.at ?? null
  const schedules = await sql<{ name: string }>`select name from report_schedules`.execute(db)
  const names = new Set(schedules.rows.map(({ name }) => name))
  let name = 'Daily summary'
  for (let n = 2; names.has(name); n++) name = `Daily summary ${n}`
  await sql`insert into report_schedules (name, period, hour, weekday, day, timezone, target, recipients, channels, enabled,
      last_due, last_at, last_error, created_by, created_at, builtin)
    values (${name}, 'day', 8, 1, 1, null, 'all', '[]', '[]', 1, ${lastDue}, ${lastAt}, null, 'Stockade', ${now}, 1)`.execute(
    db,
  )
}

/** The notification for each kind of alert that reports the same incident. */
const eventNames: Readonly<Record<string, string>> = {
  'server-unprotected': 'server.protection',
  'server-degraded': 'server.protection',
  'engine-down': 'server.protection',
  'whitelist-drift': 'server.protection',
  'shield-drift': 'server.protection',
  'server-silent': 'server.offline',
  'agent-cloned': 'server.clone',
  'quota-used-up': 'server.quota',
  'command-failed': 'command.finish',
  'rollout-paused': 'rollout.stop',
  'password-guessed': 'auth.guessing',
  'enrolment-token': 'server.enrolment_token_warn',
  'rule-stopped': 'rule.trip',
  'list-refused': 'list.refuse',
  'list-stale': 'list.stale',
}
interface State {
  readonly id: number
  readonly rule: string
  readonly kind: string
  readonly severity: string
  readonly server_no: number | null
  readonly state: 'pending' | 'firing'
  readonly since: number
  readonly told_at: number | null
  readonly told_key: string | null
  readonly told_channels: string | null
}
interface Unread {
  readonly name: string
  readonly server_no: number | null
}

/** Events that notifications had not read when the server stopped. */
const unreadOf = async (db: Sql, engine: Engine): Promise<readonly Unread[]> => {
  const isUnread =
    engine === 'postgres' ? sql`(e.xid, e.id) > (c.xid::xid8, c.event_id::bigint)` : sql`e.id > c.event_id`
  const { rows } = await sql<Unread>`select e.name, e.server_no from events e, cursors c
    where c.name = 'notifications' and ${isUnread} and e.name in (${sql.join([...new Set(Object.values(eventNames))])})`.execute(
    db,
  )
  return rows
}

/** Notes in each open alert the channels that got it already. */
const markTold = async (db: Sql, engine: Engine, listeners: readonly string[]): Promise<void> => {
  const unread = await unreadOf(db, engine)
  const offline = await sql<{ no: number }>`select no from servers where status = 'offline'`.execute(db)
  const offlineNos = new Set(offline.rows.map(({ no }) => Number(no)))
  const { rows } =
    await sql<State>`select id, rule, kind, severity, server_no, state, since, told_at, told_key, told_channels
    from alert_states where state in ('pending', 'firing') and acked_at is null and severity <> 'info' and rule = kind`.execute(
      db,
    )
  for (const row of rows) {
    const name = eventNames[row.kind]
    const isReported =
      name !== undefined &&
      !unread.some(event => event.name === name && event.server_no === row.server_no) &&
      (row.kind !== 'server-silent' || offlineNos.has(Number(row.server_no)))
    const toldChannels: readonly string[] = row.told_channels === null ? [] : JSON.parse(row.told_channels)
    if (isReported) {
      const channels = JSON.stringify([...new Set([...toldChannels, ...listeners])].sort())
      const key = row.told_key ?? (row.told_at === null ? null : `stockade-${row.rule}-${row.since}`)
      await sql`update alert_states set told_channels = ${channels}, told_key = ${key} where id = ${row.id}`.execute(db)
    } else if (row.state === 'firing' && listeners.some(channel => !toldChannels.includes(channel))) {
      // Channels that were told are left out when it is told once more.
      await sql`update alert_states set told_at = null where id = ${row.id}`.execute(db)
    }
  }
}

export const alertsBySwitches = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table report_schedules add column builtin integer not null default 0').execute(db)
    const get = await settingsOf(db)
    await addSummary(db, get)
    await sql.raw('drop table daily_summaries').execute(db)
    const listeners = readyOf(get).filter(channel => get(`${channel}.notify_errors`, true))
    if (listeners.length === 0) return
    await markTold(db, engine, listeners)
    // The alerts read the stream of events on from where the notifications were.
    await sql`insert into cursors (name, xid, event_id) select 'alerts', xid, event_id from cursors where name = 'notifications'`.execute(
      db,
    )
  },
})
