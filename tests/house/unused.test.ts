import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allSources, resolveImport, root } from './sources.ts'
import { takenByName, unusedDependencies, unusedExports } from './unused.ts'

const sources = allSources()

const isChecked = (path: string) =>
  /^packages\/(contract|client|agent|cli|server|dashboard)\/src\/.*\.tsx?$/.test(path) &&
  !/\.test\.tsx?$|\.d\.ts$/.test(path) &&
  !takenByName.test(path)

test('every export is used by another module', () => {
  const unused = unusedExports(sources, isChecked, resolveImport)
  expect(
    unused.map(({ path, name }) => `${path}: ${name}`),
    'Remove "export" where only the file itself uses the name, or remove the code.',
  ).toEqual([])
})

test('a planted export that nobody uses is found', () => {
  const planted = [
    {
      path: 'packages/cli/src/planted.ts',
      text: 'export const used = 1\nexport const unused = 2\nexport type Dead = 3\n',
    },
    { path: 'packages/cli/src/other.ts', text: "import { used as mine } from './planted.ts'\nconsole.log(mine)\n" },
  ]
  expect(unusedExports(planted, isChecked, resolveImport)).toEqual([
    { path: 'packages/cli/src/planted.ts', name: 'unused' },
    { path: 'packages/cli/src/planted.ts', name: 'Dead' },
  ])
})

/** Read by tools, or by style sheets. */
const isTool = (name: string) => /^@types\/|^@fontsource/.test(name)
const dependenciesOf = (directory: string): string[] => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, directory, 'package.json'), 'utf8'),
  ) as Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>>
  return Object.keys({ ...dependencies, ...devDependencies }).filter(name => !isTool(name))
}

test.each([
  '',
  'packages/contract/',
  'packages/client/',
  'packages/agent/',
  'packages/cli/',
  'packages/dashboard/',
  'packages/server/',
])('every dependency of "%s" is used', directory => {
  const own = sources.filter(({ path }) => path.startsWith(directory))
  expect(
    unusedDependencies(dependenciesOf(directory), own),
    `Remove it: npm uninstall${directory && ` -w ${directory}`} NAME`,
  ).toEqual([])
})

test('a planted dependency that nobody uses is found', () => {
  const planted = [{ path: 'packages/cli/src/x.ts', text: "import { a } from 'used'\nimport '@scope/used/x.css'\n" }]
  expect(unusedDependencies(['used', '@scope/used', 'unused', 'use'], planted)).toEqual(['unused', 'use'])
})
