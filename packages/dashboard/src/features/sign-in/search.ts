import type { SignInTexts } from './sign-in.texts.ts'

export const providerErrors = [
  'disabled',
  'state',
  'denied',
  'provider_unavailable',
  'not_allowed',
  'email_unverified',
  'email_missing',
  'clock_differs',
  'account_exists',
] as const satisfies readonly (keyof SignInTexts['errors'])[]

/** What the URL says of a sign-in: where to go on, and why it is asked for again. */
export interface SignInSearch {
  readonly next?: string
  readonly ended?: '1'
  readonly error?: (typeof providerErrors)[number] | 'other'
  /** By how much the clock of the provider differs. */
  readonly seconds?: number
  readonly why?: 'tries' | 'time'
}

const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export const readNext = (raw: Record<string, unknown>): { next?: string } => {
  const next = word(raw.next)
  return next ? { next } : {}
}

export const readSignInSearch = (raw: Record<string, unknown>): SignInSearch => {
  const error = word(raw.error)
  const seconds = Number(raw.seconds)
  const why = (['tries', 'time'] as const).find(known => known === raw.why)
  return {
    ...readNext(raw),
    ...(raw.ended === '1' ? { ended: '1' as const } : {}),
    // A code that came later than this page still is an error.
    ...(error ? { error: providerErrors.find(known => known === error) ?? ('other' as const) } : {}),
    ...(why ? { why } : {}),
    ...(seconds > 0 ? { seconds } : {}),
  }
}
