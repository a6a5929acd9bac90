import type { Query } from '@tanstack/react-query'

/* Which requests brought what is on screen, so that a view can be copied as the requests that a script would send. */

const requestsByQuery = new WeakMap<Query, ReadonlySet<string>>()
let beginning: Query | null = null

/** Whatever is asked of the API before the current task ends is asked for this query. */
export const begins = (query: Query): void => {
  beginning = query
  requestsByQuery.delete(query)
  queueMicrotask(() => {
    if (beginning === query) beginning = null
  })
}

/** Sends a request, and notes for which query. */
export const noting: typeof fetch = (input, init) => {
  if (beginning && typeof input === 'string' && (init?.method ?? 'GET') === 'GET')
    requestsByQuery.set(beginning, new Set([...(requestsByQuery.get(beginning) ?? []), input]))
  return fetch(input, init)
}

/** What every page asks for, whatever it shows. */
const everywhere = new Set(['me', 'options', 'activity', 'preferences'])

/** The addresses that the queries which are on screen were read from. */
export const requestsOf = (queries: readonly Query[]): readonly string[] => {
  const activeQueries = queries.filter(query => query.isActive() && !everywhere.has(String(query.queryKey[0])))
  return [...new Set(activeQueries.flatMap(query => [...(requestsByQuery.get(query) ?? [])]))]
}

/** A line for a shell, with the key where it does not end up in the shell's history. */
export const curlOf = (url: string): string =>
  `curl -sS -H "Authorization: Bearer $STOCKADE_API_KEY" '${url.replaceAll("'", '%27')}'`
