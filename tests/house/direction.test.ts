import { expect, test } from 'vitest'
import { brokenRules, buildOrder, importsOf, upwardImports } from './direction.ts'
import { allSources } from './sources.ts'

const packages = 'packages/'
const sources = allSources()
  .filter(({ path }) => /^packages\/[\w-]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map(({ path, text }) => ({ path: path.slice(packages.length), text }))
const imports = importsOf(sources)
const features = sources.find(({ path }) => path === 'server/src/app/features.ts')?.text ?? ''

test('there is something to check', () => {
  expect(imports.length).toBeGreaterThan(1000)
  const order = buildOrder(features)
  expect(order.size).toBeGreaterThan(25)
  expect([...order].filter(([, place]) => place < 0)).toEqual([])
})

test('imports point down', () => expect(brokenRules(imports)).toEqual([]))

test('a feature uses only features that features.ts builds before it', () =>
  expect(upwardImports(imports, buildOrder(features))).toEqual([]))

test.each([
  ['contract/src/bans.ts', '../../server/src/core/ip.ts', 'move what both need into the contract'],
  ['agent/src/wire.ts', '@stockade/client', 'move what both need into the contract'],
  ['server/src/features/bans/bans.service.ts', '@stockade/client', 'only server/src/testing speaks through it'],
  ['server/src/app/app.ts', '@stockade/cli/print.ts', 'only server/src/admin adds commands to it'],
  ['server/src/http/http.ts', '../features/bans/bans.service.ts', 'the feature passes in what they need'],
  ['server/src/core/ids.ts', '../db/database.ts', 'belongs to db, http or a feature'],
  ['server/src/features/bans/bans.routes.ts', './bans.store.ts', 'the service calls the store'],
  ['server/src/features/bans/bans.store.ts', '../../core/problem.ts', 'the service refuses'],
])('a planted import of %s from %s is refused with its place', (path, target, sentence) => {
  const planted = importsOf([{ path, text: `import type { Planted } from '${target}'\n` }])
  expect(brokenRules(planted)).toEqual([expect.stringContaining(sentence)])
})

test('a planted import of a later feature is refused with its place', () => {
  const planted = importsOf([
    {
      path: 'server/src/features/settings/settings.service.ts',
      text: "import { createBans } from '../bans/bans.service.ts'\n",
    },
  ])
  expect(upwardImports(planted, buildOrder(features))).toEqual([
    expect.stringContaining(
      'server/src/features/bans/bans.service.ts: a feature uses only features that features.ts builds',
    ),
  ])
})
