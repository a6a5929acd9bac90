import { setTimeout as pause } from 'node:timers/promises'

/** Serialization failure and deadlock: the same transaction may pass when tried again. */
const passing = new Set<unknown>(['40001', '40P01'])
const mostTries = 5

/**
 * Runs a transaction, and again where PostgreSQL ended it in favour of another one: five times at most, with waits at
 * random, so that two do not meet again. Whatever else is thrown goes on at once. On SQLite writes take turns, and it runs once.
 */
export const untilItPasses = async <T>(transaction: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++)
    try {
      return await transaction()
    } catch (error) {
      const passes = error instanceof Error && 'code' in error && passing.has(error.code)
      if (!passes || tries >= mostTries) throw error
      await pause(Math.random() * 20 * tries)
    }
}
