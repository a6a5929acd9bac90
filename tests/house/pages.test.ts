import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { forwarding, pages } from '../../demo/pages.ts'

const router = readFileSync(
  fileURLToPath(new URL('../../packages/dashboard/src/app/router.tsx', import.meta.url)),
  'utf8',
)
const routes = [...router.matchAll(/\bpath: '([^']+)'/g)].flatMap(([, path]) => (path === undefined ? [] : [path]))
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
