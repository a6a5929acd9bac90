/** The tags in what was typed, each once, in alphabetical order; they need not be good ones. */
export const readTags = (typed: string): readonly string[] =>
  [
    ...new Set(
      typed
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ].sort()

/** The first word that is no tag; null when all are. */
export const wrongTag = (typed: string): string | null =>
  readTags(typed).find(tag => !/^[a-z0-9][a-z0-9-]{0,31}$/.test(tag)) ?? null
