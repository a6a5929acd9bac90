import { times } from '@stockade/contract/limits.ts'
import { second } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'

/** What lets an invited user choose a password, and what is stored of it. */
export const newInvite = (now: number) => {
  const code = randomText(32)
  return { code, columns: { invite_hash: sha256(code), invite_expires_at: now + times.invite * second } } as const
}
export type Invite = ReturnType<typeof newInvite>['columns']
/** An invitation that was accepted, or is void. */
export const noInvite = { invite_hash: null, invite_expires_at: null } as const
