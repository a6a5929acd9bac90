import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  approvalAskedBy,
  canonicalJson,
  hexOf,
  isWide,
  needsSeal,
  readOperatorKey,
  readStatement,
  rootOf,
  sealMessage,
  sealTree,
  statedParams,
  unapprovedBan,
  unapprovedPort,
  unapprovedRange,
  writeOperatorKey,
} from '../src/seal.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const vectors = JSON.parse(
  readFileSync(new URL('../../../docs/spec/sealed-commands.vectors.json', import.meta.url), 'utf8'),
) as {
  canonical: { value: unknown; text: string }[]
  template: unknown
  template_sha256: string
  statements: string[]
  leaves: string[]
  proofs: string[][]
  root: string
  message: string
  operator_keys: Record<string, string>
}

test('the vectors of the specification hold', async () => {
  for (const { value, text } of vectors.canonical) expect(canonicalJson(value)).toBe(text)
  expect((await statedParams({ template: vectors.template }, sha256)).template_sha256).toBe(vectors.template_sha256)
  const { root, proofs } = await sealTree(vectors.statements, sha256)
  expect(hexOf(root)).toBe(vectors.root)
  expect(proofs).toEqual(vectors.proofs)
  for (const [index, text] of vectors.statements.entries()) {
    expect(hexOf(await rootOf(text, [], sha256))).toBe(vectors.leaves[index])
    expect(canonicalJson(readStatement(text))).toBe(text)
  }
  expect(new TextDecoder().decode(sealMessage(root))).toBe(vectors.message)
  for (const line of Object.values(vectors.operator_keys)) expect(writeOperatorKey(readOperatorKey(line))).toBe(line)
})

test('every statement of a tree of any size leads to its root, and no other statement does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 40 }), async texts => {
      const { root, proofs } = await sealTree(texts, sha256)
      for (const [index, text] of texts.entries()) {
        expect(await rootOf(text, proofs[index] ?? [], sha256)).toEqual(root)
        expect(await rootOf(`${text}x`, proofs[index] ?? [], sha256)).not.toEqual(root)
      }
    }),
    { numRuns: 50 },
  )
})

test('canonical JSON is read back as what it was written from, and does not depend on the order of keys', () => {
  const json = fc.letrec(tie => ({
    value: fc.oneof(
      fc.string(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    ),
  })).value
  fc.assert(
    fc.property(json, value => {
      const text = canonicalJson(value)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
  expect(canonicalJson({ b: 1, a: 2 })).toBe(canonicalJson({ a: 2, b: 1 }))
  for (const odd of [1.5, NaN, Infinity, 2 ** 53, undefined, () => 1, 1n])
    expect(() => canonicalJson({ odd: [odd] })).toThrow()
})

const statement = JSON.parse(vectors.statements[0] ?? '') as Record<string, unknown>
test.each<[string, object, RegExp]>([
  ['another version', { v: 2 }, /version/],
  ['a field more', { also: 1 }, /other fields/],
  ['no type', { type: '' }, /no type/],
  ['a list as parameters', { params: [] }, /no parameters/],
  [
    'a target in capitals',
    { target: String(statement.target).toUpperCase().replace('0193D3A0', 'ABCDABCD') },
    /no target/,
  ],
  ['a short nonce', { nonce: 'AAAA' }, /nonce/],
  ['eight days', { expires: Number(statement.issued) + 8 * 86_400 }, /seven days/],
  ['an end before its beginning', { expires: Number(statement.issued) - 1 }, /seven days/],
  ['a negative time', { issued: -5 }, /times/],
])('a statement with %s is refused', (_, change, reason) => {
  expect(() => readStatement(canonicalJson({ ...statement, ...change }))).toThrow(reason)
})
test('a statement that is not in its canonical form is refused', () => {
  expect(() => readStatement(` ${vectors.statements[0] ?? ''}`)).toThrow(/canonical/)
  expect(() => readStatement((vectors.statements[0] ?? '').replace('"v":1', '"v":1,"v":1'))).toThrow(/canonical/)
  expect(() => readStatement('{')).toThrow(/not JSON/)
  expect(() => readStatement(`"${'x'.repeat(70_000)}"`)).toThrow(/large/)
})
test.each([
  ['10.0.0.0/23', true],
  ['10.0.0.0/24', false],
  ['10.0.0.1', false],
  ['2001:db8::/47', true],
  ['2001:db8::/48', false],
])('%s is wide: %s', (range, wide) => {
  expect(isWide(range)).toBe(wide)
  expect(needsSeal(['wide-ban'], 'ban-ip', { ip: range })).toBe(wide)
  expect(needsSeal(['wide-ban'], 'unban-ip', { ip: range })).toBe(false)
  expect(needsSeal(['wide-ban'], 'approve-ban', { ip: range })).toBe(true)
  expect(needsSeal(['deploy-template'], 'template-preview', {})).toBe(true)
})
test.each([
  '',
  'svc_x',
  'stockade-operator-key-v1:',
  'stockade-operator-key-v1:e30',
  `stockade-operator-key-v1:${'A'.repeat(9000)}`,
  'stockade-operator-key-v1:\u00e9',
])('%j is no operator key', line => {
  expect(() => readOperatorKey(line)).toThrow()
})
test('an agent asks for an approval by a sentence that clients read', () => {
  const ip = '198.18.0.0/15'
  expect(approvalAskedBy(unapprovedRange(ip))).toEqual({ type: 'approve-whitelist', params: { ip } })
  expect(approvalAskedBy(unapprovedRange('2001:db8::/32'))).toMatchObject({ params: { ip: '2001:db8::/32' } })
  expect(approvalAskedBy(unapprovedRange('192.0.2.0/24'))).toBeNull()
  const list = `the host leaves out wide ranges of the list (3): ${unapprovedBan('198.51.0.0/16')}; more`
  expect(approvalAskedBy(list)).toEqual({ type: 'approve-ban', params: { ip: '198.51.0.0/16' } })
  expect(approvalAskedBy(unapprovedBan('192.0.2.0/24'))).toBeNull()
  expect(approvalAskedBy(unapprovedPort(22))).toEqual({ type: 'approve-port', params: { port: 22 } })
  expect(approvalAskedBy(unapprovedPort(70_000))).toBeNull()
  expect(approvalAskedBy('fail2ban does not answer')).toBeNull()
})
