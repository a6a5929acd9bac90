import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { allSources, root } from './sources.ts'

/* Planted violations of the rules in .oxlintrc.json: each is refused with a sentence that says where the code belongs. */

/** What lint says about files (path and text) in a folder of their own, with the rules of this one. */
const complaints = async (files: readonly (readonly [path: string, code: string])[]): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'stockade-planted-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(`${root}.oxlintrc.json`, join(folder, '.oxlintrc.json'))
  await cp(`${root}scripts/lint`, join(folder, 'scripts/lint'), { recursive: true })
  for (const [path, code] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), code)
  }
  return new Promise(resolve => {
    execFile(process.execPath, [`${root}scripts/lint/main.mjs`, 'packages'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    )
  })
}

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')

const planted: [what: string, path: string, code: string, sentence: RegExp][] = [
  [
    'a variable whose name is a participle',
    'packages/cli/src/planted-name.ts',
    'export const count = (rows: readonly number[]): number => {\n  const kept = rows.filter(row => row > 0)\n  return kept.length\n}\n',
    /Name what the value is/,
  ],
  [
    'a file of 500 lines',
    'packages/server/src/features/bans/planted-lines.ts',
    lines(500, n => `export const value${n} = ${n}`),
    /too many lines \(500\)[^]*max-lines: Split the file by subject/,
  ],
  [
    'a function of 70 lines',
    'packages/agent/src/planted.ts',
    `export const planted = (add: (n: number) => void): void => {\n${lines(69, n => `  add(${n})`)}\n}\n`,
    /planted has 71 lines of its own[^]*own-lines: Move each step/,
  ],
  [
    'a migration of 70 lines',
    'packages/server/src/db/migrations/0001-schema/planted.ts',
    `export const planted = (): string[] => [\n${lines(69, n => `  'create table planted_${n} (id integer)',`)}\n]\n`,
    /planted has 71 lines of its own[^]*own-lines: Move each step/,
  ],
  [
    'a function of 16 branches',
    'packages/cli/src/planted.ts',
    `export const planted = (n: number): number => {\n${lines(15, n => `  if (n === ${n}) return ${n}`)}\n  return -1\n}\n`,
    /complexity of 16[^]*complexity: Turn a chain of cases into a table/,
  ],
  [
    'a route with SQL',
    'packages/server/src/features/bans/planted.routes.ts',
    "export const planted = (db: { selectFrom(name: string): unknown }) => db.selectFrom('bans')\n",
    /SQL belongs into the \*\.store\.ts/,
  ],
  [
    'a service with SQL as text',
    'packages/server/src/features/bans/planted.service.ts',
    "import { sql } from 'kysely'\nexport const planted = sql`select 1`\n",
    /SQL belongs into the \*\.store\.ts/,
  ],
  [
    'a migration that imports live code',
    'packages/server/src/db/migrations/9999-planted.ts',
    "import { eventKinds } from '@stockade/contract'\nexport const planted = Object.keys(eventKinds)\n",
    /copy the value into the migration/,
  ],
  [
    'a function declaration in the agent',
    'packages/agent/src/planted-function.ts',
    'export function planted(): void {}\n',
    /Write an arrow function/,
  ],
  [
    'a type among the values that the agent imports',
    'packages/agent/src/planted-import.ts',
    "import { test, type TestContext } from 'node:test'\nexport const planted = (context: TestContext) => test(String(context))\n",
    /Write a separate "import type"/,
  ],
  [
    'a constant of the agent in capitals',
    'packages/agent/src/planted-name.ts',
    'export const PLANTED = 1\n',
    /Write constants in camelCase/,
  ],
  [
    'a type of the agent that is what a function returns',
    'packages/agent/src/planted-type.ts',
    'export type Planted = ReturnType<typeof setTimeout>\n',
    /Name the interface/,
  ],
]
test('each planted violation is refused, and its place named', async () => {
  const said = await complaints(planted.map(([, path, code]) => [path, code]))
  for (const [what, path, , sentence] of planted) {
    const own = said.split('\n').filter(line => line.startsWith(`${path}:`) || !line.startsWith('packages/'))
    expect(own.join('\n'), what).toMatch(sentence)
  }
})

test('lines of inner functions do not count for the outer one, and a store may hold SQL', async () => {
  const inner = lines(7, n => `  const part${n} = () => {\n${lines(10, line => `    add(${line})`)}\n  }\n  part${n}()`)
  const factory = `export const planted = (add: (n: number) => void): void => {\n${inner}\n}\n`
  const store = "import { sql } from 'kysely'\nexport const planted = sql`select 1`\n"
  const said = await complaints([
    ['packages/agent/src/planted.ts', factory],
    ['packages/server/src/features/bans/planted.store.ts', store],
  ])
  expect(said).toBe('')
})

test('what oxlint is to find is refused', async () => {
  const code = `import { useEffect, useState } from 'react'
export const Planted = ({ count }: { count: number }) => {
  const [shown, setShown] = useState(0)
  const Inner = () => <b>{shown}</b>
  useEffect(() => setShown(count), [count])
  return <Inner />
}
export const Conditional = ({ on }: { on: boolean }) => {
  if (on) useState(1)
  return null
}
export const first = (list: any[]) => list.find(Boolean)!.name
const unused = 1
console.log(first([]) == 1)
`
  const said = await complaints([['packages/dashboard/planted.tsx', code]])
  const rules = [
    ...['static-components', 'set-state-in-effect', 'rules-of-hooks', 'no-explicit-any', 'no-non-null-assertion'],
    ...['no-unused-vars', 'no-console', 'eqeqeq'],
  ]
  for (const rule of rules) expect(said).toContain(`(${rule})`)
})

/** An exception without a reason. */
const unexplained = /(?:eslint|oxlint)-disable(?!.* -- \w)/
test('every exception of lint says why', () => {
  expect('// oxlint-disable-next-line ' + 'complexity').toMatch(unexplained)
  const found = allSources().flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter(line => line.trimStart().startsWith('//') && unexplained.test(line))
      .map(line => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})
