import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** A package as npm's lockfile has it, by its folder. */
interface Locked {
  readonly version?: string
  readonly license?: string
  /** A hash of its archive, such as `sha512-…` in base64. */
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}
export const lockfile = JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Locked>> }
export const { version } = JSON.parse(read('package.json')) as { version: string }

export type Architecture = 'x64' | 'arm64'
/** The names that Debian gives them. */
export const debianNames = { x64: 'amd64', arm64: 'arm64' } as const

/** Seconds since 1970 that every file of a release carries: the commit's, so that two builds of it are the same bytes. */
export const epoch: number = (() => {
  if (process.env.SOURCE_DATE_EPOCH) return Number(process.env.SOURCE_DATE_EPOCH)
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }))
  } catch {
    throw new Error('This is not a checkout of Git: set SOURCE_DATE_EPOCH to the date of the release, in seconds.')
  }
})()
