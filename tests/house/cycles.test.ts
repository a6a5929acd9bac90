import { cruise } from 'dependency-cruiser'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * Modules that import each other in a circle cannot be read, tested or moved alone; type imports count too. The dashboard still
 * has one circle, around its catalogues of texts; its rule can be switched on here when that is gone.
 */
const packages = ['contract', 'client', 'agent', 'cli', 'server']

test('no module imports itself, by whatever way', async () => {
  const { output } = await cruise(
    packages.map(name => `packages/${name}/src`),
    {
      baseDir: fileURLToPath(new URL('../../', import.meta.url)),
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      exclude: { path: String.raw`(node_modules|/dist/|\.test\.tsx?$)` },
      validate: true,
      ruleSet: { forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }] },
    },
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  )
  if (typeof output === 'string') throw new Error(output)
  expect(output.summary.totalCruised).toBeGreaterThan(400)
  const circles = output.summary.violations.map(({ from, cycle }) =>
    [from, ...(cycle ?? []).map(({ name }) => name)].join(' -> '),
  )
  expect(
    circles,
    'Move what both sides need into a module below them, for example a type into a file of its own.',
  ).toEqual([])
})
