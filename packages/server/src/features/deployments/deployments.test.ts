import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import type { EventName } from '@stockade/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { openSqlite } from '../../db/sqlite.ts'
import { testAlone } from '../../testing/alone.ts'
import { aHost, aServerKey, engine, eventually, freshDatabase, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
let database: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  database = await freshDatabase()
  server = await startServer(database ? { databaseUrl: database.url } : {})
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
})
afterAll(async () => {
  await server.close()
  await database?.drop()
})

const unknown = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'
const deploy = (templateId: string, server_ids: string[], settings?: object) =>
  admin.client.call('POST /templates/{templateId}/deploy', {
    params: { templateId },
    body: { server_ids, ...(settings ? { settings } : {}) },
  })
const poll = async (host: EnrolledHost) =>
  (await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } })).commands
const finish = (host: EnrolledHost, commandId: string, success = true) =>
  host.client.call('POST /commands/{commandId}/result', { params: { commandId }, body: { success } })
/** Takes and ends whatever is on its way. */
const settle = async (...hosts: EnrolledHost[]) => {
  for (const host of hosts) for (const order of await poll(host)) await finish(host, order.id)
}
const report = (host: EnrolledHost, ...jails: { name: string; template?: string | null; enabled?: boolean }[]) =>
  host.client.call('PUT /agent/jails', {
    body: { jails: jails.map(jail => ({ enabled: true, current_bans: 2, ...jail })) },
  })
const ask = (method: string, path: string, body?: object, token = admin.token) =>
  raw(server, method, `/api/v1${path}`, { token, ...(body ? { body } : {}) })
const makeTemplate = (name: string, settings = {}) =>
  admin.client.call('POST /templates', {
    body: {
      name,
      jail_config: `[${name}]\nfilter = sshd\nbackend = auto\nlogpath = /var/log/auth.log\n`,
      settings,
    },
  })
const openStorage = () =>
  database ? openPostgres(database.url, () => {}) : openSqlite(`${server.dataDir}/stockade.sqlite3`)
/** What stands in the stream of events, straight from storage. */
const recorded = async (name: EventName) => {
  const storage = await openStorage()
  try {
    const rows = await storage.read.selectFrom('events').selectAll().where('name', '=', name).orderBy('id').execute()
    return rows.map(row => ({ ...row, data: JSON.parse(row.data ?? '{}') as Record<string, unknown> }))
  } finally {
    await storage.close()
  }
}

describe('deploying', () => {
  test('a built-in goes to several servers, frozen, with its settings merged', async () => {
    const before = (await recorded('template.deploy')).length
    const reply = await deploy('recidive', [web.id, db.id, web.id], { maxretry: 7, logpath: null })
    expect(reply).toEqual({
      message: 'Repeat offenders is on its way to 2 servers.',
      batch_id: expect.any(String),
      commands: [
        { server_id: web.id, command_id: expect.any(String) },
        { server_id: db.id, command_id: expect.any(String) },
      ],
    })
    const [order] = await poll(web)
    const template = await admin.client.call('GET /templates/{templateId}', { params: { templateId: 'recidive' } })
    expect(order).toEqual({
      id: reply.commands[0]?.command_id,
      type: 'deploy-template',
      params: { template_id: 4, settings: { maxretry: 7, logpath: null } },
      template: {
        name: 'recidive',
        jail_config: template.jail_config,
        filter_config: '',
        required_files: ['filter.d/recidive.conf'],
        settings: { maxretry: 7, bantime: 604_800, findtime: 86_400 },
      },
    })
    const list = await admin.client.call('GET /commands', { query: { batch_id: reply.batch_id } })
    expect(list.commands.map(({ type, params }) => ({ type, params }))).toEqual(
      [1, 2].map(() => ({
        type: 'deploy-template',
        params: { template_id: 4, settings: { maxretry: 7, logpath: null } },
      })),
    )
    const events = (await recorded('template.deploy')).slice(before)
    expect(events).toMatchObject([
      {
        actor: 'admin',
        server_no: null,
        data: { template_id: 4, name: 'recidive', batch_id: reply.batch_id, servers: 2, settings: { maxretry: 7 } },
      },
    ])
    const created = await recorded('command.create')
    expect(created.filter(({ data }) => reply.commands.some(({ command_id }) => command_id === data.id))).toHaveLength(
      2,
    )
    await finish(web, order?.id ?? '')
    await settle(db)
  })
  test('what was queued stays as it was, also when tried again', async () => {
    const { id, name } = await makeTemplate('frozen', { maxretry: 3 })
    const { commands } = await deploy(name, [web.id])
    await admin.client.call('PATCH /templates/{templateId}', {
      params: { templateId: name },
      body: { settings: { maxretry: 9 } },
    })
    const [order] = await poll(web)
    expect(order?.template).toMatchObject({ name, settings: { maxretry: 3 } })
    await finish(web, order?.id ?? '', false)
    await admin.client.call('DELETE /templates/{templateId}', { params: { templateId: name } })
    const retried = await admin.client.call('POST /commands/{commandId}/retry', {
      params: { commandId: commands[0]?.command_id ?? '' },
    })
    expect(await poll(web)).toEqual([
      { id: retried.id, type: 'deploy-template', params: { template_id: id, settings: {} }, template: order?.template },
    ])
    await finish(web, retried.id)
  })
  test.runIf(engine === 'postgres')(
    'what a slow read of a host’s commands does not know of yet goes out all the same',
    async () => {
      const host = await aHost(server, admin.client, 'slow')
      const ids = (await Promise.all([deploy('sshd', [host.id]), deploy('sshd', [host.id])])).map(
        ({ commands }) => commands[0]?.command_id ?? '',
      )
      expect(await poll(host)).toHaveLength(2)
      const storage = await openStorage()
      const run = (statement: string) => sql.raw(statement).execute(storage.write)
      try {
        // Reads of what is open for a host take so long for each command, and see what was there when they began.
        await run(`create or replace function takes_long() returns boolean volatile language sql as
        $$ select current_query() not like 'select%"server_no" = any%' or pg_sleep(0.2) is not null $$`)
        await run(
          'begin; alter table commands rename to all_commands;' +
            'create view commands as select * from all_commands where takes_long(); commit',
        )
        await finish(host, ids[0] ?? '', false)
        // That is being read by now.
        await eventually(async () => {
          const { rows } =
            await sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`.execute(
              storage.read,
            )
          expect(rows.length).toBeGreaterThan(0)
        })
        const { commands } = await deploy('sshd', [host.id])
        await new Promise(resolve => setTimeout(resolve, 250))
        expect((await poll(host)).map(order => order.id)).toEqual(commands.map(({ command_id }) => command_id))
      } finally {
        await run('begin; drop view if exists commands; alter table if exists all_commands rename to commands; commit')
        await storage.close()
      }
      await finish(host, ids[1] ?? '', false)
    },
  )
  test('a heartbeat carries it as well', async () => {
    await deploy('1', [web.id])
    const { commands } = await web.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
    expect(commands).toMatchObject([{ type: 'deploy-template', template: { name: 'sshd' } }])
    await finish(web, commands[0]?.id ?? '')
  })
  test('as a command, single or as a batch, it is the same', async () => {
    const before = (await recorded('template.deploy')).length
    const params = { template_id: 'sshd', settings: { bantime: 60 } }
    await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: web.id },
      body: { type: 'deploy-template', params },
    })
    await admin.client.call('POST /commands/batch', {
      body: { server_ids: [web.id], type: 'deploy-template', params: { ...params, template_id: 1 } },
    })
    const [single, batch] = await poll(web)
    expect(single?.template).toMatchObject({ name: 'sshd', settings: { bantime: 60, maxretry: 5 } })
    expect(batch?.template).toEqual(single?.template)
    expect([single?.params, batch?.params]).toEqual([1, 2].map(() => ({ template_id: 1, settings: { bantime: 60 } })))
    expect((await recorded('template.deploy')).length - before).toBe(2)
    for (const order of [single, batch]) await finish(web, order?.id ?? '')
  })
  const tried = '[Definition]\nfailregex = ^ tried: wrong password from <HOST>$\n'
  test('a preview carries the template as well, and is no deployment', async () => {
    const before = (await recorded('template.deploy')).length
    await admin.client.call('POST /templates', {
      body: { name: 'tried', jail_config: '[tried]\nport = 80\nlogpath = /var/log/tried.log\n', filter_config: tried },
    })
    await admin.client.call('POST /commands/batch', {
      body: {
        server_ids: [web.id],
        type: 'template-preview',
        params: { template_id: 'tried', settings: { maxretry: 9 } },
      },
    })
    // A deployment that waits would keep it.
    await admin.client.call('DELETE /templates/{templateId}', { params: { templateId: 'tried' } })
    const [order] = await poll(web)
    expect(order).toMatchObject({ type: 'template-preview', template: { name: 'tried', settings: { maxretry: 9 } } })
    expect((await recorded('template.deploy')).length).toBe(before)
    await finish(web, order?.id ?? '')
  })
  test('one content is kept once, however many carry it', async () => {
    const hosts = [await aHost(server, admin.client, 'many-1'), await aHost(server, admin.client, 'many-2')]
    const ids = hosts.map(host => host.id)
    await deploy('exim', ids, { maxretry: 44 })
    await deploy('exim', ids, { maxretry: 44 })
    const storage = await openStorage()
    const rows = await storage.read.selectFrom('template_snapshots').selectAll().where('name', '=', 'exim').execute()
    await storage.close()
    expect(rows).toHaveLength(1)
  })
  test('all or nothing', async () => {
    const { total } = await admin.client.call('GET /commands')
    expect(await ask('POST', '/templates/sshd/deploy', { server_ids: [web.id, unknown] })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining(unknown), details: [{ path: 'server_ids' }] },
    })
    for (const [path, body] of [
      ['server_ids', {}],
      ['server_ids', { server_ids: [] }],
      ['server_ids.0', { server_ids: ['x'] }],
      ['settings.maxretry', { server_ids: [web.id], settings: { maxretry: 0 } }],
      ['settings.logpath', { server_ids: [web.id], settings: { logpath: '/root/x.log' } }],
      ['settings.logpath', { server_ids: [web.id], settings: { logpath: '/var/log/a\n[x]' } }],
      ['settings.action', { server_ids: [web.id], settings: { action: 'x' } }],
      ['template', { server_ids: [web.id], template: 'x' }],
    ] as const) {
      const reply = await ask('POST', '/templates/sshd/deploy', body)
      expect(reply.status, reply.text).toBe(400)
      expect((reply.json as { details: { path: string }[] }).details.map(detail => detail.path)).toContain(path)
    }
    expect(await ask('POST', '/templates/nothing/deploy', { server_ids: [web.id] })).toMatchObject({ status: 404 })
    expect((await admin.client.call('GET /commands')).total).toBe(total)
  })
  test.each([
    ['params.template_id', { template_id: 999_999, settings: {} }],
    ['params.template_id', { template_id: 'nothing', settings: {} }],
    ['params.template_id', { template_id: 1.5, settings: {} }],
    ['params.template_id', { template_id: 'A b', settings: {} }],
    ['params.template_id', { template_id: null, settings: {} }],
    ['params.template_id', { settings: {} }],
    ['params.settings', { template_id: 1 }],
    ['params.settings', { template_id: 1, settings: [] }],
    ['params.settings.maxretry', { template_id: 1, settings: { maxretry: 0 } }],
    ['params.settings.bantime', { template_id: 1, settings: { bantime: '1h' } }],
    ['params.settings.toString', { template_id: 1, settings: { toString: 1 } }],
    ['params.settings.logpath', { template_id: 1, settings: { logpath: '/etc/passwd' } }],
    ['params.settings.logpath', { template_id: 1, settings: { logpath: 5 } }],
  ])('bad parameters of the command: %s %o', async (path, params) => {
    expect(await ask('POST', `/servers/${web.id}/commands`, { type: 'deploy-template', params })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
})

describe('who may', () => {
  test('a key of one server deploys there and takes away there, and sees itself only', async () => {
    const script = await aServerKey(server, admin.client, web.id)
    const { commands } = await script.client.call('POST /templates/{templateId}/deploy', {
      params: { templateId: 'sshd' },
      body: { server_ids: [web.id] },
    })
    expect(commands).toHaveLength(1)
    await script.client.call('DELETE /templates/{templateId}/servers/{serverId}', {
      params: { templateId: 'sshd', serverId: web.id },
    })
    expect(await ask('POST', '/templates/sshd/deploy', { server_ids: [web.id, db.id] }, script.token)).toMatchObject({
      status: 403,
    })
    expect(await ask('DELETE', `/templates/sshd/servers/${db.id}`, undefined, script.token)).toMatchObject({
      status: 403,
    })
    const { servers } = await script.client.call('GET /templates/{templateId}/status', {
      params: { templateId: 'sshd' },
    })
    expect(servers.map(({ hostname }) => hostname)).toEqual(['web-01'])
    await settle(web)
  })
})

describe('taking away', () => {
  test('queues the removal, by id or by name', async () => {
    const before = (await recorded('template.remove')).length
    const reply = await admin.client.call('DELETE /templates/{templateId}/servers/{serverId}', {
      params: { templateId: '4', serverId: web.id },
    })
    expect(reply).toEqual({ message: expect.any(String), command_id: expect.any(String) })
    expect(await poll(web)).toEqual([
      { id: reply.command_id, type: 'remove-template', params: { template_name: 'recidive' } },
    ])
    await finish(web, reply.command_id)
    expect((await recorded('template.remove')).slice(before)).toMatchObject([
      { actor: 'admin', data: { template_name: 'recidive', servers: 1 } },
    ])
    expect(await ask('DELETE', `/templates/recidive/servers/${unknown}`)).toMatchObject({ status: 404 })
    expect(await ask('DELETE', `/templates/nothing/servers/${web.id}`)).toMatchObject({ status: 404 })
    expect(await ask('DELETE', '/templates/recidive/servers/x')).toMatchObject({ status: 400 })
  })
  test('a host may still have what is gone here', async () => {
    const queue = (template_name: unknown) =>
      ask('POST', `/servers/${web.id}/commands`, { type: 'remove-template', params: { template_name } })
    expect(await queue('long-gone')).toMatchObject({ status: 201 })
    for (const bad of ['X', '1', '../x', '', 5, null, 'a'.repeat(25)])
      expect(await queue(bad), String(bad)).toMatchObject({
        status: 400,
        json: { details: [{ path: 'params.template_name' }] },
      })
    await settle(web)
  })
})

describe('where it is', () => {
  const status = (templateId: string) =>
    admin.client.call('GET /templates/{templateId}/status', { params: { templateId } })
  testAlone('deployed is what the agent keeps there, not a jail that the host has by itself', async () => {
    await report(web, { name: 'sshd', template: 'sshd' }, { name: 'nginx' })
    await report(db, { name: 'sshd' })
    const { servers, ...reply } = await status('1')
    expect(reply).toEqual({ template_id: 1, template_name: 'sshd' })
    const by = new Map(servers.map(({ hostname, ...row }) => [hostname, row]))
    expect(by.get('web-01')).toEqual({ id: web.id, deployed: true, own: false, enabled: true, current_bans: 2 })
    expect(by.get('db-01')).toEqual({ id: db.id, deployed: false, own: true, enabled: false, current_bans: 0 })
    expect([...by.keys()]).toEqual([...by.keys()].sort())
    // The list counts the same servers, and only those that its reader sees.
    const counts = async (client: Signed['client']) => {
      const { templates } = await client.call('GET /templates', { query: { search: 'ssh' } })
      return Object.fromEntries(templates.map(({ name, deployed_on, own_on }) => [name, [deployed_on, own_on]]))
    }
    expect(await counts(admin.client)).toMatchObject({ sshd: [1, 1] })
    const vera = await aUser(server, admin.client, 'vera', 'Viewer', [db.id])
    expect(await counts(vera.client)).toMatchObject({ sshd: [0, 1] })
    // A heartbeat keeps what it does not tell of, and tells of the rest.
    await web.client.call('POST /servers/heartbeat', {
      body: { hostname: 'web-01', jails: [{ name: 'sshd', enabled: false, current_bans: 1 }] },
    })
    expect((await status('sshd')).servers.find(({ id }) => id === web.id)).toMatchObject({
      deployed: true,
      enabled: false,
      current_bans: 1,
    })
    expect(
      (await admin.client.call('GET /servers/{serverId}/jails', { params: { serverId: web.id } })).jails,
    ).toMatchObject([{ name: 'sshd', template: 'sshd' }])
    await report(web, { name: 'sshd', template: null })
    expect((await status('sshd')).servers.some(({ deployed }) => deployed)).toBe(false)
    expect(await ask('GET', '/templates/nothing/status')).toMatchObject({ status: 404 })
  })
  test('a result is enough, of an agent that never tells where its jails come from', async () => {
    const { name } = await makeTemplate('told')
    const there = async () => (await status(name)).servers.find(({ id }) => id === db.id)
    const beat = (...jails: object[]) =>
      raw(server, 'POST', '/api/v1/servers/heartbeat', { token: db.key, body: { hostname: 'db-01', jails } })
    await beat({ name: 'sshd', enabled: true, current_bans: 1 })
    await deploy(name, [db.id])
    const [failing] = await poll(db)
    await finish(db, failing?.id ?? '', false)
    expect(await there()).toMatchObject({ deployed: false })
    await deploy(name, [db.id])
    await settle(db)
    // What a host tells one of several processes, the others hear of a moment later.
    await expect.poll(there).toEqual({
      ...{ id: db.id, hostname: 'db-01', deployed: true, own: false },
      ...{ enabled: true, current_bans: 0 },
    })
    await report(db, { name: 'sshd' }, { name })
    await beat({ name: 'sshd', enabled: true }, { name, enabled: false, current_bans: 4 })
    await expect.poll(there).toMatchObject({ deployed: true, enabled: false, current_bans: 4 })
    expect(await ask('DELETE', `/templates/${name}`)).toMatchObject({ status: 409 })
    await admin.client.call('DELETE /templates/{templateId}/servers/{serverId}', {
      params: { templateId: name, serverId: db.id },
    })
    await settle(db)
    expect(await there()).toMatchObject({ deployed: false })
    expect(
      (await admin.client.call('GET /servers/{serverId}/jails', { params: { serverId: db.id } })).jails,
    ).toMatchObject([{ name: 'sshd' }, { name, template: null }])
    expect(await ask('DELETE', `/templates/${name}`)).toMatchObject({ status: 200 })
  })
  /** Whether a command has ended, and whether its host has the template, at one moment of the storage. */
  const standing = async (storage: Database, id: string, name: string) => {
    const { status, jails } = await storage.read
      .selectFrom('commands')
      .leftJoin('heartbeats', 'heartbeats.server_no', 'commands.server_no')
      .select(['commands.status', 'heartbeats.jails'])
      .where('commands.id', '=', id)
      .executeTakeFirstOrThrow()
    const there = (JSON.parse(jails ?? '[]') as { template?: string | null }[]).some(jail => jail.template === name)
    return `${status}, ${there ? 'there' : 'not there'}`
  }
  test('a result and what it means for the host are one commit, also of a host that has sent no heartbeat yet', async () => {
    const { name } = await makeTemplate(`atonce${Date.now() % 1_000_000}`)
    const quiet = await aHost(server, admin.client, `quiet-${name}`)
    const storage = await openStorage()
    try {
      const seen = new Set<string>()
      for (let n = 0; n < 4; n++) {
        if (n % 2 === 0) await deploy(name, [quiet.id])
        else
          await admin.client.call('DELETE /templates/{templateId}/servers/{serverId}', {
            params: { templateId: name, serverId: quiet.id },
          })
        const [order] = await poll(quiet)
        const look = async () =>
          seen.add(`${n % 2 === 0 ? 'put' : 'taken'}: ${await standing(storage, order?.id ?? '', name)}`)
        // The state before is seen for sure; those in between only as often as there is time.
        await look()
        let over = false
        const looking = (async () => {
          while (!over) {
            await look()
            await new Promise(resolve => setImmediate(resolve))
          }
        })()
        await finish(quiet, order?.id ?? '').finally(() => (over = true))
        await looking
        await look()
      }
      expect([...seen].sort()).toEqual([
        'put: completed, there',
        'put: running, not there',
        'taken: completed, not there',
        'taken: running, there',
      ])
    } finally {
      await storage.close()
    }
  })
  test.runIf(engine === 'postgres')(
    'a result that broke off has left nothing, and the agent’s next try does it all',
    async () => {
      const { name } = await makeTemplate(`broken${Date.now() % 1_000_000}`)
      await web.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
      await deploy(name, [web.id])
      const [order] = await poll(web)
      const id = order?.id ?? ''
      const storage = await openStorage()
      const other = new pg.Client({ connectionString: database?.url ?? '' })
      await other.connect()
      try {
        // Whoever writes down what the result means for the host stops here, and finds its connection gone.
        await other.query('begin')
        await eventually(async () => {
          const held = await other.query(
            'select from heartbeats join servers on no = server_no where id = $1 for update of heartbeats',
            [web.id],
          )
          expect(held.rowCount).toBe(1)
        })
        const broken = finish(web, id).then(
          () => 200,
          (error: { status: number }) => error.status,
        )
        await eventually(async () => {
          const ended = await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%heartbeats%'`.execute(
            storage.read,
          )
          expect(ended.rows.length).toBeGreaterThan(0)
        })
        expect(await broken).toBeGreaterThanOrEqual(500)
        expect(await standing(storage, id, name)).toBe('running, not there')
        await other.query('commit')
        await finish(web, id)
        expect(await standing(storage, id, name)).toBe('completed, there')
        expect((await recorded('command.finish')).filter(({ data }) => data.id === id)).toHaveLength(1)
      } finally {
        await other.end()
        await storage.close()
      }
    },
  )
  test('what is deployed, or on its way, is not deleted', async () => {
    const { name } = await makeTemplate('kept')
    const remove = () => ask('DELETE', `/templates/${name}`)
    await deploy(name, [web.id])
    expect(await remove()).toMatchObject({ status: 409, json: { message: expect.stringContaining('web-01') } })
    const [order] = await poll(web)
    expect(await remove()).toMatchObject({ status: 409 })
    await finish(web, order?.id ?? '')
    await report(web, { name, template: name })
    expect(await remove()).toMatchObject({ status: 409, json: { message: expect.stringContaining('web-01') } })
    await report(web)
    expect(await remove()).toMatchObject({ status: 200 })
    expect(await remove()).toMatchObject({ status: 404 })
  })
  test.runIf(engine === 'sqlite')('nor is what arrives in that moment', async () => {
    const { name } = await makeTemplate('arriving')
    const host = await aHost(server, admin.client, 'arriving')
    await deploy(name, [host.id])
    const [order] = await poll(host)
    const storage = await openStorage()
    try {
      // Writes wait here, in the order of asking.
      const [finished, removed] = await storage.write.transaction().execute(async () => {
        const finished = finish(host, order?.id ?? '')
        await new Promise(resolve => setTimeout(resolve, 100))
        const removed = ask('DELETE', `/templates/${name}`)
        await new Promise(resolve => setTimeout(resolve, 100))
        return [() => finished, () => removed] as const
      })
      await finished()
      expect(await removed()).toMatchObject({ status: 409, json: { message: expect.stringContaining('arriving') } })
    } finally {
      await storage.close()
    }
  })
  test('an id of a template that is no more is not given to another', async () => {
    const first = await makeTemplate(`t${randomUUID().slice(0, 6)}`)
    await admin.client.call('DELETE /templates/{templateId}', { params: { templateId: String(first.id) } })
    expect((await makeTemplate(`t${randomUUID().slice(0, 6)}`)).id).toBeGreaterThan(first.id)
  })
})
