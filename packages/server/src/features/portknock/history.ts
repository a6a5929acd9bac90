import { common } from '@stockade/contract'
import type { QueryOf, ReplyOf, portknock as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { iso, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseIp } from '../../core/ip.ts'
import { timeRange } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { countByPlace, countKnocks, hostnamesOf, pageOfKnocks, sequenceNames, topAddresses } from './history.store.ts'
import type { KnockCount } from './history.store.ts'
import { allPlaces, findSequence } from './sequences.store.ts'

export interface History {
  list(actor: Principal, query: QueryOf<typeof contract.listKnocks>): Promise<ReplyOf<typeof contract.listKnocks>>
  /** Counts of the rows of a period that ends now; exact. */
  stats(actor: Principal, query: QueryOf<typeof contract.knockStats>): Promise<ReplyOf<typeof contract.knockStats>>
}

export const createHistory = (needs: {
  db: Database
  clock: Clock
  servers: Pick<ServersService, 'named'>
}): History => {
  const { db, clock, servers } = needs

  const sum = (counts: readonly KnockCount[], status?: KnockCount['status']) =>
    counts.reduce((total, row) => total + (status === undefined || row.status === status ? Number(row.n) : 0), 0)
  const groupBy = <Key>(counts: readonly KnockCount[], keyOf: (row: KnockCount) => Key) => {
    const groups = new Map<Key, KnockCount[]>()
    for (const row of counts) {
      const mine = groups.get(keyOf(row))
      if (mine) mine.push(row)
      else groups.set(keyOf(row), [row])
    }
    return groups
  }
  const byAttempts = <Row extends { readonly attempts: number }>(rows: readonly Row[], nameOf: (row: Row) => string) =>
    [...rows].sort((a, b) => b.attempts - a.attempts || nameOf(a).localeCompare(nameOf(b)))
  const rateOf = (counts: readonly KnockCount[]): number | null => {
    const all = sum(counts)
    return all === 0 ? null : Math.round((sum(counts, 'success') * 1000) / all) / 10
  }

  return {
    async list(actor, query) {
      const { page = 1, limit = 50, server_id, sequence_id, status } = query
      const { from, to } = timeRange(query.from, query.to)
      const ip = query.ip === undefined ? undefined : parseIp(query.ip)?.text
      if (sequence_id !== undefined && !(await findSequence(db.read, sequence_id)))
        throw invalid('sequence_id', `There is no sequence ${sequence_id}.`)
      const filter = {
        servers: server_id === undefined ? actor.servers : new Set([servers.named(actor, 'server_id', server_id).no]),
        ...(sequence_id === undefined ? {} : { sequenceId: sequence_id }),
        ...(ip === undefined ? {} : { ip }),
        ...(status === undefined ? {} : { status }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      }
      const rows = await pageOfKnocks(db.read, filter, (page - 1) * limit, limit)
      return {
        history: rows.map(({ id, server_id, hostname, at, ...row }) => ({
          id,
          server: { id: server_id, hostname },
          sequence_name: row.sequence_name,
          ip: row.ip,
          status: row.status,
          reason: row.reason,
          timestamp: iso(at),
        })),
        total: await countKnocks(db.read, filter),
        page,
        limit,
      }
    },
    async stats(actor, { period = 'day' }) {
      const filter = { servers: actor.servers, from: clock() - common.periods[period] * second }
      const counts = await countByPlace(db.read, filter)
      const visible =
        actor.servers === 'all'
          ? null
          : new Set(
              (await allPlaces(db.read)).flatMap(place =>
                actor.servers !== 'all' && actor.servers.has(place.server_no) ? [place.sequence_id] : [],
              ),
            )
      const names = await sequenceNames(db.read)
      const nameOf = new Map(names.map(({ id, name }) => [id, name]))
      const bySequence = groupBy(counts, row => nameOf.get(row.sequence_id) ?? '')
      // Sequences without attempts are included; deleted ones only when they had attempts.
      for (const { id, name, deleted_at } of names)
        if (deleted_at === null && (visible === null || visible.has(id)) && !bySequence.has(name))
          bySequence.set(name, [])
      const hostnames = await hostnamesOf(db.read, [...new Set(counts.map(({ server_no }) => server_no))])
      return {
        period,
        total_attempts: sum(counts),
        successful: sum(counts, 'success'),
        failed: sum(counts, 'failed'),
        blocked: sum(counts, 'blocked'),
        by_sequence: byAttempts(
          [...bySequence].map(([name, rows]) => ({ name, attempts: sum(rows), success_rate: rateOf(rows) })),
          ({ name }) => name,
        ),
        by_server: byAttempts(
          [...groupBy(counts, row => row.server_no)].map(([no, rows]) => ({
            hostname: hostnames.get(no) ?? '',
            attempts: sum(rows),
          })),
          ({ hostname }) => hostname,
        ),
        top_ips: (await topAddresses(db.read, filter, 10)).map(({ ip, attempts }) => ({
          ip,
          attempts: Number(attempts),
        })),
      }
    },
  }
}
