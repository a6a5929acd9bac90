import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/*
 * Checks the types of every package and of the tests: all in one go, since each but the smallest package brings in nearly all of the
 * server, and only the dashboard by itself, which lives in a browser. With `--one-thread` on one thread, which takes a third of the CPU
 * and leaves the other cores to the tests.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const isOneThread = process.argv.includes('--one-thread')
// A few hundred megabytes more, and far less collecting.
const env = { GOGC: '400', ...process.env }
const tsc = `${root}node_modules/@typescript/native/bin/tsc`
let failed = false
for (const project of ['.', 'packages/dashboard']) {
  const options = ['-p', project, ...(isOneThread ? ['--singleThreaded'] : [])]
  const done = spawnSync(process.execPath, [tsc, ...options], { cwd: root, env, stdio: 'inherit' })
  if (done.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
