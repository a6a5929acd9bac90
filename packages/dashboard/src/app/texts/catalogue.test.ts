import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'
import { pseudo } from '../../lib/texts/pseudo.ts'

const source = fileURLToPath(new URL('../../', import.meta.url))
const files = globSync('**/*.texts.ts', { cwd: source })
const catalogues = await Promise.all(
  files.map(async file => {
    const module = (await import(/* @vite-ignore */ source + file)) as Record<string, unknown>
    const found = Object.values(module).filter(
      (value): value is Catalogue<unknown> => typeof value === 'object' && value !== null && 'en' in value,
    )
    return { file, found }
  }),
)

describe('catalogues', () => {
  test('one a file, called as the file is, no name twice', () => {
    for (const { file, found } of catalogues)
      expect(found.map(({ name }) => name)).toEqual([file.replace(/^.*\//, '').replace('.texts.ts', '')])
    expect(new Set(catalogues.map(({ found }) => found[0]?.name)).size).toBe(files.length)
  })
  test('all stand in the list that languages are held against', () => {
    const listed = readFileSync(`${source}app/texts/texts.ts`, 'utf8')
      .split('export interface Texts {')[1]
      ?.split('\n}')[0]
    const names = [...(listed ?? '').matchAll(/^ {2}'?([\w-]+)'?:/gm)].map(([, name]) => name)
    expect(names.sort()).toEqual(catalogues.flatMap(({ found }) => found.map(({ name }) => name)).sort())
  })
  test('the pseudo language changes every text, those that are made too', () => {
    const texts = { plain: 'Ban', made: (n: number) => `${n} bans`, deep: { list: ['one'] } }
    const changed = pseudo(texts)
    expect([changed.plain, changed.made(2), changed.deep.list]).toEqual([
      'Båñ~~'.replace('å', 'á'),
      '2 báñs~~~',
      ['øñë~~'],
    ])
    expect(textsOf({ name: 'none', en: texts })).toBe(texts)
  })
})
