import { bounds } from '@stockade/contract/limits.ts'
import { expect, test } from 'vitest'
import { exampleFor } from './examples.ts'
import { linesOf, rowsOf, tooMuchOf } from './sample-words.ts'

test('lines are counted as the service counts them', () => {
  expect(linesOf('')).toEqual([])
  expect(linesOf('a\r\nb\n')).toEqual(['a', 'b'])
  expect(linesOf('\n\na')).toEqual(['', '', 'a'])
})

test('what is too much is told before it is sent', () => {
  expect(tooMuchOf('a\n'.repeat(bounds.sample.lines))).toBe(null)
  expect(tooMuchOf('a\n'.repeat(201))).toEqual({ what: 'lines', count: 201, most: 200 })
  expect(tooMuchOf(`a\n${'b'.repeat(4097)}`)).toEqual({ what: 'line', line: 2, most: 4096 })
  expect(tooMuchOf('x'.repeat(65_537))).toEqual({ what: 'text', most: 65_536 })
})

test('a line that was not tried has no mark', () => {
  const match = { line: 2, matched: true, ip: '203.0.113.7' }
  expect(rowsOf('a\nb', [match])).toEqual([
    { line: 1, text: 'a', match: null },
    { line: 2, text: 'b', match },
  ])
})

test('an example is there for a new template and for those with a filter of their own', () => {
  expect(exampleFor('portscan')).toContain('UFW BLOCK')
  expect(exampleFor('')).toContain('my-service')
  expect(exampleFor('sshd')).toBe(null)
  expect(exampleFor('constructor')).toBe(null)
})
