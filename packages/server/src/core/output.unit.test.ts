import { expect, it } from 'vitest'
import { createOutput } from './output.ts'

it('keeps no more than a little for a reader that does not read, and says what was left out', () => {
  const lines: string[] = []
  const stream = { writableLength: 0, write: (line: string) => lines.push(line) > 0 }
  const output = createOutput(stream as unknown as NodeJS.WriteStream, count => `${count} left out\n`)
  output.write('a\n')
  stream.writableLength = 2 ** 21
  output.write('b\n')
  output.write('c\n')
  stream.writableLength = 0
  output.write('d\n')
  output.write('e\n')
  expect(lines).toEqual(['a\n', '2 left out\n', 'd\n', 'e\n'])
})
