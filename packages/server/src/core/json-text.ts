declare const contents: unique symbol
/** JSON of a `T` in a column of text. Only `jsonText` makes one, so a reader gets the type that was written. */
export type JsonText<T> = string & { readonly [contents]: T }

export const jsonText = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>
/** The cast holds because `jsonText` checked the type when the column was written. */
export const parseJson = <T>(text: JsonText<T>): T => JSON.parse(text) as T
export const parseJsonOrNull = <T>(text: JsonText<T> | null): T | null => (text === null ? null : parseJson(text))

const signs = { quote: 0x22, comma: 0x2c, escape: 0x5c, open: [0x5b, 0x7b], close: [0x5d, 0x7d] } as const
/**
 * Why a text is not worth parsing: it is nested deeper, or holds more values, than it may. Null where it is. `JSON.parse` takes seconds and a
 * gigabyte for what this refuses in milliseconds.
 */
export const jsonExcess = (text: string, most: { readonly depth: number; readonly values: number }) => {
  let [count, depth, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === signs.quote) quoted = !quoted
    else if (quoted) at += code === signs.escape ? 1 : 0
    else if (code === signs.comma) count++
    else if (code === signs.open[0] || code === signs.open[1]) [count, depth] = [count + 1, depth + 1]
    else if (code === signs.close[0] || code === signs.close[1]) depth--
    if (depth > most.depth) return 'deep'
    if (count > most.values) return 'many'
  }
  return null
}
