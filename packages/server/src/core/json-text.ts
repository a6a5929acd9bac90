declare const contents: unique symbol
/** JSON of a `T` in a column of text. Only `jsonText` makes one, so a reader gets the type that was written. */
export type JsonText<T> = string & { readonly [contents]: T }

export const jsonText = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>
/** The cast holds because `jsonText` checked the type when the column was written. */
export const parseJson = <T>(text: JsonText<T>): T => JSON.parse(text) as T
export const parseJsonOrNull = <T>(text: JsonText<T> | null): T | null => (text === null ? null : parseJson(text))
