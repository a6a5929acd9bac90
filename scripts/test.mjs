import { spawn, spawnSync } from 'node:child_process'
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
      '--format',
      './scripts/lint/formatter.mjs',
      '--cache',
      '--cache-location',
      'node_modules/.cache/eslint/',
    ],
  ],
  ['format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']],
]
let failed = false
/** Runs a check; what it prints is shown when it is done, so that the three do not mix. */
const check = ([name, args]) =>
  new Promise(resolve => {
    const started = Date.now()
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data))
    child.on('close', code => {
      process.stdout.write(output)
      process.stderr.write(
        `stockade: ${name} ${code === 0 ? 'passed' : 'FAILED'} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`,
      )
      if (code !== 0) failed = true
      resolve()
    })
  })
if (only.length === 0) await Promise.all(steps.map(check))
const tests = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...only], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(tests.status !== 0 || failed ? 1 : 0)
