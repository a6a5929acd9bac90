/** How the count of a period stands to that of the period before, as it is put in words. */
export type Change =
  | { readonly is: 'same' | 'none' }
  | { readonly is: 'more' | 'less'; readonly percent: number }
  | { readonly is: 'manifold'; readonly times: number }

export const changeOf = (count: number, before: number): Change => {
  if (count === before) return { is: 'same' }
  // After next to nothing, as in the first days of an installation, a factor of thousands says nothing.
  if (before === 0 || count > 100 * before) return { is: 'none' }
  // A percentage above that is read as a mistake.
  if (count >= 3 * before) return { is: 'manifold', times: Math.round(count / before) }
  // Few of many are still not none.
  const percent = Math.max(1, Math.round((Math.abs(count - before) / before) * 100))
  return {
    is: count > before ? 'more' : 'less',
    percent: Math.min(percent, count === 0 || count > before ? percent : 99),
  }
}
