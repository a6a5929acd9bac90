import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemReasons, reasonOfStatus } from '../../packages/contract/src/problem-reasons.ts'
import { allSources, root } from './sources.ts'

/** A decision by the sentence of an error instead of its code. */
const byProse =
  /\b\w*(?:error|problem|refusal)\.(?:body\.)?message\s*\.(?:includes|startsWith|endsWith|match|search|replace)\(|\.test\(\s*\w*(?:error|problem|refusal)\.(?:body\.)?message\b/i

describe('reasons of refusals', () => {
  it('clients decide by them, never by a sentence of the server', () => {
    const clients = allSources().filter(({ path }) => /^packages\/(client|dashboard|cli)\/src\//.test(path))
    expect(clients.length).toBeGreaterThan(500)
    expect(clients.filter(({ text }) => byProse.test(text)).map(({ path }) => path)).toEqual([])
  })

  it.each([
    [`if (error.message.includes('"force": true')) return`, true],
    ['const text = givenError.message.replace(/ Send .*/, "")', true],
    ['/is taken/.test(error.body.message)', true],
    ["if (error.reason === 'force-required') return", false],
  ])('%j decides by prose: %j', (line, isFound) => expect(byProse.test(line)).toBe(isFound))

  it('each is in the specification, with the status that its text names', () => {
    const text = readFileSync(join(root, 'docs/spec/errors.md'), 'utf8')
    for (const [reason, words] of Object.entries(problemReasons)) {
      expect(text).toContain(`| \`${reason}\` | ${words} |`)
      expect(words).toMatch(/ Status \d{3}\.$/)
    }
  })

  it('a status alone has one', () => {
    expect([400, 409, 503, 418].map(reasonOfStatus)).toEqual(['invalid', 'conflict', 'unavailable', 'server-error'])
  })
})
