import { execFile } from 'node:child_process'
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
