import type { createHostBans } from '../bans/host-bans.ts'
import type { Identity } from '../config.ts'
import type { createOwnJail } from '../engine/own-jail.ts'
import type { Log } from '../log.ts'
import type { Options } from '../options.ts'
import type { Entry } from '../outbox.ts'
import type { openDisk } from './disk.ts'
import type { findFail2ban } from './fail2ban.ts'
import type { Loops } from '../loops/loops.ts'
import type { createServerSide } from './server-side.ts'

/** What is built first: everything else stands on it. */
export interface Assembled {
  readonly identity: Identity
  readonly options: Options
  readonly server: ReturnType<typeof createServerSide>
  readonly disk: ReturnType<typeof openDisk>
  readonly fail2ban: Awaited<ReturnType<typeof findFail2ban>>
  readonly bans: ReturnType<typeof createHostBans>
  readonly ownJailKeeper: ReturnType<typeof createOwnJail>
  /** Reports to the server. */
  readonly append: (entries: readonly Entry[]) => void
  /** They are built last. */
  readonly loops: () => Loops
  readonly now: () => number
  readonly log: Log
}
