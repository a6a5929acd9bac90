import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { buildDashboard } from '../build.mjs'

/* A custom property that nobody defines draws nothing, and no tool complains. */

const root = fileURLToPath(new URL('..', import.meta.url))
const textOf = (folder: string, ending: RegExp): string =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => ending.test(name))
    .map(name => readFileSync(join(root, folder, name), 'utf8'))
    .join('\n')
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])

beforeAll(async () => {
  if (!existsSync(join(root, 'dist/.vite/manifest.json'))) await buildDashboard()
})
test('every custom property that a stylesheet uses is defined', () => {
  const defined = new Set([
    ...all(textOf('dist/assets', /\.css$/), /(--[\w-]+)\s*:/g),
    ...all(textOf('src', /\.tsx?$/), /'(--[\w-]+)'/g),
    // Mantine sets it on the element.
    '--button-height',
  ])
  const used = all(textOf('src', /\.css$/), /var\((--[\w-]+)\s*\)/g).filter(name => !name.startsWith('--mantine-'))
  expect(used.length).toBeGreaterThan(100)
  expect([...new Set(used)].filter(name => !defined.has(name))).toEqual([])
})
