import { describe, expect, it } from 'vitest'
import { formatOf, preview } from './preview.ts'

describe('the preview of an import', () => {
  it('guesses the format', () => {
    expect(formatOf('192.0.2.1 # x')).toBe('plain')
    expect(formatOf('ip,description\n192.0.2.1,x')).toBe('csv')
    expect(formatOf(' {"whitelist":[]}')).toBe('json')
    expect(formatOf('[]')).toBe('json')
  })
  it('reads quoted cells and counts lines as the file does', () => {
    expect(preview('ip,description\n192.0.2.1,"a, ""b"""\nnonsense,x\n', 'csv')).toEqual({
      entries: [{ ip: '192.0.2.1', description: 'a, "b"' }],
      wrong: [{ line: 3, text: 'nonsense' }],
    })
  })
  it('reads what the export gives, and the bare array', () => {
    const list = [{ ip: '192.0.2.1', description: 'x' }, { ip: 7 }]
    const found = { entries: [{ ip: '192.0.2.1', description: 'x' }], wrong: [{ line: 2, text: '?' }] }
    expect(preview(JSON.stringify({ whitelist: list }), 'json')).toEqual(found)
    expect(preview(JSON.stringify(list), 'json')).toEqual(found)
    expect(preview('{"other":1}', 'json')).toBeNull()
    expect(preview('{', 'json')).toBeNull()
  })
})
