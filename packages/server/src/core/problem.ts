import type { ProblemBody, ProblemReason } from '@stockade/contract'
import { reasonOfStatus } from '@stockade/contract/problem-reasons.ts'

/**
 * A refusal for the caller: status, reason and a sentence that says what was wrong and what to do. Anything else that is
 * thrown is a defect and answered as 500.
 */
export class Problem extends Error {
  readonly status: number
  readonly error: string
  /** What clients decide by. */
  readonly reason: ProblemReason
  readonly details: ProblemBody['details']
  readonly headers: Record<string, string>
  /** Fields of the body that only one endpoint has. */
  readonly extra: Readonly<Record<string, unknown>>
  constructor(
    status: number,
    error: string,
    message: string,
    more: {
      reason?: ProblemReason
      details?: ProblemBody['details']
      headers?: Record<string, string>
      extra?: Readonly<Record<string, unknown>>
    } = {},
  ) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.error = error
    this.reason = more.reason ?? reasonOfStatus(status)
    this.details = more.details
    this.headers = more.headers ?? {}
    this.extra = more.extra ?? {}
  }
  /** The same with the paths of its details below a field of the request. */
  under(field: string): Problem {
    if (!this.details) return this
    const details = this.details.map(({ path, message }) => ({ path: `${field}.${path}`, message }))
    return new Problem(this.status, this.error, this.message, { ...this, details })
  }
  get body(): ProblemBody {
    return {
      error: this.error,
      message: this.message,
      reason: this.reason,
      ...(this.details ? { details: this.details } : {}),
      ...this.extra,
    }
  }
}

/** 400 that names the field. */
export const invalid = (path: string, message: string) =>
  new Problem(400, 'Bad Request', message, { details: [{ path, message }] })
export const badRequest = (message: string) => new Problem(400, 'Bad Request', message)
export const unauthorized = (message: string) =>
  new Problem(401, 'Unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
export const paymentRequired = (message: string) => new Problem(402, 'Payment Required', message)
export const forbidden = (message: string) => new Problem(403, 'Forbidden', message)
export const notFound = (message: string) => new Problem(404, 'Not Found', message)
export const conflict = (message: string, reason: ProblemReason = 'conflict') =>
  new Problem(409, 'Conflict', message, { reason })
/** 409 for a ban that is done with `force` only: `objection` is a sentence about the field at `path`. */
export const forceRequired = (path: string, objection: string) =>
  new Problem(409, 'Conflict', `${objection} Send "force": true to ban it all the same.`, {
    reason: 'force-required',
    details: [{ path, message: objection }],
  })
/** 429; `seconds` until it is worth another try. */
export const tooManyRequests = (seconds: number, message?: string) =>
  new Problem(429, 'Too Many Requests', message ?? `Too many requests. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
export const unavailable = (message: string, seconds = 2) =>
  new Problem(503, 'Service Unavailable', message, { headers: { 'retry-after': String(seconds) } })
