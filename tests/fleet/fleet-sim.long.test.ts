import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { conditionMs } from '../../packages/server/src/testing/waiting.ts'

/* The short setting of `npm run check -- fleet-day`: it ends with 1 by itself when a kernel holds something else than was asked. */
test('each host of a simulated fleet holds what was asked, after a day of changes and outages', async () => {
  const script = fileURLToPath(new URL('../../bench/fleet-sim.ts', import.meta.url))
  const day = ['--hosts', '20', '--seconds', '5', '--every', '150', '--troubles', '3', '--restarts', '0', '--quick']
  const size = ['--entries', '2000', '--clicks', '1', '--patience', String(conditionMs / 1000), '--budget', '2000']
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...day, ...size]).catch(
    (error: unknown) => error as { stdout: string },
  )
  expect(stdout).toContain('differences: 0; pending at the server: 0')
  expect(stdout.trimEnd()).toMatch(/\nequal$/)
})
