import { second } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { inSlices } from '../../core/slices.ts'
import { activePages, placeOf } from './bans.store.ts'
import type { EndedBan } from './bans.store.ts'

/** A look serves those who ask within so long. */
const keptFor = 5 * second
/** After a start all hosts compare within half a minute: where more ask within `keptFor`, they share a look at all bans. */
const fewHosts = 4

export interface ActiveRow extends EndedBan {
  readonly banned_at: number
  /** Names its jail and its address. */
  readonly place: string
}
type ByServer = ReadonlyMap<number, readonly ActiveRow[]>
interface Look {
  readonly at: number
  readonly rows: Promise<ByServer>
}

/** Answers the active bans of a host, at most `keptFor` old. A ban that ended since is not ended again, and one that is newer is in no host's interest. */
export const createActiveLooks = (
  db: Pick<Database, 'scan'>,
): ((serverNo: number) => Promise<readonly ActiveRow[]>) => {
  const looks = new Map<number | 'all', Look>()
  const read = async (serverNo: number | 'all'): Promise<ByServer> => {
    const rowsByServer = new Map<number, ActiveRow[]>()
    for await (const page of activePages(db.scan, serverNo))
      await inSlices(page, ({ jail_id, ip, prefix, ...row }) => {
        const active = { ...row, place: placeOf(jail_id, ip, prefix) }
        const list = rowsByServer.get(row.server_no)
        if (list) list.push(active)
        else rowsByServer.set(row.server_no, [active])
      })
    return rowsByServer
  }
  const start = (of: number | 'all'): Look => {
    const look = { at: performance.now(), rows: read(of) }
    looks.set(of, look)
    const forget = () => {
      if (looks.get(of) === look) looks.delete(of)
    }
    look.rows.catch(forget)
    setTimeout(forget, keptFor).unref()
    return look
  }
  return async serverNo => {
    const knownLook = looks.get('all') ?? looks.get(serverNo)
    const look = knownLook ?? start(looks.size < fewHosts ? serverNo : 'all')
    return (await look.rows).get(serverNo) ?? []
  }
}
