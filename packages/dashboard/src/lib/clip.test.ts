import { describe, expect, it } from 'vitest'
import { around, clip } from './clip.ts'

describe('clip', () => {
  it('leaves short texts alone', () => expect(clip('web-01 ü 日本')).toEqual({ shown: 'web-01 ü 日本', cut: false }))
  it('cuts long texts', () => {
    const { shown, cut } = clip('a'.repeat(10_000), 300)
    expect(shown).toHaveLength(300)
    expect(cut).toBe(true)
  })
  it('never cuts a character in half', () => expect(clip('😀'.repeat(10), 3)).toEqual({ shown: '😀😀😀', cut: true }))
  it('shows what would turn the line around', () =>
    expect(clip('a\u202egnp.exe\u0000').shown).toBe('a\\u202egnp.exe\\u0000'))
  it('keeps the lines of a log', () => expect(clip('one\ntwo\tthree').shown).toBe('one\ntwo\tthree'))
})

describe('around', () => {
  it('marks each whole address', () =>
    expect(around('from 192.0.2.1 port 22, 192.0.2.10, 192.0.2.1.', '192.0.2.1')).toEqual([
      'from ',
      '192.0.2.1',
      ' port 22, 192.0.2.10, ',
      '192.0.2.1',
      '.',
    ]))
  it('finds IPv6 in any letter case', () =>
    expect(around('from 2001:DB8::1 port', '2001:db8::1')).toEqual(['from ', '2001:DB8::1', ' port']))
  it('without a match is the whole text', () => expect(around('nothing', '192.0.2.1')).toEqual(['nothing']))
})
