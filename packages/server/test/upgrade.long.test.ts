import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Kysely } from 'kysely'
import type { Database } from '../src/db/database.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { createSecrets } from '../src/core/secrets.ts'
import { aHost, engine, eventually, freshDatabase, spawnServer } from '../src/testing/index.ts'
import type { Options } from '../src/testing/index.ts'
import { webhookReceiver } from '../src/testing/webhook.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a schema that is newer than the program', () => {
  let options: Options
  let drop: (() => Promise<void>) | undefined
  const dataDir = join(folder, 'newer')
  type Migrations = Kysely<{ kysely_migration: { name: string; timestamp: string } }>
  const change = async (work: (db: Database, migrations: Migrations) => Promise<unknown>) => {
    const { databaseUrl } = options
    const db = databaseUrl
      ? await openPostgres(databaseUrl, () => {})
      : await openSqlite(join(dataDir, 'stockade.sqlite3'))
    await work(db, db.write as unknown as Migrations).finally(() => db.close())
  }
  const say = (key: string, value: string) =>
    change(db => db.write.updateTable('meta').set({ value }).where('key', '=', key).execute())
  beforeAll(async () => {
    const database = await freshDatabase()
    drop = database?.drop
    options = { dataDir, ...(database ? { databaseUrl: database.url } : {}) }
    const server = await spawnServer(options)
    await server.setUp()
    await server.stop()
    await change((_, migrations) =>
      migrations
        .insertInto('kysely_migration')
        .values({ name: '9999-future', timestamp: new Date().toISOString() })
        .execute(),
    )
    await say('schema.version', '9.8.7')
  })
  afterAll(() => drop?.())

  test('stops the start with a sentence that names the version, and changes nothing', async () => {
    await say('schema.min_reader', '9999-future')
    const refused = await spawnServer(options).catch((error: Error) => error.message)
    expect(refused).toMatch(
      /Stockade can't start: the data is from Stockade 9\.8\.7 \(schema 9999-future\), and this is the older version .* Run that version, or go back to the state before the upgrade: /,
    )
    expect(refused).not.toMatch(/^\s+at /m)
  })
  test('is opened where that version says that this one can read it', async () => {
    await say('schema.min_reader', '0063-feed-changes')
    const server = await spawnServer(options)
    expect((await server.signIn()).token).not.toBe('')
    await server.close()
    // The newer version finds its schema as it left it.
    await change(async (db, migrations) => {
      const rows = await migrations.selectFrom('kysely_migration').select('name').execute()
      expect(rows.map(({ name }) => name)).toContain('9999-future')
      expect(
        await db.read.selectFrom('meta').select('value').where('key', '=', 'schema.version').executeTakeFirst(),
      ).toEqual({ value: '9.8.7' })
    })
  })
})

/** What a schema is, whatever order its columns were added in. */
const schemaQueries: Readonly<Record<typeof engine, readonly string[]>> = {
  sqlite: [
    `select t.name, c.name as col, c.type, c."notnull", c.dflt_value, c.pk from sqlite_master t, pragma_table_info(t.name) c
      where t.type in ('table', 'view') order by t.name, c.name`,
    `select t.name, f."from" as col, f."table" as other, f.on_delete from sqlite_master t, pragma_foreign_key_list(t.name) f order by 1, 2`,
    `select type, name, sql from sqlite_master where type in ('index', 'view', 'trigger') order by 1, 2`,
  ],
  postgres: [
    `select table_name, column_name, data_type, is_nullable, column_default, identity_generation, identity_start
      from information_schema.columns where table_schema = 'public' order by 1, 2`,
    `select conrelid::regclass::text as t, conname, pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace and contype <> 'n' order by 1, 2`,
    `select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`,
    `select viewname, definition from pg_views where schemaname = 'public' order by 1`,
    `select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1`,
    `select relname, relreplident, reloptions, relpersistence from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  ],
}

describe('data of the last development build', () => {
  const dump = readFileSync(join(import.meta.dirname, `schemas/development.${engine}.sql`), 'utf8')
  /** Runs statements one by one in what `options` names, and answers with the rows of each. */
  const execute = async ({ dataDir, databaseUrl }: Options, statements: readonly string[]): Promise<string[]> => {
    const answers: string[] = []
    const keep = (rows: unknown) => answers.push(JSON.stringify(rows ?? []).replaceAll(/(\\n|\s)+/g, ' '))
    if (databaseUrl) {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      try {
        for (const statement of statements) keep((await client.query(statement)).rows)
      } finally {
        await client.end()
      }
    } else {
      const db = new DatabaseSync(join(dataDir ?? '', 'stockade.sqlite3'))
      try {
        for (const statement of statements)
          if (statement === dump) db.exec(statement)
          else keep(db.prepare(statement).all())
      } finally {
        db.close()
      }
    }
    return answers
  }
  const drops: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const drop of drops) await drop()
  })
  const loaded = async (name: string): Promise<Options> => {
    const database = await freshDatabase()
    if (database) drops.push(database.drop)
    const options: Options = {
      dataDir: join(folder, name),
      env: { STOCKADE_SECRET_KEY: 'test-secret-of-thirty-two-characters' },
      ...(database ? { databaseUrl: database.url } : {}),
    }
    mkdirSync(options.dataDir ?? '', { recursive: true })
    const empty = database ? ['drop schema public cascade', 'create schema public'] : []
    await execute(options, [...empty, dump])
    return options
  }
  const refusalOf = (options: Options): Promise<string> =>
    spawnServer(options).then(
      () => 'It started.',
      (error: Error) => error.message,
    )

  test('is brought to the schema that a new installation has, and serves what it held', async () => {
    const options = await loaded('development')
    const [held] = await execute(options, ['select count(*) as n from bans'])
    expect(held).toMatch(/"n":"?12"?/)
    const server = await spawnServer(options)
    try {
      const { client } = await server.signIn()
      const { servers } = await client.call('GET /servers', {})
      expect(servers.map(({ hostname }) => hostname).sort()).toEqual(['db-01', 'web-01'])
      expect((await client.call('GET /whitelist', {})).whitelist).toMatchObject([{ ip: '198.51.100.7' }])
      const { channels } = await client.call('GET /channels', {})
      expect(channels.find(({ name }) => name === 'hook')?.fields).toContainEqual({
        name: 'url',
        value: null,
        set: true,
      })
    } finally {
      await server.stop()
    }

    const other = await freshDatabase()
    if (other) drops.push(other.drop)
    const created: Options = { dataDir: join(folder, 'new'), ...(other ? { databaseUrl: other.url } : {}) }
    await (await spawnServer(created)).stop()
    const queries = schemaQueries[engine]
    const [upgraded, expected] = [await execute(options, queries), await execute(created, queries)]
    for (const [n] of queries.entries()) expect(JSON.parse(upgraded[n] ?? '')).toEqual(JSON.parse(expected[n] ?? ''))
  })
  test('tells nothing twice and leaves nothing out where chat, routes, alerts and the daily summary were in use', async () => {
    const options = await loaded('messages')
    const [chat, hook] = [await webhookReceiver<{ title: string }>(), await webhookReceiver<{ title: string }>()]
    const { seal } = createSecrets(options.env?.STOCKADE_SECRET_KEY ?? '')
    const now = Date.now()
    const [rows = ''] = await execute(options, ['select id, created_at from channels'])
    const [{ id, created_at: created } = { id: 0, created_at: 0 }] = JSON.parse(rows) as {
      id: number
      created_at: number
    }[]
    const quoted = (value: unknown) =>
      `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`
    const setting = (key: string, value: unknown) =>
      `insert into settings (key, value, updated_at) values ('${key}', ${quoted(JSON.stringify(value))}, ${now})`
    const state = (kind: string, no: number | null, since: number, told: readonly string[]) =>
      `insert into alert_states (rule, subject, server_no, kind, severity, state, title, detail, since, fired_at, onsets, told_at,
        told_key, told_channels) values ('${kind}', ${no === null ? "'stockade'" : `(select id from servers where no = ${no})`},
        ${no ?? 'null'}, '${kind}', '${kind === 'server-silent' ? 'critical' : 'warning'}', 'firing', ${quoted(`${kind} as stored`)},
        '', ${since}, ${since}, '[]', ${since + 15_000}, ${told.length > 0 ? "'a-key'" : 'null'}, ${quoted(told)})`
    const event = (name: string, no: number | null, at: number, data: object) =>
      `insert into events (at, name, server_no, data) values (${at}, '${name}', ${no ?? 'null'}, ${quoted(data)})`
    const waiting = {
      ...{
        category: 'errors',
        level: 'error',
        title: 'web-01 is offline',
        text: '',
        facts: [],
        tables: [],
        path: '/',
        label: '',
      },
      ...{ at: now, row: ['offline', 'web-01'] },
    }
    const place =
      engine === 'postgres'
        ? "coalesce((select xid::text from events order by xid desc limit 1), '0'), 9007199254740991"
        : "'0', coalesce((select max(id) from events), 0)"
    const today = new Date(now).toISOString().slice(0, 10)
    await execute(options, [
      `update channels set secrets = ${quoted(seal(JSON.stringify({ url: hook.url }), `channels.secrets:${created}`))}`,
      setting('chat.enabled', true),
      setting('chat.webhook_url', seal(chat.url, 'chat.webhook_url')),
      setting('chat.daily_summary', true),
      setting('notifications.daily_summary_hour', 0),
      `insert into daily_summaries (date, skipped, at) values ('${today}', 0, ${now - 1000})`,
      `insert into report_schedules (name, period, hour, weekday, day, target, recipients, channels, enabled, last_due, created_by,
        created_at) values ('Daily summary', 'day', 7, 1, 1, 'all', '[]', '["chat"]', 0, '${today}', 'admin', ${now})`,
      `insert into alert_routes (position, content) values (0, ${quoted({
        ...{ severities: ['critical'], rules: [], hours: null, channels: [String(id)], target: 'all' },
      })})`,
      // The route told of it, and so did the notifications.
      "update servers set status = 'offline' where no = 1",
      state('server-silent', 1, now - 600_000, [String(id)]),
      // Nobody was told of it: notifications knew no such thing.
      state('siem-stuck', null, now - 300_000, []),
      `delete from cursors where name = 'notifications'`,
      `insert into cursors (name, xid, event_id) select 'notifications', ${place}`,
      // Notifications had not come so far: one has an alert already, which was told to nobody.
      event('command.finish', 2, now - 30_000, { id: 'x', type: 'reload-all', status: 'failed' }),
      state('command-failed', 2, now - 30_000, []),
      event('list.stale', null, now - 2000, { id: 1, name: 'drop', reason: 'no answer' }),
      `insert into notifications (channel, category, content, due_at, created_at)
        values ('chat', 'errors', ${quoted(waiting)}, 0, ${now - 1000})`,
    ])
    const server = await spawnServer(options)
    try {
      const { client } = await server.signIn()
      // The SIEM takes events again: that it is over may come while the rest is waited for.
      const titles = () =>
        chat.posts
          .map(({ title }) => title)
          .filter(title => !title.startsWith('Over: siem'))
          .sort()
      const once = [
        // It waited in the dump.
        'Command ban-ip was not answered in time on web-01',
        'The blocklist drop is out of date',
        'command-failed as stored',
        'siem-stuck as stored',
        'web-01 is offline',
      ]
      await eventually(() => expect(titles()).toEqual(once))
      const { alerts } = await client.call('GET /alerts', { query: { state: 'firing', limit: 200 } })
      const silent = alerts.find(({ kind }) => kind === 'server-silent')
      expect(silent?.channels).toEqual([String(id), 'chat'])
      expect(hook.posts).toEqual([])
      const { schedules } = await client.call('GET /reports/schedules')
      expect(schedules.filter(({ builtin }) => builtin)).toMatchObject([
        { name: 'Daily summary 2', hour: 0, channels: ['chat'], enabled: true, last_error: null },
      ])
      expect(await client.call('GET /settings/chat')).toMatchObject({ webhook_url: chat.url, daily_summary: true })

      // An incident after the upgrade is one message on each channel.
      const host = await aHost(server, client, 'new-01')
      const since = new Date(now).toISOString()
      const body = {
        ...{ hostname: 'new-01', agent_id: host.agentId },
        protection: {
          ...{ level: 'unprotected' as const, since, summary: 'fail2ban does not answer.', checks: [] },
          counted: { ok: 0, not_ok: 1, unknown: 0 },
        },
      }
      await eventually(async () => {
        await host.client.call('POST /servers/heartbeat', { body })
        expect(hook.posts.map(({ title }) => title)).toEqual(['new-01 is unprotected'])
      })
      await eventually(() => expect(titles()).toEqual([...once, 'new-01 is unprotected'].sort()))
    } finally {
      await server.stop()
      await chat.close()
      await hook.close()
    }
  })
  test('is refused with a sentence where that build was not up to date itself', async () => {
    const options = await loaded('partial')
    await execute(options, ["delete from kysely_migration where name = '0062-queued-sums'"])
    expect(await refusalOf(options)).toMatch(
      /Stockade can't start: the data is from a development build before the first release \(schema 0060-reports\), .* Start it once with the last build before 0\.1\.0/,
    )
  })
})
