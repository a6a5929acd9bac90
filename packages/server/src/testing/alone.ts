import { test } from 'vitest'
import { paired } from './index.ts'

/**
 * A test of what one process alone can promise: what hosts say of themselves reaches the others seconds later, budgets
 * are added up every half second, caches and the proxy's own ways are each process's.
 */
export const testAlone = test.skipIf(paired)
