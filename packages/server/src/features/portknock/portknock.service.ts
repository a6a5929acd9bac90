import type { Change, StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { Quotas } from '../bans/quotas.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { createHistory } from './history.ts'
import type { History } from './history.ts'
import { createKnockHosts } from './hosts.ts'
import type { KnockHosts } from './hosts.ts'
import { createOpenings } from './openings.ts'
import type { Openings } from './openings.ts'
import { createReports } from './reports.ts'
import type { Reports } from './reports.ts'
import { createSequences } from './sequences.ts'
import type { Sequences } from './sequences.ts'
import { removeServer } from './sequences.store.ts'
import { sweepKnocks } from './sweep.ts'

/** Ports that are open only for those who know how to knock. */
export interface Portknock {
  readonly sequences: Sequences
  readonly openings: Openings
  readonly history: History
  readonly reports: Reports
  readonly hosts: Pick<KnockHosts, 'revision' | 'stateFor' | 'acknowledge' | 'reload'>
  /** What ends with a server, in the transaction that removes it. */
  forget(change: Pick<Change, 'sql'>, serverNo: number): Promise<void>
  /** Removes what is older than it has to be kept, and what is over. */
  sweep(): Promise<void>
}

export const createPortknock = async (
  needs: StoreAccess & {
    registry: Pick<Registry, 'byNo'>
    servers: Pick<ServersService, 'named'>
    quotas: Pick<Quotas, 'take'>
    /** Lets the host's waiting poll be answered. */
    wake: (serverNo: number) => void
    /** How long history is kept. */
    keptDays: number
  },
): Promise<Portknock> => {
  const hosts = await createKnockHosts(needs)
  return {
    hosts,
    sequences: createSequences({ ...needs, hosts }),
    openings: createOpenings({ ...needs, hosts }),
    history: createHistory(needs),
    reports: createReports(needs),
    forget: (change, serverNo) => removeServer(change.sql, serverNo),
    sweep: () => sweepKnocks(needs),
  }
}
