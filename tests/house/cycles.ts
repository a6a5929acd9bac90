import { resolveImport } from './sources.ts'
import type { Source } from './unused.ts'

/** The modules that each module imports. Types count too, because such modules cannot be read, tested or moved alone either. */
export const graphOf = (sources: readonly Source[]): ReadonlyMap<string, readonly string[]> => {
  const known = new Set(sources.map(({ path }) => path))
  return new Map(
    sources.map(({ path, text }) => {
      const named = [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(([, name = '']) => name)
      return [path, named.flatMap(name => resolveImport(path, name) ?? []).filter(found => known.has(found))]
    }),
  )
}

/** The circles of imports among some modules, each as its modules in order. */
export const cyclesOf = (sources: readonly Source[]): readonly string[] => {
  const graph = graphOf(sources)
  const cycles: string[] = []
  const done = new Set<string>()
  const walk = (path: string, above: readonly string[]): void => {
    if (above.includes(path)) return void cycles.push([...above.slice(above.indexOf(path)), path].join(' -> '))
    if (done.has(path)) return
    for (const imported of graph.get(path) ?? []) walk(imported, [...above, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
  return cycles
}

export const cycleAdvice =
  'Move what both modules need into a module below them, for example a type into a file of its own.'
