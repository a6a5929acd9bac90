import { describe, expect, test } from 'vitest'
import { raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* Templates that hand text of log lines to firewalls, or whose expressions never end, are not even stored. */

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

const jail = (name: string, more = '') =>
  `[${name}]\nenabled = true\nbackend = auto\nlogpath = /var/log/${name}.log\n${more}`
const ask = (method: string, path: string, body: object) =>
  raw(server, method, `/api/v1${path}`, { token: admin.token, body })

describe.each([
  ['an alternation that overlaps', '^(?:q|q)*! <HOST>$', '', /several ways/],
  ['nested repetitions', '^(?:q+)+! <HOST>$', '', /several ways/],
  ['repetitions in a row', '^.*.*.*! <HOST>$', '', /follow one another/],
  ['an id', '^ GET /x\\?<F-ID>.+</F-ID>$', '', /<F-ID> is refused/],
  ['a group ip', '^ GET /x\\?(?P<ip>.+)$', '', /\(\?P<ip> is refused/],
  ['names as they stand in the log', '^ <HOST>$', 'usedns = raw\n', /usedns/],
])('%s', (_, failregex, more, says) => {
  const filter_config = `[Definition]\nfailregex = ${failregex}\n`
  test('makes no template, and changes none', async () => {
    const refused = { status: 400, json: { error: 'Bad Request', message: expect.stringMatching(says) as string } }
    const made = await ask('POST', '/templates', { name: 'door', jail_config: jail('door', more), filter_config })
    expect(made).toMatchObject(refused)
    const name = `good-${Math.random().toString(36).slice(2, 10)}`
    const good = { name, jail_config: jail(name), filter_config: '[Definition]\nfailregex = ^ a <HOST>$\n' }
    expect(await ask('POST', '/templates', good)).toMatchObject({ status: 201 })
    const changed = await ask('PATCH', `/templates/${name}`, { jail_config: jail(name, more), filter_config })
    expect(changed).toMatchObject(refused)
  })
})
