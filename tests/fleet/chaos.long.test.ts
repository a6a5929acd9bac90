import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/* The short setting of `npm run check -- chaos`; it ends with 1 by itself when something acknowledged is lost or doubled. */
test('kills, cut answers, backups, a full disk and a PostgreSQL that goes away lose nothing', async () => {
  const script = fileURLToPath(new URL('../../bench/chaos.ts', import.meta.url))
  const args = ['kill', 'cut', 'backup', 'full', 'postgres', '--rounds', '1', '--seconds', '0.6', '--patient']
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args]).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}${error.stderr}`)
    },
  )
  if (stdout.includes('!!!')) process.stderr.write(`\n${stdout}\n`)
  expect(stdout).not.toContain('  NO  ')
  expect(stdout.match(/0 lost, 0 doubled/g)?.length).toBeGreaterThanOrEqual(4)
})
