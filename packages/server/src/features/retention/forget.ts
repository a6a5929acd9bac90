import type { ReplyOf, servers as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import { timeOf } from '../../core/page.ts'
import { conflict } from '../../core/problem.ts'
import type { Database, Procedure } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { ForgetInput } from './forget-chunk.ts'
import { forgetFromPostgres } from './forget.postgres.ts'
import { firstReportSince } from './forget.store.ts'

/** Removes a chunk of a server's bans, and takes them out of every sum; answers how many. */
export const forgetBans: Procedure<ForgetInput, number> = {
  name: 'forgetBans',
  module: new URL('./forget.sqlite.ts', import.meta.url).href,
  postgres: forgetFromPostgres,
}
/** Bans that one transaction removes: more would keep writers waiting. */
const most = 200

/** Deletes what a server in quarantine has reported since. */
export type Forget = (
  actor: Principal,
  serverId: string,
  since: string,
) => Promise<ReplyOf<typeof contract.forgetReports>>

export const createForget =
  (needs: { db: Database; events: Events; servers: Pick<ServersService, 'get' | 'isQuarantined'> }): Forget =>
  async (actor, serverId, given) => {
    const { db, events, servers } = needs
    const since = timeOf('since', given)
    const { row } = servers.get(actor, serverId)
    if (!servers.isQuarantined(row.no))
      throw conflict(`Put ${row.hostname} in quarantine first: else it goes on reporting meanwhile.`)
    const from = await firstReportSince(db.scan, row.no, since)
    let forgotten = 0
    for (;;) {
      const gone = from === null ? 0 : await db.run(forgetBans, { serverNo: row.no, from, most })
      forgotten += gone
      if (gone < most) break
    }
    await events.change(change =>
      change.record({
        name: 'server.forget_reports',
        author: authorOf(actor),
        serverNo: row.no,
        data: { id: row.id, hostname: row.hostname, since: iso(since), forgotten },
      }),
    )
    return { message: `${forgotten} reports of ${row.hostname} are deleted.`, forgotten }
  }
