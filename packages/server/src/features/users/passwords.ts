import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { brokenRule } from '../../core/password-rules.ts'
import { conflict, invalid, unauthorized } from '../../core/problem.ts'
import { inTurn } from './hashing.ts'
import type { Throttle } from './throttle.ts'
import type { UserRow } from './users.store.ts'

/** argon2id with 19 MiB and two passes (RFC 9106, OWASP's minimum). Off the event loop. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, options), true)

let nobody: Promise<string> | null = null
/** Takes about as long for a user that does not exist, so that the time tells nothing. */
export const checkPassword = async (stored: string | null, password: string, first = true): Promise<boolean> => {
  nobody ??= hashPassword(randomBytes(16).toString('hex'))
  const storedHash = stored ?? (await nobody)
  return (await inTurn(() => verify(storedHash, password), first)) && stored !== null
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
  // The network of a session that lives is no stranger's; what it failed itself counts all the same.
  const attempt = await throttle.login(user.username, ip, true)
  if (!(await checkPassword(user.password_hash, typed))) throw unauthorized(wrong)
  await attempt.succeeded()
}

/** @throws Problem 400 that says which rule the password breaks. */
export const requirePolicy = (path: string, password: string, minimum: number): void => {
  const broken = brokenRule(password, minimum)
  if (broken !== null) throw invalid(path, `The password ${broken}.`)
}
