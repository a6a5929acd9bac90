import { beforeAll, describe, test } from 'vitest'
import { extended, id, integer, like, oneOf, orNull, text, time, uuid, yesNo } from './kinds.ts'
import { oneTemplate, template } from './resources.ts'
import { refuses, refusesEach, same, says, saysDone, takesEach, unknownId } from './talk.ts'
import type { Host, Place, WithHost } from './talk.ts'

/* docs/spec/templates.md: templates of jails. */

let place: Place
let web: Host

const mine = {
  name: 'my-app',
  display_name: 'My app',
  description: 'Sign-ins of my app',
  category: 'custom',
  settings: { maxretry: 3, bantime: 600, findtime: 300, logpath: '/var/log/app.log' },
  jail_config: '[my-app]\nenabled = true\nfilter = my-app\nbackend = auto\nlogpath = /var/log/app.log\n',
  filter_config: '[Definition]\nfailregex = ^login failed from <HOST>$\n',
}
const made = { id, name: text, display_name: text, type: 'custom', created_at: time } as const

/** The claims of spec templates on a place with one host. */
export const templatesClaims = (given: () => WithHost) =>
  describe('spec templates: Templates', { retry: 0 }, () => {
    beforeAll(() => void ({ place, web } = given()))

    test('built-in ones are there and stay as they are', async () => {
      const { admin, viewer } = place
      const { templates, total } = await says(viewer('GET /templates'), 200, { templates: [template], total: integer })
      same('spec templates: at least 30', [total >= 30, templates.length], [true, total])
      const sshd = await says(
        viewer('GET /templates/{templateId}', { templateId: 'sshd' }),
        200,
        oneTemplate.but({ name: 'sshd', type: 'builtin', jail_config: like(/^\[sshd\]$/m) }),
      )
      same(
        'spec templates: id or name',
        (await viewer('GET /templates/{templateId}', { templateId: sshd.id })).json,
        sshd,
      )
      for (const templateId of [9999, 'nope'])
        await refuses(viewer('GET /templates/{templateId}', { templateId }), 404, 'spec errors: unknown id in the path')
      await refuses(
        admin('PATCH /templates/{templateId}', { templateId: 'sshd', body: { display_name: 'x' } }),
        403,
        'spec templates: built-in templates cannot be modified',
      )
      await refuses(
        admin('DELETE /templates/{templateId}', { templateId: 'sshd' }),
        403,
        'spec templates: built-in templates cannot be deleted',
      )
      for (const [query, fits] of [
        ['category=web', (one: { category: string }) => one.category === 'web'],
        ['type=builtin', (one: { type: string }) => one.type === 'builtin'],
        [
          'search=SSH',
          (one: { name: string; description: string; display_name: string }) => /ssh/i.test(Object.values(one).join()),
        ],
      ] as const) {
        const found = await says(viewer('GET /templates', { query }), 200, { templates: [template], total: integer })
        same(`spec templates: ${query}`, [found.total > 0, found.templates.every(fits)], [true, true])
      }
      await refusesEach(
        'spec templates: category, type',
        [
          ['type', 'type=x'],
          ['category', 'category=x'],
          ['search', 'search='],
        ],
        query => viewer('GET /templates', { query }),
      )
      const { categories } = await says(viewer('GET /templates/categories'), 200, {
        categories: [{ id: text, name: text, description: text, template_count: integer }],
      })
      same('spec endpoints: categories', categories.map(({ id }) => id).sort(), ['common', 'custom', 'mail', 'web'])
    })

    test('own ones are made, changed and deleted', async () => {
      const { admin } = place
      const { id: templateId } = await says(admin('POST /templates', { body: mine }), 201, {
        ...made,
        name: 'my-app',
        display_name: 'My app',
      })
      await refuses(admin('POST /templates', { body: mine }), 409, 'spec errors: template name taken')
      await says(
        admin('GET /templates/{templateId}', { templateId }),
        200,
        oneTemplate.but({ ...mine, type: 'custom' }),
      )
      const least = {
        name: 'least',
        jail_config: '[least]\nfilter = sshd\nbackend = auto\nlogpath = /var/log/auth.log\n',
      }
      await says(
        admin('POST /templates', { body: least }),
        201,
        { ...made, display_name: 'least' },
        'spec limits: display_name: name',
      )
      await says(
        admin('GET /templates/{templateId}', { templateId: 'least' }),
        200,
        oneTemplate.but({
          description: '',
          category: 'custom',
          filter_config: '',
          settings: { maxretry: null, bantime: null, findtime: null, logpath: null },
        }),
        'spec limits: description "", category custom, settings {}, filter_config ""',
      )
      const changed = { id, name: 'my-app', display_name: 'New', updated_at: time } as const
      const change = (body: object) => admin('PATCH /templates/{templateId}', { templateId: 'my-app', body })
      await says(
        admin('PATCH /templates/{templateId}', {
          templateId,
          body: { display_name: 'New', settings: { maxretry: 9 } },
        }),
        200,
        changed,
      )
      await says(change({}), 200, changed, 'spec conventions: an empty PATCH')
      await refuses(change({ name: 'other' }), 400, 'spec templates: immutable', 'name')
      for (const endpoint of [
        'PATCH /templates/{templateId}',
        'DELETE /templates/{templateId}',
        'GET /templates/{templateId}/status',
      ])
        await refuses(admin(endpoint, { templateId: 9999 }), 404, 'spec errors: unknown id in the path')
      await saysDone(admin('DELETE /templates/{templateId}', { templateId: 'least' }))
      await refuses(
        admin('DELETE /templates/{templateId}', { templateId: 'least' }),
        404,
        'spec errors: unknown id in the path',
      )
    })

    test('bounds', async () => {
      const named = (name: string, changes: object = {}) => ({
        ...mine,
        name,
        jail_config: `[${name}]\nfilter = ${name}\nbackend = auto\nlogpath = /var/log/x.log\n`,
        ...changes,
      })
      const jail = (lines: string) => named('bad', { jail_config: lines })
      const ask = (body: object) => place.admin('POST /templates', { body })
      await refusesEach(
        'spec templates: name, options; spec limits: Bounds',
        [
          ['name', named('Upper')],
          ['name', named('1abc')],
          ['name', named('a'.repeat(25))],
          ['name', { ...named('bad'), name: undefined }],
          ['jail_config', { ...named('bad'), jail_config: undefined }],
          ['jail_config', jail('[other]\nfilter = sshd\n')],
          ['jail_config', jail('[bad]\nfilter = bad\naction = run\n')],
          ['jail_config', jail('[DEFAULT]\nbantime = 1\n')],
          ['filter_config', named('bad', { filter_config: '[Definition]\nfailregex = ^no host$\n' })],
          ['filter_config', named('bad', { filter_config: '[INCLUDES]\nbefore = ../x.conf\n' })],
          ['category', named('bad', { category: 'x' })],
          ['maxretry', named('bad', { settings: { maxretry: 0 } })],
          ['maxretry', named('bad', { settings: { maxretry: 1001 } })],
          ['bantime', named('bad', { settings: { bantime: 0 } })],
          ['bantime', named('bad', { settings: { bantime: 31_557_601 } })],
          ['findtime', named('bad', { settings: { findtime: 0 } })],
          ['findtime', named('bad', { settings: { findtime: 31_557_601 } })],
          ['logpath', named('bad', { settings: { logpath: '/var/log/a\n/var/log/b' } })],
          ['foo', named('bad', { settings: { foo: 1 } })],
          ['description', named('bad', { description: 'x'.repeat(1001) })],
          ['display_name', named('bad', { display_name: 'x'.repeat(101) })],
        ],
        ask,
      )
      await refuses(ask(named('stockade')), 409, 'spec templates: reserved, so taken (spec errors)')
      await takesEach(
        'spec limits: Bounds',
        [
          named('a'.repeat(24), { description: 'x'.repeat(1000), display_name: 'x'.repeat(100) }),
          named('low', { settings: { maxretry: 1, bantime: -1, findtime: 1 } }),
          named('high', { settings: { maxretry: 1000, bantime: 31_557_600, findtime: 31_557_600 } }),
        ],
        ask,
      )
    })

    test('are tried', async () => {
      const problem = {
        file: oneOf('jail', 'filter'),
        line: orNull(integer),
        message: text,
        severity: oneOf('error', 'warning'),
      } as const
      const problems = { 'spec endpoints': { problems: [problem] } } as const
      const { jail_config, filter_config } = mine
      await says(
        place.operator('POST /templates/validate', { body: { jail_config, filter_config } }),
        200,
        extended({ valid: true, warnings: [text] }, problems),
      )
      const bad = { jail_config: 'rubbish', filter_config: '[Definition]\nfailregex = (\n' }
      const { errors } = await says(
        place.operator('POST /templates/validate', { body: bad }),
        200,
        extended({ valid: false, errors: [text] }, problems),
      )
      same('spec templates: errors', errors.length > 0, true)
      await refuses(
        place.operator('POST /templates/validate', { body: { jail_config: 5 } }),
        400,
        'spec templates: jail_config',
        'jail_config',
      )
    })

    test('are deployed and removed', async () => {
      const { admin, operator, viewer } = place
      const [templateId, serverId] = ['my-app', web.id]
      const body = { server_ids: [serverId], settings: { maxretry: 4 } }
      const deployed = await says(
        operator('POST /templates/{templateId}/deploy', { templateId, body }),
        200,
        extended(
          { message: text, commands: [{ server_id: serverId, command_id: uuid }] },
          { 'spec endpoints': { batch_id: uuid } },
        ),
      )
      const deploy = (body: object, which = templateId) =>
        operator('POST /templates/{templateId}/deploy', { templateId: which, body })
      await refusesEach(
        'spec templates: server_ids; spec errors: unknown id in a body',
        [
          ['server_ids', {}],
          ['server_ids', { server_ids: [] }],
          [unknownId, { server_ids: [unknownId] }],
        ],
        deploy,
      )
      await refuses(deploy(body, 'nope'), 404, 'spec errors: unknown id in the path')
      const poll = async () =>
        (
          (await web.agent('GET /servers/{serverId}/commands/pending', { serverId })).json as {
            commands: { id: string; params: unknown; template?: { settings: { maxretry: unknown } } }[]
          }
        ).commands
      const order = (await poll()).find(({ id }) => id === deployed.commands[0]?.command_id)
      same(
        'spec templates: settings sent win',
        [order?.id, order?.template?.settings.maxretry],
        [deployed.commands[0]?.command_id, 4],
      )
      const finish = async (commandId: unknown, names: string[]) => {
        await web.agent('POST /commands/{commandId}/result', { commandId, body: { success: true } })
        await web.agent('POST /servers/heartbeat', {
          body: { hostname: 'web.example', jails: names.map(name => ({ name, enabled: true, current_bans: 2 })) },
        })
      }
      await finish(order?.id, ['my-app'])
      const status = (on: boolean) =>
        ({
          template_id: id,
          template_name: 'my-app',
          servers: [
            extended(
              { id: serverId, hostname: 'web.example', deployed: on, enabled: on, current_bans: on ? 2 : integer },
              { 'no page': { own: yesNo } },
            ),
          ],
        }) as const
      await says(viewer('GET /templates/{templateId}/status', { templateId }), 200, status(true))
      await refuses(
        admin('DELETE /templates/{templateId}', { templateId }),
        409,
        "spec templates: deployed somewhere can't be deleted",
      )
      const { command_id } = await says(
        operator('DELETE /templates/{templateId}/servers/{serverId}', { templateId, serverId }),
        200,
        { message: text, command_id: uuid },
      )
      const removal = (await poll()).find(({ id }) => id === command_id)
      same('spec commands: remove-template', removal?.params, { template_name: 'my-app' })
      await finish(command_id, [])
      await says(viewer('GET /templates/{templateId}/status', { templateId }), 200, status(false))
      await refuses(
        operator('DELETE /templates/{templateId}/servers/{serverId}', { templateId, serverId: unknownId }),
        404,
        'spec errors: unknown id in the path',
      )
      await saysDone(admin('DELETE /templates/{templateId}', { templateId }))
    })
  })
