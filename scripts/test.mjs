import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/* Everything that must hold before a change lands: types, lint, format, then the tests, whose count comes last. */
const root = fileURLToPath(new URL('..', import.meta.url))
const only = process.argv.slice(2)
const steps = [
  ['types', ['scripts/types.mjs']],
  [
    'lint',
    [
      'node_modules/eslint/bin/eslint.js',
      '.',
      '--max-warnings',
      '0',
      '--cache',
      '--cache-location',
      'node_modules/.cache/eslint/',
    ],
  ],
  ['format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']],
]
let failed = false
if (only.length === 0)
  for (const [name, args] of steps) {
    const started = Date.now()
    const done = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
    process.stderr.write(
      `stockade: ${name} ${done.status === 0 ? 'passed' : 'FAILED'} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`,
    )
    if (done.status !== 0) failed = true
  }
const tests = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...only], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(tests.status !== 0 || failed ? 1 : 0)
