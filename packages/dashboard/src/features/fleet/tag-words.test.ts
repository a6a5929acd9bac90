import { expect, test } from 'vitest'
import { readTags, wrongTag } from './tag-words.ts'

test('tags are words, each once', () => {
  expect(readTags('')).toEqual([])
  expect(readTags(' Web, eu  web\tdb ')).toEqual(['db', 'eu', 'web'])
})

test.each([
  ['web eu-1 9', null],
  ['', null],
  ['web --all', '--all'],
  ['a_b', 'a_b'],
  [`ok ${'a'.repeat(33)}`, 'a'.repeat(33)],
])('%j has the wrong tag %j', (typed, wrong) => {
  expect(wrongTag(typed)).toBe(wrong)
})
