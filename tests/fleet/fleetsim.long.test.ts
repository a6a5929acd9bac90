import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/* The short setting of `npm run bench -- fleetsim`: it ends with 1 by itself when anything acknowledged is lost or doubled. */
test('a simulated fleet loses nothing, also when the server is killed', async () => {
  const script = fileURLToPath(new URL('../../bench/fleet/main.ts', import.meta.url))
  const args = [
    '--agents',
    '40',
    '--workers',
    '2',
    '--bans-per-second',
    '60',
    '--seconds',
    '5',
    '--heartbeat',
    '2',
    '--kill',
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args])
  expect(stdout).toMatch(/bans acknowledged [1-9]\d*, lost 0, doubled 0/)
  expect(stdout).toMatch(/a whitelist change was held by all 40: .* the server has the word of all after [\d.]+ s/)
  expect(stdout).toContain('a batch for 40 was accepted')
  expect(stdout).toMatch(/after a restart .* each agent had a heartbeat taken after [\d.]+ s/)
})
