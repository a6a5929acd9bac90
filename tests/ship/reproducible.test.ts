import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'

/* Two builds of one commit, in two checkouts, by users with different masks, are the same bytes. */

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-reproducible-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Builds and releases a copy of this checkout; resolves to the sums of its artefacts. */
const releaseOf = async (name: string, mask: string): Promise<string> => {
  const checkout = join(folder, name)
  await run('git', ['clone', '--quiet', root, checkout])
  // The packages as they were installed, those of single workspaces too.
  for (const place of ['.', ...readdirSync(join(root, 'packages')).map(each => join('packages', each))])
    if (existsSync(join(root, place, 'node_modules')))
      await run('cp', ['-a', join(root, place, 'node_modules'), join(checkout, place)])
  const commands = `umask ${mask}; ${process.execPath} scripts/build.mjs && ${process.execPath} scripts/release/main.ts --compression gzip`
  await run('sh', ['-c', commands], { cwd: checkout, maxBuffer: 64 * 1024 * 1024 })
  return readFileSync(join(checkout, 'release/SHA256SUMS'), 'utf8')
}

it('two releases of one commit are the same, file by file', async () => {
  const first = await releaseOf('one', '022')
  expect(first.trim().split('\n').length).toBeGreaterThanOrEqual(4)
  expect(await releaseOf('another-place', '077')).toBe(first)
})
