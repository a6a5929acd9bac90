import { describe, expect, it } from 'vitest'
import { attemptsOf, partsOfLine } from './log-lines.ts'

describe('the parts of a log line', () => {
  const marked = (line: string, words: readonly string[]) =>
    partsOfLine(line, words)
      .filter(({ kind }) => kind === 'mark')
      .map(({ text }) => text)
  it('are its time, what is marked, and the rest, and nothing is lost', () => {
    const line = 'Nov 22 13:01:07 sshd[1]: Failed password for root from 203.0.113.6 port 1'
    const parts = partsOfLine(line, ['203.0.113.6', 'root'])
    expect(parts[0]).toEqual({ text: 'Nov 22 13:01:07', kind: 'time' })
    expect(parts.map(({ text }) => text).join('')).toBe(line)
    expect(marked(line, ['203.0.113.6', 'root'])).toEqual(['root', '203.0.113.6'])
  })
  it.each([
    ['from 203.0.113.66 port', ['203.0.113.6'], []],
    ['chroot for root', ['root'], ['root']],
    ['"admin": password mismatch', ['admin'], ['admin']],
    ['a name', ['', 'a'], []],
  ])('%j marks only what stands by itself', (line, words, found) => expect(marked(line, words)).toEqual(found))
})

describe('the attempts of a ban', () => {
  const at = Date.parse('2026-11-22T12:02:03.000Z')
  it.each([
    ['Nov 22 13:01:53 a\nNov 22 13:02:03 b'],
    ['2026-11-22 13:01:53 a\n2026-11-22 13:02:03 b'],
    ['2026/11/22 13:01:53 [error] a\n2026/11/22 13:02:03 [error] b'],
    ['x - - [22/Nov/2026:13:01:53 +0100] a\nx - - [22/Nov/2026:13:02:03 +0100] b'],
  ])('%j are told by their distance to the last one, in any zone', lines =>
    expect(attemptsOf(lines, at)).toEqual([at - 10_000, at]),
  )
  it.each([[''], ['no time here'], ['Foo 22 13:01:53 a']])('%j has none', lines =>
    expect(attemptsOf(lines, at)).toEqual([]),
  )
})
