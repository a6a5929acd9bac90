import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { endpoints, tags } from '@stockade/contract'
import { expect, test } from 'vitest'
import { allSources, root } from './sources.ts'
import { endpointsPage } from './specification.ts'

const mostBytesOfChangelog = 12_000

test('every file that ARCHITECTURE.md names by package exists', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const named = [...text.matchAll(/`((?:agent|cli|client|contract|dashboard|server)\/src\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(path => !existsSync(join(root, 'packages', path)))).toEqual([])
})

test('the list of endpoints in the specification is that of the contract', () => {
  const page = readFileSync(join(root, 'docs/spec/endpoints.md'), 'utf8')
  expect(page, 'run `npm run make -- spec`').toBe(endpointsPage())
  // A group that nobody describes is not in the document's list of groups, so its endpoints would be on no page.
  expect(endpoints.filter(({ tag }) => !(tag in tags)).map(({ path }) => path)).toEqual([])
})

test('documents link to files that exist', () => {
  const documents = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md'].concat(
    readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.md'))
      .map(path => join('docs', path)),
  )
  const links = documents.flatMap(path =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, to = '']) => ({
      from: path,
      to: join(dirname(path), to),
    })),
  )
  expect(links.length).toBeGreaterThan(30)
  expect(links.filter(({ to }) => !existsSync(join(root, to)))).toEqual([])
})

test('the changelog is short enough to be read before an upgrade', () => {
  const bytes = statSync(join(root, 'CHANGELOG.md')).size
  expect(
    bytes,
    'one line an entry, for those who run Stockade; reasons and figures belong into docs/adr',
  ).toBeLessThanOrEqual(mostBytesOfChangelog)
})

test('every page of the specification that code cites exists', () => {
  const inSuite = allSources().filter(({ path }) => path.includes('/conformance/'))
  const labels = inSuite.flatMap(({ text }) => [...text.matchAll(/\bspec ([a-z]+(?:-[a-z]+)?)(?=[:'`;,])/g)])
  const paths = allSources().flatMap(({ text }) => [...text.matchAll(/docs\/spec\/([\w-]+)\.md/g)])
  expect(labels.length).toBeGreaterThan(200)
  const pages = new Set([...labels, ...paths].map(([, page = '']) => page))
  expect([...pages].filter(page => !existsSync(join(root, `docs/spec/${page}.md`)))).toEqual(['NAME'])
})
