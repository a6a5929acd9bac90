import { keysOf } from '@stockade/contract/records.ts'
import type { AgentActor } from '../../core/actor.ts'
import { createGroup } from '../../core/group.ts'
import { unauthorized } from '../../core/problem.ts'
import type { Jail } from '../../db/tables/stored.ts'
import type { Change, EventInput, Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { areAlike } from '../servers/host-state.ts'
import type { HostState } from '../servers/host-state.ts'
import type { Registry } from '../servers/registry.ts'
import { updateServer } from '../servers/servers.store.ts'
import type { ServerRow } from '../servers/servers.store.ts'
import type { Said } from './heartbeat-columns.ts'

/*
 * What reports of hosts change in the storage. Most change nothing. After an outage or an upgrade all hosts have news at the same
 * moment, so what comes together is written in one transaction, in the order of the hosts' numbers: two processes that lock the same rows
 * never wait for each other in a circle.
 */

/** A heartbeat that says something other than the row. */
interface RowNews {
  readonly agent: AgentActor
  readonly row: ServerRow
  readonly said: Said
  readonly now: number
  /** It is the first one of an agent that replaces another. */
  readonly replaces: boolean
}
type UpdateJails = (jails: readonly Jail[]) => readonly Jail[]
interface JailNews {
  readonly serverNo: number
  readonly update: UpdateJails | undefined
}
interface Written<Result> {
  readonly result: Result
  readonly events: readonly EventInput[]
}

/** Hosts in one transaction, and hosts that may wait for theirs. */
const grouped = { batch: 200, waiting: 50_000 }

/** The event of a host's jails, without their names: a host that reports new ones all day must not fill the disk. */
export const jailsEvent = (serverNo: number, jails: readonly Jail[]): EventInput => ({
  name: 'server.jails',
  serverNo,
  data: { jails: jails.length },
})

export const createNews = (needs: {
  events: Events
  registry: Registry
  keys: Pick<KeysService, 'retireAgentKeys' | 'reload'>
}) => {
  const { events, registry, keys } = needs

  /** Writes items host by host in one transaction. Resolves to the results in the order of the items. */
  const writeTogether = <Item, Result>(
    items: readonly Item[],
    serverNoOf: (item: Item) => number,
    write: (change: Change, item: Item) => Promise<Written<Result>>,
  ): Promise<Result[]> =>
    events.change(async change => {
      const results: Result[] = []
      const recorded: EventInput[] = []
      const places = items.map((item, place) => ({ item, place }))
      for (const { item, place } of places.sort((a, b) => serverNoOf(a.item) - serverNoOf(b.item))) {
        const written = await write(change, item)
        results[place] = written.result
        recorded.push(...written.events)
      }
      await change.recordMany(recorded)
      return results
    })

  const writeRow = async (
    change: Change,
    { agent, row, said, now, replaces }: RowNews,
  ): Promise<Written<ServerRow | null>> => {
    const result = await updateServer(change.sql, row.no, {
      ...said,
      status: 'online',
      updated_at: now,
      // An upgraded agent proves itself again.
      ...(said.agent_version === row.agent_version ? {} : { self_test_asked_at: null }),
      ...(replaces ? { agent_replacing: 0, key_rotated_at: now } : {}),
    })
    if (!result) return { result: null, events: [] }
    // The new agent is at work: the keys of the ones before it have done their duty.
    if (replaces) await keys.retireAgentKeys(change, row.no, agent.keyId, now, true)
    // Also of a host that was online: its event lets the other processes read that the earlier keys have ended.
    const isEvent = row.status !== 'online' || replaces
    const data = { id: row.id, was: row.status }
    return { result, events: isEvent ? [{ name: 'server.online', serverNo: row.no, data }] : [] }
  }
  const rows = createGroup<RowNews, ServerRow | null>(async items => {
    const updated = await writeTogether(items, ({ row }) => row.no, writeRow)
    for (const row of updated) if (row) registry.put(row)
    if (items.some(({ replaces }) => replaces)) await keys.reload()
    return updated
  }, grouped)
  const jails = createGroup<JailNews, HostState>(async items => {
    const states = await writeTogether(
      items,
      ({ serverNo }) => serverNo,
      async (change, { serverNo, update }): Promise<Written<HostState>> => {
        const { after } = await registry.writeJails(change.sql, serverNo, update)
        return { result: after, events: [jailsEvent(serverNo, after.jails)] }
      },
    )
    items.forEach(({ serverNo }, index) => {
      const state = states[index]
      if (state) registry.take(serverNo, state)
    })
    return states
  }, grouped)
  return {
    /** Writes the row where a heartbeat says something new. @throws Problem 401 when the server was removed */
    async noteRow(agent: AgentActor, row: ServerRow, said: Said, now: number): Promise<void> {
      const isNew = keysOf(said).some(key => said[key] !== row[key])
      const replaces = row.agent_replacing === 1 && row.agent_key_id === agent.keyId
      if (row.status === 'online' && !isNew && !replaces) return
      const [updated] = await rows.add([{ agent, row, said, now, replaces }])
      if (!updated) throw unauthorized('The server of this key was removed.')
    },
    /** Writes a change of a host's jails at once, with its event. Numbers of bans alone wait for the next flush. */
    async saveJails(serverNo: number, before: readonly Jail[], update?: UpdateJails): Promise<void> {
      const knownJails = registry.byNo(serverNo)?.jails ?? []
      if (areAlike(before, update ? update(knownJails) : knownJails)) return
      await jails.add([{ serverNo, update }])
    },
  }
}
