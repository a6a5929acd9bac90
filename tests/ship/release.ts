import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs the release script as `npm run release` does after the build; resolves to what it printed. */
export const release = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [`${root}scripts/release/main.ts`, ...args], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout
}

/** The Debian package among the files of a release. */
export const debIn = (folder: string): string =>
  join(folder, readdirSync(folder).find(name => name.endsWith('.deb')) ?? '')
