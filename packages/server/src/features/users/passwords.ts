import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { brokenRule } from '../../core/password-rules.ts'
import { conflict, invalid, unauthorized } from '../../core/problem.ts'
import type { Throttle } from './throttle.ts'
import type { UserRow } from './users.store.ts'

/** argon2id with 19 MiB and two passes (RFC 9106, OWASP's minimum). Two at a time, off the event loop. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
const pool = pLimit(2)

export const hashPassword = (password: string): Promise<string> => pool(() => hash(password, options))

let nobody: Promise<string> | null = null
/** Takes about as long for a user that does not exist, so that the time tells nothing. */
export const checkPassword = async (stored: string | null, password: string): Promise<boolean> => {
  nobody ??= hashPassword(randomBytes(16).toString('hex'))
  const known = stored ?? (await nobody)
  return (await pool(() => verify(known, password))) && stored !== null
}

/** Somebody who is signed in types the password again. @throws Problem 401 when it is wrong, 409 when there is none. */
export const requirePasswordOf = async (
  user: UserRow,
  typed: string,
  ip: string,
  throttle: Pick<Throttle, 'login'>,
  wrong = 'Wrong password.',
): Promise<void> => {
  if (user.password_hash === null) throw conflict('You sign in through a provider and have no password here.')
  const attempt = await throttle.login(user.username, ip)
  if (!(await checkPassword(user.password_hash, typed))) throw unauthorized(wrong)
  await attempt.succeeded()
}

/** @throws Problem 400 that says which rule the password breaks. */
export const requirePolicy = (path: string, password: string, minimum: number): void => {
  const broken = brokenRule(password, minimum)
  if (broken !== null) throw invalid(path, `The password ${broken}.`)
}
