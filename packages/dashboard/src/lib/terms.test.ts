import { expect, it } from 'vitest'
import { withTerms } from './terms.ts'

it.each([
  [[], undefined, undefined],
  [[], '  ', undefined],
  [[], 7, undefined],
  [[undefined, 'status:failed'], undefined, 'status:failed'],
  [['status:failed'], ' web ', 'status:failed web'],
  // What was read of an address before.
  [['status:failed'], 'status:failed web', 'status:failed web'],
  [['status:fail'], 'status:failed', 'status:fail status:failed'],
])('%j and %j: %j', (terms, q, query) => expect(withTerms(terms, q)).toBe(query))
it('is no longer than a query may be', () => expect(withTerms([], 'x'.repeat(2000))).toHaveLength(1000))
