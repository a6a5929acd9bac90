import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

/*
 * Everything that must hold before a change lands: types, lint, format, and beside them the build and the tests, whose count comes last. Which tests
 * run says STOCKADE_TEST_SUITE (vitest.config.ts).
 */
const suite = process.env.STOCKADE_TEST_SUITE ?? 'all'
const root = fileURLToPath(new URL('..', import.meta.url))
const only = process.argv.slice(2)
const steps = [
  ['types', ['scripts/types.mjs', '--one-thread']],
  ['lint', ['scripts/lint/main.mjs', '--threads', '1', '.']],
  ['format', ['node_modules/oxfmt/bin/oxfmt', '--threads', '1', '--list-different', '.']],
]
/** Runs a check; what it prints is shown when it is done, so that it does not mix with the rest. Resolves to whether it passed. */
const check = ([name, args]) =>
  new Promise(resolve => {
    const started = Date.now()
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    // The build and the tests with hosts come first and wait for half of their time: the checks take what they leave.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data))
    child.on('close', code => {
      process.stdout.write(output)
      process.stderr.write(
        `stockade: ${name} ${code === 0 ? 'passed' : 'FAILED'} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`,
      )
      resolve(code === 0)
    })
  })
/** Runs a program in the foreground; resolves to whether it ended with 0. */
const run = args =>
  new Promise(resolve => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
    const end = signal => child.kill(signal)
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, end)
    child.on('close', code => {
      for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, end)
      resolve(code === 0)
    })
  })

// The checks are part of what `npm test` runs, so the rest need not repeat them.
const checked = only.length === 0 && suite !== 'rest' ? steps : []
const checks = checked.map(check)
const tested =
  (await run(['scripts/build.mjs', '--for-tests'])) && (await run(['node_modules/vitest/vitest.mjs', 'run', ...only]))
const passed = await Promise.all(checks)
for (const [index, [name]] of checked.entries())
  if (!passed[index]) process.stderr.write(`stockade: ${name} FAILED, see above\n`)
process.exit(tested && passed.every(Boolean) ? 0 : 1)
