import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import type { Change, Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'

/** Keys of the account stay valid only when the administrator says so. */
export interface KeepKeys {
  readonly keep_keys?: boolean
}

export type Revoking = ReturnType<typeof createRevoking>

/** A change of an account after which its keys are gone, unless they are to be kept. */
export const createRevoking =
  ({ events, keys }: { events: Events; keys: Pick<KeysService, 'reload' | 'revokeOf'> }) =>
  async <T extends object>(
    actor: Principal,
    id: number,
    { keep_keys: keep = false }: KeepKeys,
    work: (change: Change) => Promise<T>,
  ): Promise<T & { revoked_keys: number }> => {
    const done = await events.change(async change => ({
      ...(await work(change)),
      revoked_keys: keep ? 0 : await keys.revokeOf(change, authorOf(actor), id),
    }))
    if (done.revoked_keys > 0) await keys.reload()
    return done
  }
