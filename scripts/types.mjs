import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/*
 * Checks the types of every package and of the tests: all in one go, since each but the smallest package brings in nearly all of the
 * server, and only the dashboard by itself, which lives in a browser.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = `${root}node_modules/@typescript/native/bin/tsc`
let failed = false
for (const project of ['.', 'packages/dashboard']) {
  const done = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
  if (done.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
