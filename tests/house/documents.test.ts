import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './sources.ts'

test('every file that ARCHITECTURE.md names by package exists', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const named = [...text.matchAll(/`((?:agent|cli|client|contract|dashboard|server)\/src\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(path => !existsSync(join(root, 'packages', path)))).toEqual([])
})
