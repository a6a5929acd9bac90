import { backoff } from '../../core/backoff.ts'
import { hour, minute, second } from '../../core/clock.ts'

/**
 * The remote party did not accept a message. `content`: it will never accept this one; `refused`: it wants none of the recipients;
 * `failure`: it may accept it later. The message is fit for operators. `retryAfter` is in milliseconds, if the party named a time.
 */
export class DeliveryFailure extends Error {
  readonly kind: 'content' | 'refused' | 'failure'
  readonly retryAfter: number | null
  constructor(kind: DeliveryFailure['kind'], message: string, retryAfter: number | null = null) {
    super(message)
    this.kind = kind
    this.retryAfter = retryAfter
  }
}

/** When a failed delivery is tried again. */
export const retryDelay = backoff({ first: 5 * second, most: 15 * minute })

/** Milliseconds that a `Retry-After` header asks for, an hour at most; null where it says nothing. */
export const retryAfterOf = (value: string | string[] | undefined, now: number): number | null => {
  const text = String(value ?? '')
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, hour) : null
}
