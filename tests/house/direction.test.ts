import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/* The rules of direction of ARCHITECTURE.md, read from the imports. */

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const sources = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(
  path => /^[\w-]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path) && !path.includes('node_modules'),
)

interface Import {
  readonly from: string
  readonly to: string
}
/** Every import of ours, both ends as paths below `packages/`. */
const imports: Import[] = sources.flatMap(from => {
  const text = readFileSync(join(packages, from), 'utf8')
  const targets = [...text.matchAll(/(?:from|import|import\()\s*['"]([^'"]+)['"]/g)].map(match => match[1] ?? '')
  return targets.flatMap(target => {
    if (target.startsWith('.'))
      return [{ from, to: relative(packages, resolve(dirname(join(packages, from)), target)) }]
    const own = /^@stockade\/([\w-]+)(.*)$/.exec(target)
    return own ? [{ from, to: `${own[1] ?? ''}/${own[2] ?? ''}` }] : []
  })
})
const packageOf = (path: string) => path.split('/')[0] ?? ''
const roomOf = (path: string) => /^server\/src\/([\w-]+)\//.exec(path)?.[1] ?? null
const featureOf = (path: string) => /^server\/src\/features\/([\w-]+)\//.exec(path)?.[1] ?? null

test('there is something to check', () => expect(imports.length).toBeGreaterThan(150))

test('packages import only what stands below them', () => {
  const may: Record<string, readonly string[]> = {
    contract: ['contract'],
    client: ['client', 'contract'],
    agent: ['agent', 'client', 'contract'],
    cli: ['cli', 'client', 'contract'],
    dashboard: ['dashboard', 'client', 'contract'],
    server: ['server', 'client', 'contract'],
  }
  expect(imports.filter(({ from, to }) => !may[packageOf(from)]?.includes(packageOf(to)))).toEqual([])
})

test('the server serves without the client; only its tests speak through it', () => {
  expect(
    imports.filter(
      ({ from, to }) => packageOf(from) === 'server' && packageOf(to) === 'client' && roomOf(from) !== 'testing',
    ),
  ).toEqual([])
})

test('core, db, http, events, jobs and outgoing know no feature', () => {
  const rooms = new Set(['core', 'db', 'http', 'events', 'jobs', 'outgoing'])
  expect(imports.filter(({ from, to }) => rooms.has(roomOf(from) ?? '') && roomOf(to) === 'features')).toEqual([])
})

test('core knows nothing but core', () => {
  expect(
    imports.filter(({ from, to }) => roomOf(from) === 'core' && packageOf(to) === 'server' && roomOf(to) !== 'core'),
  ).toEqual([])
})

test('routes see no store, stores see neither HTTP nor Problems', () => {
  expect(imports.filter(({ from, to }) => from.endsWith('.routes.ts') && to.endsWith('.store.ts'))).toEqual([])
  expect(
    imports.filter(
      ({ from, to }) => from.endsWith('.store.ts') && (roomOf(to) === 'http' || to.endsWith('core/problem.ts')),
    ),
  ).toEqual([])
})

test('a feature uses only features that features.ts builds before it', () => {
  const text = readFileSync(join(packages, 'server/src/app/features.ts'), 'utf8')
  const body = text.slice(text.indexOf('export const buildFeatures'))
  /** Where each part is built. A feature may come in several parts, such as `whitelist/mirror` below `whitelist/whitelist`. */
  const places = new Map<string, number>()
  for (const [, name = '', file = ''] of text.matchAll(
    /import \{ (\w+) \} from '\.\.\/features\/([\w-]+\/[\w-]+)\.feature\.ts'/g,
  ))
    places.set(`server/src/features/${file}.feature.ts`, body.indexOf(`${name}(`))
  expect(places.size).toBeGreaterThan(25)
  expect([...places].filter(([, place]) => place < 0)).toEqual([])
  const placesOf = (feature: string) =>
    [...places].flatMap(([file, place]) => (featureOf(file) === feature ? [place] : []))
  const upward = imports.filter(({ from, to }) => {
    const [user, used] = [featureOf(from), featureOf(to)]
    if (user === null || used === null || user === used) return false
    // A file that is no part of its own may belong to the last one.
    return Math.min(...placesOf(used)) > (places.get(from) ?? Math.max(...placesOf(user)))
  })
  expect(upward).toEqual([])
})
