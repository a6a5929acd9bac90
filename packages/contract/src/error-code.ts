/** The code of an error of the system or of a library, such as ENOENT; null where it has none. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

/** What was thrown, in words. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What was thrown, as an error. */
export const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
