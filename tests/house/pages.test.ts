import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { forwarding, pages } from '../../demo/pages.ts'

const folder = fileURLToPath(new URL('../../packages/dashboard/src/app/routes/', import.meta.url))
const sources = readdirSync(folder).map(name => readFileSync(folder + name, 'utf8'))
const routes = sources.flatMap(source =>
  [...source.matchAll(/(?:\bpath: |\bpage\(\s*)'([^']+)'/g)].flatMap(([, path]) => (path === undefined ? [] : [path])),
)
/** A page around its tabs, each of which is a route. */
const around = ['/servers/$serverId']

it('lists every page of the dashboard among those of which pictures are made', () => {
  const pictured = pages.map(({ route }) => route)
  expect(routes.length).toBeGreaterThan(50)
  expect(routes.filter(route => ![...pictured, ...forwarding, ...around].includes(route))).toEqual([])
  expect(pictured.filter(route => !routes.includes(route))).toEqual([])
})
it('names each picture once', () => {
  const names = pages.map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
