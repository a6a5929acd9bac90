import { dirname, join, relative, resolve } from 'node:path'
import type { Source } from './unused.ts'

/* The rules of direction of ARCHITECTURE.md. Paths are below `packages/`, such as `server/src/core/ids.ts`. */

export interface Import {
  readonly from: string
  readonly to: string
}

/** Every import of ours in some modules whose paths are below `packages/`. */
export const importsOf = (sources: readonly Source[]): Import[] =>
  sources.flatMap(({ path: from, text }) => {
    const targets = [...text.matchAll(/(?:from|import|import\()\s*['"]([^'"]+)['"]/g)].map(match => match[1] ?? '')
    return targets.flatMap(target => {
      if (target.startsWith('.')) return [{ from, to: relative('/', resolve(dirname(join('/', from)), target)) }]
      const own = /^@stockade\/([\w-]+)(.*)$/.exec(target)
      return own ? [{ from, to: `${own[1] ?? ''}/${own[2] ?? ''}` }] : []
    })
  })

const packageOf = (path: string) => path.split('/')[0] ?? ''
const roomOf = (path: string) => /^server\/src\/([\w-]+)\//.exec(path)?.[1] ?? null
const featureOf = (path: string) => /^server\/src\/features\/([\w-]+)\//.exec(path)?.[1] ?? null

/** Packages that each package may import. */
const below: Readonly<Record<string, readonly string[]>> = {
  contract: ['contract'],
  client: ['client', 'contract'],
  agent: ['agent', 'contract'],
  cli: ['cli', 'client', 'contract'],
  dashboard: ['dashboard', 'client', 'contract'],
  server: ['server', 'client', 'contract', 'cli'],
}
/** Rooms of the server that stand below its features. */
const foundations = new Set(['core', 'db', 'http', 'events', 'jobs', 'outgoing'])

interface Rule {
  /** What the code must do instead. */
  readonly sentence: string
  readonly breaks: (line: Import) => boolean
}
const rules: readonly Rule[] = [
  {
    sentence: 'A package imports only packages below it: move what both need into the contract.',
    breaks: ({ from, to }) => !below[packageOf(from)]?.includes(packageOf(to)),
  },
  {
    sentence: 'The server serves without the client: only server/src/testing speaks through it.',
    breaks: ({ from, to }) => packageOf(from) === 'server' && packageOf(to) === 'client' && roomOf(from) !== 'testing',
  },
  {
    sentence:
      'The server serves without the command line: only server/src/admin adds commands to it, and server/src/testing runs it.',
    breaks: ({ from, to }) =>
      packageOf(from) === 'server' && packageOf(to) === 'cli' && !['admin', 'testing'].includes(roomOf(from) ?? ''),
  },
  {
    sentence:
      'core, db, http, events, jobs and outgoing know no feature: the feature passes in what they need, from its *.feature.ts.',
    breaks: ({ from, to }) => foundations.has(roomOf(from) ?? '') && roomOf(to) === 'features',
  },
  {
    sentence: 'core knows only core: what needs a database or a request belongs to db, http or a feature.',
    breaks: ({ from, to }) => roomOf(from) === 'core' && packageOf(to) === 'server' && roomOf(to) !== 'core',
  },
  {
    sentence: 'Routes see no store: they call one method of the service, and the service calls the store.',
    breaks: ({ from, to }) => from.endsWith('.routes.ts') && to.endsWith('.store.ts'),
  },
  {
    sentence: 'Stores see neither HTTP nor Problems: a store returns rows or null, and the service refuses.',
    breaks: ({ from, to }) => from.endsWith('.store.ts') && (roomOf(to) === 'http' || to.endsWith('core/problem.ts')),
  },
]

/** A line for each import that breaks a rule, with the sentence. */
export const brokenRules = (imports: readonly Import[]): string[] =>
  rules.flatMap(({ sentence, breaks }) => imports.filter(breaks).map(({ from, to }) => `${from} -> ${to}: ${sentence}`))

/** Where each part of a feature is built in features.ts. A feature may come in several parts, such as `whitelist/mirror`. */
export const buildOrder = (features: string): ReadonlyMap<string, number> => {
  const body = features.slice(features.indexOf('export const buildFeatures'))
  const places = new Map<string, number>()
  for (const [, name = '', file = ''] of features.matchAll(
    /import \{ (\w+) \} from '\.\.\/features\/([\w-]+\/[\w-]+)\.feature\.ts'/g,
  ))
    places.set(`server/src/features/${file}.feature.ts`, body.indexOf(`${name}(`))
  return places
}

/** A line for each import of a feature that is built later. */
export const upwardImports = (imports: readonly Import[], order: ReadonlyMap<string, number>): string[] => {
  const placesOf = (feature: string) =>
    [...order].flatMap(([file, place]) => (featureOf(file) === feature ? [place] : []))
  const upward = imports.filter(({ from, to }) => {
    const [user, used] = [featureOf(from), featureOf(to)]
    if (user === null || used === null || user === used) return false
    // A file that is no part of its own may belong to the last part of its feature.
    return Math.min(...placesOf(used)) > (order.get(from) ?? Math.max(...placesOf(user)))
  })
  return upward.map(
    ({ from, to }) =>
      `${from} -> ${to}: a feature uses only features that features.ts builds before it. Move the rule into the later feature, or what both need into a feature below them.`,
  )
}
