import { expect, test } from 'vitest'
import { cycleAdvice, cyclesOf, graphOf } from './cycles.ts'
import { allSources } from './sources.ts'

const modules = allSources().filter(
  ({ path }) => /^packages\/[\w-]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path),
)

test('no module imports itself, directly or through others', () => {
  expect(modules.length).toBeGreaterThan(400)
  expect([...graphOf(modules).values()].flat().length).toBeGreaterThan(4 * modules.length)
  expect(cyclesOf(modules), cycleAdvice).toEqual([])
})

test('a planted circle is found, by types and through others too', () => {
  const planted = [
    ['a', "import type { B } from './b.ts'"],
    ['b', "import {\n  c,\n} from '@stockade/cli/c.ts'"],
    ['c', "export * from './a.ts'"],
    ['d', "import { a } from './a.ts'"],
    ['e', "const e = await import('./e.ts')"],
  ].map(([name = '', text = '']) => ({ path: `packages/cli/src/${name}.ts`, text }))
  expect(cyclesOf(planted)).toEqual([
    'packages/cli/src/a.ts -> packages/cli/src/b.ts -> packages/cli/src/c.ts -> packages/cli/src/a.ts',
    'packages/cli/src/e.ts -> packages/cli/src/e.ts',
  ])
})
