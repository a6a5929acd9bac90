/**
 * A query out of an address: what its `q` says, and before it the terms that other parts of the address stand for, each once.
 * The address is read again and again, also with what was read of it before. Undefined where nothing is asked for.
 */
export const withTerms = (terms: readonly (string | undefined)[], q: unknown): string | undefined => {
  const typed = typeof q === 'string' ? q.trim() : ''
  const missing = terms.filter(term => term && !` ${typed} `.includes(` ${term} `))
  const whole = [...missing, typed].filter(Boolean).join(' ').slice(0, 1000)
  return whole === '' ? undefined : whole
}
