import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ESLint } from 'eslint'
import { expect, onTestFinished, test } from 'vitest'
import { allSources, root } from './sources.ts'
// A formatter is a plain module, as ESLint loads it.
import format from '../../scripts/lint/formatter.mjs'

/* Planted violations of the bounds in eslint.config.mjs: each is refused with a sentence that says where the code belongs. */

const eslint = new ESLint({ cwd: root, cache: false })
const complaints = async (filePath: string, code: string): Promise<string> =>
  format(await eslint.lintText(code, { filePath: `${root}${filePath}` }), { cwd: root })

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')

test.each([
  [
    'a file of 500 lines',
    'packages/server/src/features/bans/planted.ts',
    lines(500, n => `export const value${n} = ${n}`),
    /too many lines \(500\).*Split the file by subject/,
  ],
  [
    'a function of 70 lines',
    'packages/agent/src/planted.ts',
    `export const planted = (add: (n: number) => void): void => {\n${lines(69, n => `  add(${n})`)}\n}\n`,
    /planted has 71 lines of its own.*Move each step/,
  ],
  [
    'a migration of 70 lines',
    'packages/server/src/db/migrations/0001-schema/planted.ts',
    `export const planted = (): string[] => [\n${lines(69, n => `  'create table planted_${n} (id integer)',`)}\n]\n`,
    /planted has 71 lines of its own.*Move each step/,
  ],
  [
    'a function of 16 branches',
    'packages/cli/src/planted.ts',
    `export const planted = (n: number): number => {\n${lines(15, n => `  if (n === ${n}) return ${n}`)}\n  return -1\n}\n`,
    /complexity of 16.*Turn a chain of cases into a table/,
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
])('%s is refused', async (_, path, code, sentence) => expect(await complaints(path, code)).toMatch(sentence))

test('lines of inner functions do not count for the outer one, and a store may hold SQL', async () => {
  const inner = lines(7, n => `  const part${n} = () => {\n${lines(10, line => `    add(${line})`)}\n  }\n  part${n}()`)
  const factory = `export const planted = (add: (n: number) => void): void => {\n${inner}\n}\n`
  expect(await complaints('packages/agent/src/planted.ts', factory)).toBe('')
  const store = "import { sql } from 'kysely'\nexport const planted = sql`select 1`\n"
  expect(await complaints('packages/server/src/features/bans/planted.store.ts', store)).toBe('')
})

test('what oxlint is to find is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stockade-planted-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await copyFile(`${root}.oxlintrc.json`, join(folder, '.oxlintrc.json'))
  await mkdir(join(folder, 'packages/dashboard'), { recursive: true })
  await writeFile(
    join(folder, 'packages/dashboard/planted.tsx'),
    `import { useEffect, useState } from 'react'
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
`,
  )
  const said = await new Promise<string>(resolve => {
    execFile(process.execPath, [`${root}node_modules/oxlint/bin/oxlint`, '.'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    )
  })
  const rules = [
    ...['static-components', 'set-state-in-effect', 'rules-of-hooks', 'no-explicit-any', 'no-non-null-assertion'],
    ...['no-unused-vars', 'no-console', 'eqeqeq'],
  ]
  for (const rule of rules) expect(said).toContain(`(${rule})`)
})

/** An exception without a reason. */
const unexplained = /(?:eslint|oxlint)-disable(?!.* -- \w)/
test('every exception of lint says why', () => {
  expect('// eslint-disable-next-line ' + 'complexity').toMatch(unexplained)
  const found = allSources().flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter(line => line.trimStart().startsWith('//') && unexplained.test(line))
      .map(line => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})
