import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const rows = [
  ...readFileSync(at('docs/spec/bad-input.md'), 'utf8').matchAll(/^\|[^|]+\|[^|]+\| `([^`]+)`: ([^|]+) \|$/gm),
].map(([, file = '', name = '']) => ({ file, name }))

test('each case of what may go wrong names a test that is there', () => {
  expect(rows.length).toBeGreaterThan(20)
  expect(rows.filter(({ file, name }) => !readFileSync(at(file), 'utf8').includes(`'${name}'`))).toEqual([])
})
