import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tame } from './text.ts'

test('control characters go, newline and tab stay', () => {
  expect(tame('a\u0000b\u001b[31m\r\n\tc\u0085\u007f', 100)).toBe('a\ufffdb\ufffd[31m\ufffd\n\tc\ufffd\ufffd')
})
test('a lone half of a pair can not be stored', () => {
  expect(tame('x\ud800y', 100)).toBe('x\ufffdy')
  expect(tame('\u{1f600}', 100)).toBe('\u{1f600}')
})
test('what is too long is cut at a character, with a mark', () => {
  const cut = tame('é'.repeat(100), 51)
  expect(cut.endsWith('\n[cut]')).toBe(true)
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(51)
  expect(cut).not.toContain('\ufffd')
})
test('never longer than it may be', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 10, max: 400 }), (text, most) => {
      expect(Buffer.byteLength(tame(text, most))).toBeLessThanOrEqual(most)
    }),
  )
})
