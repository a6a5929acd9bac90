import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cycleAdvice, cyclesOf } from './cycles.ts'
import { root } from './sources.ts'

const packages = ['contract', 'client', 'agent', 'cli', 'server', 'dashboard']

test('no module imports itself, directly or through others', async () => {
  const { modules, cycles } = await cyclesOf(
    packages.map(name => `packages/${name}/src`),
    root,
  )
  expect(modules).toBeGreaterThan(400)
  expect(cycles, cycleAdvice).toEqual([])
})

test('a planted circle is found, by types too', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stockade-house-'))
  try {
    mkdirSync(join(directory, 'src'))
    writeFileSync(
      join(directory, 'src/a.ts'),
      "import type { B } from './b.ts'\nexport interface A { readonly b: B }\n",
    )
    writeFileSync(
      join(directory, 'src/b.ts'),
      "import type { A } from './a.ts'\nexport interface B { readonly a: A }\n",
    )
    const { cycles } = await cyclesOf(['src'], directory)
    expect(cycles).toContain('src/a.ts -> src/b.ts -> src/a.ts')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
