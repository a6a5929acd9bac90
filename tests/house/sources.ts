import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Source } from './unused.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const rooms = ['packages', 'tests', 'bench', 'demo', 'scripts']

/** Every module of ours, with tests, benches and scripts. */
export const allSources = (): Source[] =>
  [...rooms.flatMap(filesBelow), 'vitest.config.ts'].map(path => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))

const filesBelow = (directory: string): string[] =>
  readdirSync(join(root, directory), { withFileTypes: true }).flatMap(entry => {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'dist' ? [] : filesBelow(path)
    return /\.(tsx?|mjs|cjs|js)$/.test(entry.name) ? [path] : []
  })

/** The path of an imported module of ours; null for a package of others. */
export const resolveImport = (from: string, specifier: string): string | null => {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier))
  const own = /^@stockade\/([\w-]+)(?:\/(.*))?$/.exec(specifier)
  if (!own) return null
  const [, name = '', path] = own
  if (name === 'server') return `packages/server/src/${path === 'testing' ? 'testing/index.ts' : 'main.ts'}`
  return `packages/${name}/src/${path ?? (name === 'agent' ? 'main.ts' : 'index.ts')}`
}
