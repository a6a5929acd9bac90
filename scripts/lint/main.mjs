import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { places } from './places.mjs'

/* Runs oxlint with the arguments given, and says below its messages where the code belongs that breaks a bound. */
const program = fileURLToPath(new URL('../../node_modules/oxlint/bin/oxlint', import.meta.url))
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [program, '--deny-warnings', '--report-unused-disable-directives', '--format', 'unix', ...process.argv.slice(2)],
  { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
)
process.stdout.write(stdout)
process.stderr.write(stderr)
for (const [rule, place] of Object.entries(places))
  if (stdout.includes(`(${rule})]`)) process.stdout.write(`${rule}: ${place}\n`)
process.exit(status ?? 1)
