import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fault } from './fault.ts'

/** A checkout of its own, so that a fault never stands where somebody works. */
export interface Copy {
  readonly root: string
  /** Makes the mistake. Returns what takes it back. */
  plant(fault: Fault): () => void
  /** Builds once what browsers and hosts get, if the fault is in it. */
  build(fault: Fault): void
  remove(): void
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
  for (const path of added) cpSync(join(from, path), join(to, path))
}

const folders = ['.', 'contract', 'client', 'agent', 'cli', 'server', 'dashboard']
/** As hard links, which take no room; links among them are relative and lead into the copy. What tools write there is left out. */
const copyModules = (from: string, to: string): void => {
  for (const folder of folders.map(name => (name === '.' ? '.' : join('packages', name)))) {
    const [modules, copied] = [from, to].map(root => join(root, folder, 'node_modules')) as [string, string]
    if (!existsSync(modules)) continue
    // Hard links don't lead to another disk.
    const copy = 'cp -al "$0" "$1" 2>/dev/null || { rm -rf "$1" && cp -a "$0" "$1"; }'
    execFileSync('sh', ['-c', copy, modules, copied])
    for (const name of ['.cache', '.vite', '.vite-temp', '.vitest'])
      rmSync(join(copied, name), { recursive: true, force: true })
  }
  const runtimes = join('packages/server/dist/runtime')
  if (existsSync(join(from, runtimes)))
    cpSync(join(from, runtimes), join(to, runtimes), { recursive: true, preserveTimestamps: true })
}

const builders = [
  { part: 'dashboard', build: 'buildDashboard', of: /^packages\/(dashboard|client|contract)\// },
  { part: 'agent', build: 'buildAgent', of: /^packages\/(agent|client|contract)\// },
] as const

export const copyOf = (original: string, environment: NodeJS.ProcessEnv): Copy => {
  const root = join(mkdtempSync(join(tmpdir(), 'stockade-planted-')), 'checkout')
  const run = (args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  copySources(original, root)
  copyModules(original, root)
  run(['scripts/build.mjs'])

  const dist = (part: string, suffix = '') => join(root, 'packages', part, `dist${suffix}`)
  let built: readonly string[] = []
  const unbuild = (): void => {
    for (const part of built) {
      rmSync(dist(part), { recursive: true, force: true })
      renameSync(dist(part, '.kept'), dist(part))
    }
    built = []
  }
  return {
    root,
    plant({ file, find, replace }) {
      const path = join(root, file)
      const text = readFileSync(path, 'utf8')
      const { atime, mtime } = statSync(path)
      if (text.split(find).length !== 2) throw new Error(`${file} does not hold ${JSON.stringify(find)} exactly once`)
      writeFileSync(
        path,
        text.replace(find, () => replace),
      )
      return () => {
        writeFileSync(path, text)
        // What was built before is as new as its sources again, and used.
        utimesSync(path, atime, mtime)
        unbuild()
      }
    },
    build({ file }) {
      for (const { part, build, of } of builders) {
        if (!of.test(file) || built.includes(part)) continue
        cpSync(dist(part), dist(part, '.kept'), { recursive: true, preserveTimestamps: true })
        built = [...built, part]
        run(['--input-type=module', '-e', `await (await import('./packages/${part}/build.mjs')).${build}()`])
      }
    },
    remove: () => rmSync(join(root, '..'), { recursive: true, force: true }),
  }
}
