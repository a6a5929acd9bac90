import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../config.ts'
import type { EventInput, Events } from '../../events/events.ts'
import type { Registry, Server } from '../servers/registry.ts'
import { updateServer } from '../servers/servers.store.ts'
import type { ServerRow } from '../servers/servers.store.ts'

/** Hosts in one transaction: the outage of a network silences thousands at the same moment. */
const hostsAtOnce = 50

/** Whether a heartbeat came after this moment, milliseconds since 1970. A host that was never heard counts from when it was added. */
const isHeardSince = ({ row, lastHeartbeat }: Server, moment: number) => (lastHeartbeat ?? row.created_at) > moment
const isSilentSince = (server: Server, moment: number) =>
  server.row.status === 'online' && !isHeardSince(server, moment)

/** A status that is written, and of which servers. */
interface Declaration {
  readonly status: 'online' | 'offline'
  readonly applies: (server: Server) => boolean
  readonly eventOf: (server: Server) => EventInput
}

/** Declares silent servers offline. */
export const createSilenceWatch = (needs: {
  clock: Clock
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>
  events: Events
  registry: Pick<Registry, 'all' | 'byNo' | 'put'>
  isShared: boolean
}): (() => Promise<void>) => {
  const { clock, config, events, registry } = needs
  /** Writes the status of those that have the other one and to which it applies, with an event for each. Returns their rows. */
  const declare = async (
    nos: readonly number[],
    { status, applies, eventOf }: Declaration,
  ): Promise<readonly ServerRow[]> => {
    const before = status === 'online' ? 'offline' : 'online'
    const rows = await events.change(async change => {
      const updated: ServerRow[] = []
      const recorded: EventInput[] = []
      for (const no of nos) {
        // Looked at as late as can be: a host may be heard while the rows before it are written.
        const server = registry.byNo(no)
        if (!server || !applies(server)) continue
        const row = await updateServer(change.sql, no, { status, updated_at: clock() }, before)
        if (!row) continue
        updated.push(row)
        recorded.push(eventOf(server))
      }
      await change.recordMany(recorded)
      return updated
    })
    for (const row of rows) registry.put(row)
    return rows
  }
  const declareOffline = async (nos: readonly number[], silentSince: number) => {
    const rows = await declare(nos, {
      status: 'offline',
      applies: server => isSilentSince(server, silentSince),
      eventOf: ({ row: { no, id, hostname }, lastHeartbeat }) => ({
        name: 'server.offline',
        serverNo: no,
        data: { id, hostname, last_heartbeat: lastHeartbeat },
      }),
    })
    // A heartbeat that came before the commit saw a host that was online, so it wrote nothing.
    const isHeard = (server: Server) => isHeardSince(server, silentSince)
    const heardNos = rows
      .flatMap(({ no }) => registry.byNo(no) ?? [])
      .filter(isHeard)
      .map(({ row }) => row.no)
    if (heardNos.length > 0)
      await declare(heardNos, {
        status: 'online',
        applies: isHeard,
        eventOf: ({ row: { no, id } }) => ({ name: 'server.online', serverNo: no, data: { id, was: 'offline' } }),
      })
  }
  const startedAt = clock()
  return async () => {
    const now = clock()
    // Our own outage must not make everybody else's: hosts get two intervals to call again.
    if (now < startedAt + Math.max(2 * config.heartbeatInterval, config.offlineAfter) * second) return
    const silentSince = now - config.offlineAfter * second - (needs.isShared ? 5 * second : 0)
    const nos = registry.all().flatMap(server => (isSilentSince(server, silentSince) ? [server.row.no] : []))
    // Rows are locked in the order of their numbers, as heartbeats do.
    nos.sort((a, b) => a - b)
    for (let start = 0; start < nos.length; start += hostsAtOnce)
      await declareOffline(nos.slice(start, start + hostsAtOnce), silentSince)
  }
}
