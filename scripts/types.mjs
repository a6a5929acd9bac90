import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/* Checks the types of every package and of the tests. */
const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = `${root}node_modules/@typescript/native/bin/tsc`
const projects = [...readdirSync(`${root}packages`).map(name => `packages/${name}`), '.'].filter(path =>
  existsSync(`${root}${path}/tsconfig.json`),
)
let failed = false
for (const project of projects) {
  const done = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
  if (done.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
