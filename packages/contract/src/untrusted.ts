/* Checks of values that come from elsewhere: a request, a file, the storage of a browser. */

/** Whether a value that a stranger sent is one of those that are allowed. */
export const isOneOf = <const V extends string | number>(allowed: readonly V[], value: unknown): value is V =>
  allowed.some(one => one === value)

/** What a stranger sent, field by field: any object but a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** The fields of such a value; none of any other value. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/** What is read, or another value where reading it throws. */
export const readOr = <T, O>(otherwise: O, read: () => T): T | O => {
  try {
    return read()
  } catch {
    return otherwise
  }
}
