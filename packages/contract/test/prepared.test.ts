import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkPrepared } from '../src/prepared.ts'
import type { AskedBatch } from '../src/prepared.ts'
import { canonicalJson, sealTimes } from '../src/seal.ts'

const now = 1_800_000_000
const web = '11111111-1111-4111-8111-111111111111'
const mail = '22222222-2222-4222-8222-222222222222'
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const statement = (target: string, params: object, more: object = {}) =>
  canonicalJson({
    ...{ v: 1, type: 'ban-ip', params, target, nonce: 'AAAAAAAAAAAAAAAAAAAAAA', issued: now, expires: now + 3600 },
    ...more,
  })
const check = (statements: string[], asked: AskedBatch, template: { name: string } | null = null) =>
  checkPrepared({ statements, template }, asked, now, sha256)

const [a, b] = [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }]
const targets = {
  type: 'ban-ip',
  targets: [
    { server_id: web, params: a },
    { server_id: mail, params: b },
  ],
}
test.each<[string, AskedBatch, string[]]>([
  [
    'one for each server',
    { type: 'ban-ip', params: a, server_ids: [web, mail, web] },
    [statement(mail, a), statement(web, a)],
  ],
  [
    'a list for each server',
    { type: 'ban-ip', params_list: [a, b], server_ids: [web] },
    [statement(web, b), statement(web, a)],
  ],
  ['each its own', targets, [statement(web, a), statement(mail, b)]],
])('what was asked for is let through: %s', async (_, asked, statements) => {
  expect((await check(statements, asked)).map(({ target }) => target)).toHaveLength(2)
})

const one = { type: 'ban-ip', params: a, server_ids: [web] }
test.each<[string, AskedBatch, string[], string]>([
  ['parameters that changed places', targets, [statement(web, b), statement(mail, a)], 'other parameters'],
  ['another server', one, [statement(mail, a)], 'for other servers'],
  ['one more', one, [statement(web, a), statement(web, b)], 'for other servers'],
  ['none', one, [], 'for other servers'],
  ['another type', one, [statement(web, a, { type: 'unban-ip' })], 'a unban-ip instead of a ban-ip'],
  [
    'a time that ends late',
    one,
    [statement(web, a, { issued: now + 200, expires: now + sealTimes.longest + 100 })],
    'longer',
  ],
  ['a template on the side', one, [statement(web, { ...a, template_sha256: 'ab' })], 'another template'],
])('%s is told of', async (_, asked, statements, said) => {
  await expect(check(statements, asked)).rejects.toThrow(said)
})

test('a deployment is compared by the name and the content of its template', async () => {
  const template = { name: 'shop', jail_config: '[shop]' }
  const digest = createHash('sha256').update(canonicalJson(template)).digest('hex')
  const asked = { type: 'deploy-template', params: { template_id: 'shop', settings: {} }, server_ids: [web] }
  const signed = (template_sha256: string, settings: object = {}) => [
    statement(web, { template_id: 7, settings, template_sha256 }, { type: 'deploy-template' }),
  ]
  expect(await check(signed(digest), asked, template)).toHaveLength(1)
  await expect(check(signed('00'), asked, template)).rejects.toThrow('another template than it shows')
  await expect(check(signed(digest, { maxretry: 99 }), asked, template)).rejects.toThrow('other parameters')
  await expect(
    check(signed(digest), { ...asked, params: { ...asked.params, template_id: 'mail' } }, template),
  ).rejects.toThrow('the template shop instead of mail')
})
