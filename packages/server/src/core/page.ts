import { badRequest, invalid } from './problem.ts'

/** Epoch milliseconds of an ISO 8601 text. @throws Problem 400 that names the field. */
export const timeOf = (path: string, text: string): number => {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw invalid(path, `${path} is not a time that exists.`)
  return at
}

/** `from` inclusive, `to` exclusive. */
export const timeRange = (from: string | undefined, to: string | undefined): { from?: number; to?: number } => {
  const start = from === undefined ? undefined : timeOf('from', from)
  const end = to === undefined ? undefined : timeOf('to', to)
  if (start !== undefined && end !== undefined && start > end) throw badRequest('from is later than to.')
  return { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end }) }
}
