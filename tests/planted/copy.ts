import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fault } from './fault.ts'

/** A checkout of its own, so that a fault never stands where somebody works. It goes with this process. */
export interface Copy {
  readonly root: string
  /** Does the work with the mistake made; also in what browsers and hosts get, where that is asked for. */
  planted<T>(fault: Fault, isBuilt: boolean, work: () => Promise<T>): Promise<T>
}

const git = (at: string, args: readonly string[], input?: Buffer): Buffer =>
  execFileSync('git', args, { cwd: at, maxBuffer: 1 << 28, ...(input ? { input } : {}) })

/** What is committed, what is changed, and what is new and not ignored. */
const copySources = (from: string, to: string): void => {
  git(from, ['clone', '--quiet', '--no-tags', from, to])
  const head = git(from, ['rev-parse', 'HEAD']).toString().trim()
  git(to, ['checkout', '--quiet', '--detach', head])
  const changes = git(from, ['diff', '--binary', 'HEAD'])
  if (changes.length > 0) git(to, ['apply', '--whitespace=nowarn'], changes)
  const added = git(from, ['ls-files', '--others', '--exclude-standard', '-z']).toString().split('\0').filter(Boolean)
  for (const path of added) fs.cpSync(join(from, path), join(to, path))
}

const kept = { recursive: true, preserveTimestamps: true } as const
/** As hard links, which take no room; links among them are relative and lead into the copy. What tools write there is left out. */
const copyModules = (from: string, to: string): void => {
  for (const folder of ['.', 'packages/server', 'packages/dashboard']) {
    const [modules, copied] = [join(from, folder, 'node_modules'), join(to, folder, 'node_modules')]
    if (!fs.existsSync(modules)) continue
    // Hard links don't lead to another disk.
    const copy = 'cp -al "$0" "$1" 2>/dev/null || { rm -rf "$1" && cp -a "$0" "$1"; }'
    execFileSync('sh', ['-c', copy, modules, copied])
    for (const name of ['.cache', '.vite', '.vite-temp', '.vitest'])
      fs.rmSync(join(copied, name), { recursive: true, force: true })
  }
  const runtimes = 'packages/server/dist/runtime'
  if (fs.existsSync(join(from, runtimes))) fs.cpSync(join(from, runtimes), join(to, runtimes), kept)
}

const builders = [
  { part: 'dashboard', build: 'buildDashboard', of: /^packages\/(dashboard|client|contract)\// },
  { part: 'agent', build: 'buildAgent', of: /^packages\/(agent|client|contract)\// },
] as const

export const copyOf = (original: string, environment: NodeJS.ProcessEnv): Copy => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'stockade-planted-'))
  // The tests' PostgreSQL runs from the copy as a user of its own.
  fs.chmodSync(folder, 0o755)
  const root = join(folder, 'checkout')
  const run = (args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
  process.on('exit', () => fs.rmSync(join(root, '..'), { recursive: true, force: true }))
  copySources(original, root)
  copyModules(original, root)
  run(['scripts/build.mjs'])
  const dist = (part: string, suffix = '') => join(root, 'packages', part, `dist${suffix}`)
  /** Builds the parts that the file is in. Returns what puts the builds of before back. */
  const rebuild = (file: string): (() => void) => {
    const built = builders.filter(({ of }) => of.test(file))
    for (const { part, build } of built) {
      fs.cpSync(dist(part), dist(part, '.kept'), kept)
      run(['--input-type=module', '-e', `await (await import('./packages/${part}/build.mjs')).${build}()`])
    }
    return () => {
      for (const { part } of built) {
        fs.rmSync(dist(part), { recursive: true, force: true })
        fs.renameSync(dist(part, '.kept'), dist(part))
      }
    }
  }
  return {
    root,
    async planted({ file, find, replace }, isBuilt, work) {
      const path = join(root, file)
      const text = fs.readFileSync(path, 'utf8')
      const { atime, mtime } = fs.statSync(path)
      const parts = text.split(find)
      if (parts.length !== 2) throw new Error(`${file} does not hold ${JSON.stringify(find)} exactly once`)
      fs.writeFileSync(path, parts.join(replace))
      const putBack = isBuilt ? rebuild(file) : () => {}
      try {
        return await work()
      } finally {
        fs.writeFileSync(path, text)
        // What was built before is as new as its sources again, and used.
        fs.utimesSync(path, atime, mtime)
        putBack()
      }
    },
  }
}
