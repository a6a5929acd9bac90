import { minute } from '../../core/clock.ts'

/**
 * The other side did not take a message. `content`: it never will take this one; `refused`: no recipient is wanted;
 * `failure`: it may later. The message is fit for operators. `retryAfter` in milliseconds where it said so.
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

/** What somebody else said, fit to be shown: one short line in which no secret stands. */
export const saidBy = (text: string, secrets: readonly (string | null)[]): string => {
  let said = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\s]+/gu, ' ').trim()
  for (const secret of secrets) if (secret) said = said.replaceAll(secret, '***')
  return said.slice(0, 300)
}

/** When to try again after the n-th failure in a row: 5 s, doubling, a quarter of an hour at most. */
export const backOff = (failures: number): number => Math.min(5000 * 2 ** Math.min(failures, 12), 15 * minute)
