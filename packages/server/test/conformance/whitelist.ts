import { beforeAll, describe, expect, test } from 'vitest'
import { extended, id, integer, oneOf, orNull, text, time, uuid } from './kinds.ts'
import { entry, onePage } from './resources.ts'
import { refuses, refusesEach, same, says, saysDone, saysText, takesEach, unknownId, notDecimal } from './talk.ts'
import type { Host, Place, WithHost } from './talk.ts'

/* docs/spec/whitelist.md: the whitelist. */

let place: Place
let web: Host

const add = (body: object) => place.operator('POST /whitelist', { body })
const newEntry = extended(
  { id, ip: text, description: text, created_by: 'operator', created_at: time },
  { 'spec endpoints': { expires_at: null, lifted_bans: integer } },
)
const endless = { 'spec endpoints': { expires_at: null } } as const

/** The claims of spec whitelist on a place with one host. */
export const whitelistClaims = (given: () => WithHost) =>
  describe('spec whitelist: Whitelist', { retry: 0 }, () => {
    beforeAll(() => void ({ place, web } = given()))

    test('entries are added, read, changed and removed', async () => {
      const { operator, viewer } = place
      const body = { ip: '203.0.113.9', description: 'office' }
      const made = await says(operator('POST /whitelist', { body }), 201, newEntry.but(body))
      for (const [ip, canonical] of [
        ['10.1.2.3/8', '10.0.0.0/8'],
        ['10.9.9.9/32', '10.9.9.9'],
        ['2001:DB8:FFFF::/48', '2001:db8:ffff::/48'],
        ['2001:db8::7/128', '2001:db8::7'],
        ['fc00::/7', 'fc00::/7'],
        ['fe80::/10', 'fe80::/10'],
      ] as const)
        await says(add({ ip }), 201, newEntry.but({ ip: canonical, description: '' }), 'spec conventions: CIDR')
      for (const ip of ['203.0.113.9', '::ffff:203.0.113.9', '10.200.0.0/8'])
        await refuses(add({ ip }), 409, 'spec errors: whitelist entry taken')
      await refusesEach(
        'spec conventions: IP addresses, CIDR; spec limits: descriptions to 1000',
        [
          ['ip', {}],
          ['ip', { ip: 'x' }],
          ['ip', { ip: '10.0.0.0/7' }],
          ['ip', { ip: '0.0.0.0/0' }],
          ['ip', { ip: '2001::/15' }],
          ['ip', { ip: 'fc00::/6' }],
          ['ip', { ip: 'fe80::/9' }],
          ['ip', { ip: '192.0.2.1/33' }],
          ['ip', { ip: '192.0.2.1/08' }],
          ['ip', { ip: '192.0.2.01' }],
          ['ip', { ip: '192.0.2.1:80' }],
          ['ip', { ip: 'fe80::1%eth0' }],
          ['description', { ip: '192.0.2.1', description: 'x'.repeat(1001) }],
        ],
        add,
      )
      await takesEach('spec limits: descriptions to 1000', [{ ip: '192.0.2.1', description: 'x'.repeat(1000) }], add)
      const one = { id: made.id }
      await says(viewer('GET /whitelist/{id}', one), 200, entry.but({ ...body, created_by: 'operator' }))
      const changed = extended({ id, ip: '203.0.113.9', description: 'new', updated_at: time }, endless)
      await says(operator('PATCH /whitelist/{id}', { ...one, body: { description: 'new' } }), 200, changed)
      await says(
        operator('PATCH /whitelist/{id}', { ...one, body: {} }),
        200,
        changed,
        'spec conventions: an empty PATCH',
      )
      const readdress = { ...one, body: { ip: '192.0.2.2' } }
      await refuses(operator('PATCH /whitelist/{id}', readdress), 400, 'spec whitelist: { description }', 'ip')
      await saysDone(operator('DELETE /whitelist/{id}', one))
      for (const endpoint of ['GET /whitelist/{id}', 'PATCH /whitelist/{id}', 'DELETE /whitelist/{id}'])
        await refuses(operator(endpoint, one), 404, 'spec errors: unknown id in the path')
      await refuses(viewer('GET /whitelist/{id}', { id: 'abc' }), 400, 'spec whitelist: integer')
    })

    test('many at once', async () => {
      const { operator, viewer } = place
      const { entries } = await says(
        operator('POST /whitelist/bulk', {
          body: {
            entries: [
              { ip: '192.0.2.50', description: 'b' },
              { ip: '192.0.2.51' },
              { ip: '192.0.2.1' },
              { ip: '192.0.2.50' },
            ],
          },
        }),
        201,
        { added: 2, entries: [{ id, ip: text }] },
        'spec whitelist: skips duplicates, added counts the new ones',
      )
      same(
        'spec whitelist: entries',
        entries.map(({ ip }) => ip),
        ['192.0.2.50', '192.0.2.51'],
      )
      const bulk = (entries?: object[]) => operator('POST /whitelist/bulk', { body: { entries } })
      await refuses(bulk([{ ip: '192.0.2.60' }, { ip: 'x' }]), 400, 'spec whitelist: 400 names the index', '1')
      same(
        'spec whitelist: all or nothing',
        ((await viewer('GET /whitelist', { query: 'search=192.0.2.60' })).json as { total: unknown }).total,
        0,
      )
      await refuses(bulk(), 400, 'spec whitelist: { entries }', 'entries')
    })

    test('the list and the check', async () => {
      const { viewer } = place
      const { whitelist, total } = await says(viewer('GET /whitelist'), 200, { whitelist: [entry], ...onePage(50) })
      const ids = whitelist.map(one => one.id)
      same(
        'spec conventions: by insertion',
        ids,
        [...ids].sort((a, b) => a - b),
      )
      same('spec conventions: total', total, whitelist.length)
      await add({ ip: '192.0.2.70', description: 'The Office' })
      for (const query of ['search=OFFICE', 'search=192.0.2.70'])
        await says(viewer('GET /whitelist', { query }), 200, { whitelist: [entry], ...onePage(50), total: 1 }, query)
      await takesEach('spec whitelist: max 100', ['limit=100'], query => viewer('GET /whitelist', { query }))
      await refusesEach(
        'spec whitelist: max 100; spec conventions: page, limit',
        [['limit', 'limit=101'], ...notDecimal, ['page', 'page=0'], ['search', 'search=']],
        query => viewer('GET /whitelist', { query }),
      )
      const check = (ip: string) => viewer('GET /whitelist/check/{ip}', { ip })
      const matched = (ip: string) => extended({ id, ip, description: text }, endless)
      await says(
        viewer('GET /whitelist/check/{ip}', { ip: '::ffff:10.9.9.9' }),
        200,
        { ip: '10.9.9.9', whitelisted: true, matched_entry: matched('10.9.9.9') },
        'spec whitelist: the most specific entry',
      )
      await says(check('10.8.8.8'), 200, { ip: '10.8.8.8', whitelisted: true, matched_entry: matched('10.0.0.0/8') })
      await says(check('198.51.100.200'), 200, { ip: '198.51.100.200', whitelisted: false, matched_entry: null })
      await refuses(check('zz'), 400, 'spec conventions: IP addresses')
    })

    test('as plain text', async () => {
      const { viewer } = place
      const reply = await saysText(viewer('GET /whitelist.txt'), 'text/plain')
      const lines = reply.text.trimEnd().split('\n')
      const comments = lines.filter(line => line.startsWith('#'))
      same('spec whitelist: comment header lines first', lines.slice(0, comments.length), comments)
      expect.soft(comments.join(), 'spec whitelist: generation time').toMatch(/\d{4}-\d\d-\d\dT[\d:.]+Z/)
      same(
        'spec whitelist: one IP or CIDR per line',
        lines.slice(comments.length).every(line => /^[\da-f.:]+(\/\d+)?$/.test(line)),
        true,
      )
      same('spec whitelist: every entry', lines.includes('10.0.0.0/8') && lines.includes('192.0.2.70'), true)
      const etag = reply.headers.get('etag') ?? ''
      same(
        'spec whitelist: an ETag and answers 304',
        (await viewer('GET /whitelist.txt', { headers: { 'if-none-match': etag } })).status,
        304,
      )
    })

    test('import and export', async () => {
      const { operator, viewer } = place
      const imported = (imported: number, skipped: number, errors: object[] = []) =>
        extended(
          { imported, skipped, errors: [{ line: integer, value: text, error: text }] },
          { 'no page': { error_count: errors.length, ids: [integer] } },
        )
      const plain = '# head\n\n198.51.100.1 # one\nbad\n192.0.2.1\n198.51.100.2\n'
      const first = await says(
        operator('POST /whitelist/import', { body: { format: 'plain', content: plain, description_prefix: 'imp: ' } }),
        200,
        imported(2, 1, [{}]),
        'spec whitelist: good lines in, duplicates in skipped',
      )
      same('spec whitelist: { line, value, error }', [first.errors[0]?.line, first.errors[0]?.value], [4, 'bad'])
      const { whitelist } = (await viewer('GET /whitelist', { query: 'search=198.51.100.1' })).json as {
        whitelist: { description: string }[]
      }
      same('spec whitelist: description_prefix', whitelist[0]?.description, 'imp: one')
      const take = (body: object) => operator('POST /whitelist/import', { body })
      await says(take({ content: '198.51.100.3' }), 200, imported(1, 0), 'spec limits: format plain')
      const csv = await says(
        take({ format: 'csv', content: 'ip,description\n198.51.100.4,"a, b"\nzz,x\n' }),
        200,
        imported(1, 0, [{}]),
      )
      same('spec whitelist: the 1-based line of the text', csv.errors[0]?.line, 3)
      const list = [{ ip: '198.51.100.5', description: 'j' }, { ip: 'q' }]
      const json = await says(
        take({ format: 'json', content: JSON.stringify(list) }),
        200,
        imported(1, 0, [{}]),
        'spec whitelist: a bare array',
      )
      same('spec whitelist: for JSON the 1-based entry', json.errors[0]?.line, 2)
      const exported = { whitelist: [{ ip: '198.51.100.6', description: '' }], exported_at: '2026-01-01T00:00:00Z' }
      await says(
        take({ format: 'json', content: JSON.stringify(exported) }),
        200,
        imported(1, 0),
        "spec whitelist: the export's form",
      )
      await refusesEach(
        'spec limits: import content (format plain)',
        [
          ['content', { format: 'plain' }],
          ['format', { format: 'xml', content: '' }],
        ],
        take,
      )

      await add({ ip: '198.51.100.99', description: '=cmd|x' })
      await says(viewer('GET /whitelist/export', { query: 'format=json' }), 200, {
        whitelist: [extended({ ip: text, description: text }, endless)],
        exported_at: time,
      })
      const asPlain = await saysText(viewer('GET /whitelist/export'), 'text/plain')
      same('spec whitelist: default plain, one entry per line', asPlain.text.split('\n').includes('198.51.100.6'), true)
      const asCsv = await saysText(viewer('GET /whitelist/export', { query: 'format=csv' }), 'text/csv')
      same('spec whitelist: a header ip,description', asCsv.text.startsWith('ip,description'), true)
      expect.soft(asCsv.text, 'spec whitelist: exports escape what a spreadsheet would run').not.toMatch(/,"?=cmd/)
      await refuses(
        viewer('GET /whitelist/export', { query: 'format=xml' }),
        400,
        'spec whitelist: plain/json/csv',
        'format',
      )
    })

    test('goes to hosts', async () => {
      const { operator, viewer } = place
      const synced = extended(
        {
          id: uuid,
          hostname: text,
          last_sync: orNull(time),
          sync_status: oneOf('synced', 'pending', 'failed', 'never'),
          entry_count: orNull(integer),
        },
        { 'no page': { error: orNull(text) } },
      )
      await says(viewer('GET /whitelist/sync-status'), 200, {
        servers: [synced.but({ sync_status: 'never', last_sync: null })],
      })
      await web.agent('POST /servers/heartbeat', { body: { hostname: 'web.example' } })
      const state = (await web.agent('GET /agent/state')).json as {
        version: string
        whitelist: { version: string; count: number }
      }
      const body = {
        version: state.version,
        whitelist_version: state.whitelist.version,
        entry_count: state.whitelist.count,
        error: null,
      }
      await saysDone(web.agent('POST /agent/state/ack', { body }))
      await says(viewer('GET /whitelist/sync-status'), 200, {
        servers: [synced.but({ sync_status: 'synced', last_sync: time, entry_count: state.whitelist.count })],
      })
      await add({ ip: '192.0.2.80' })
      await says(viewer('GET /whitelist/sync-status'), 200, { servers: [synced.but({ sync_status: 'pending' })] })
      await says(operator('POST /whitelist/sync'), 200, { message: text, servers_notified: 1 })
      const some = (server_ids: string[]) => operator('POST /whitelist/sync', { body: { server_ids } })
      await says(some([web.id]), 200, { message: text, servers_notified: 1 })
      await refuses(some([unknownId]), 400, 'spec errors: unknown id in a body', unknownId)
      await web.agent('POST /bans', { body: { ip: '192.0.2.90', jail: 'sshd' } })
      await add({ ip: '192.0.2.90' })
      const { commands } = (await viewer('GET /commands', { query: 'type=unban-ip' })).json as {
        commands: { params: unknown }[]
      }
      same(
        'spec whitelist: a new entry queues one unban-ip with jail *',
        commands.map(({ params }) => params),
        [{ ip: '192.0.2.90', jail: '*' }],
      )
    })
  })
