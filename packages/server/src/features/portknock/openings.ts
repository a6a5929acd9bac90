import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, QueryOf, ReplyOf, portknock as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, minute, second } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import { parseIp } from '../../core/ip.ts'
import { conflict, forbidden, notFound } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { KnockHosts } from './hosts.ts'
import {
  blockedNow,
  closeOpening,
  countOpenings,
  findOpening,
  isOpenFor,
  openNow,
  putOpening,
  serversThatBlock,
  unblockOn,
} from './openings.store.ts'
import { nameKeyOf } from './sequences.ts'
import { findSequence, holdSequenceOn } from './sequences.store.ts'

export interface Openings {
  /** Opens for the caller's address, and waits up to 2 s for the host to say so. */
  knock(actor: Principal, input: BodyOf<typeof contract.knock>): Promise<ReplyOf<typeof contract.knock>>
  list(actor: Principal, query: QueryOf<typeof contract.listOpenings>): Promise<ReplyOf<typeof contract.listOpenings>>
  /** `cut`: also the connections that are open already. Answers what was closed, in words. */
  close(actor: Principal, id: string, cut: boolean): Promise<string>
  listBlocked(actor: Principal): Promise<ReplyOf<typeof contract.listBlocked>>
  /** On one server, or on all that the caller sees. Answers what was done, in words. */
  unblock(actor: Principal, ip: string, serverId: string | undefined): Promise<string>
}

const sentences = {
  confirmed: (port: string, ip: string) => `${port} is open for ${ip}.`,
  waiting: (port: string, ip: string) =>
    `${port} opens for ${ip} when the agent there hears of it; that is not confirmed yet.`,
  closed: (port: string, ip: string) => `${port} was closed for ${ip} by somebody else meanwhile.`,
}
const patience = 2 * second
/** How long a host cuts the connections of a closed opening. */
const cutFor = minute
/** How often it is looked for what other processes heard, or closed, while somebody waits. */
const glance = 100

export const createOpenings = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'byNo'>
    servers: Pick<ServersService, 'named'>
    hosts: Pick<KnockHosts, 'raise' | 'tell' | 'untilConfirmed'>
  },
): Openings => {
  const { db, clock, events, registry, servers, hosts } = needs

  const refOf = (serverNo: number) => {
    const server = registry.byNo(serverNo)
    return server ? { id: server.row.id, hostname: server.row.hostname } : null
  }
  /** What became of an opening: known as soon as the host confirms it or somebody closes it, else after some time. */
  const outcomeOf = async (openingId: string): Promise<keyof typeof sentences> => {
    const until = performance.now() + patience
    for (;;) {
      const left = until - performance.now()
      if (left > 0) await hosts.untilConfirmed(openingId, Math.min(glance, left))
      const row = await findOpening(db.read, openingId)
      if (!row || row.closed_at !== null) return 'closed'
      if (row.confirmed_at !== null) return 'confirmed'
      if (left <= 0) return 'waiting'
    }
  }

  return {
    async knock(actor, { server_id, sequence_name }) {
      const server = servers.named(actor, 'server_id', server_id)
      const { ip } = actor
      const { sequence, opening, raised } = await events.change(async change => {
        const sequence = await holdSequenceOn(change.sql, db.engine, server.no, nameKeyOf(sequence_name))
        if (!sequence) throw notFound(`There is no sequence "${sequence_name}" on ${server.hostname}.`)
        const now = clock()
        const place = { server_no: server.no, sequence_id: sequence.id, ip, now }
        const raised = await hosts.raise(change, [server.no])
        if (
          (await countOpenings(change.sql, server.no, now)) >= bounds.openingsPerHost &&
          !(await isOpenFor(change.sql, place))
        )
          throw conflict(`${server.hostname} has ${bounds.openingsPerHost} openings already. Close one first.`)
        const opening = await putOpening(
          change.sql,
          {
            ...place,
            id: uuid7(now),
            opened_at: now,
            expires_at: now + sequence.timeout * second,
            revision: raised[0]?.knock_revision ?? 0,
            confirmed_at: null,
          },
          true,
        )
        if (!opening) throw new Error('an opening that was insisted on was not made')
        await change.record({
          name: 'portknock.knock',
          author: authorOf(actor),
          serverNo: server.no,
          data: {
            id: opening.id,
            sequence_id: sequence.id,
            sequence_name: sequence.name,
            ip,
            protected_port: sequence.protected_port,
            expires_at: iso(opening.expires_at),
          },
        })
        return { sequence, opening, raised }
      })
      hosts.tell(raised)
      const outcome = await outcomeOf(opening.id)
      const { protected_port } = sequence
      return {
        message: sentences[outcome](`Port ${protected_port} of ${server.hostname}`, ip),
        ip,
        protected_port,
        expires_at: iso(opening.expires_at),
        confirmed: outcome === 'confirmed',
      }
    },
    async list(actor, { server_id }) {
      const scope = server_id === undefined ? actor.servers : new Set([servers.named(actor, 'server_id', server_id).no])
      const rows = await openNow(db.read, scope, clock())
      const openings = rows.flatMap(row => {
        const server = refOf(row.server_no)
        if (!server) return []
        return [
          {
            id: row.id,
            server,
            sequence_name: row.name,
            ip: row.ip,
            protected_port: row.protected_port,
            opened_at: iso(row.opened_at),
            expires_at: iso(row.expires_at),
            confirmed: row.confirmed_at !== null,
          },
        ]
      })
      return { openings, total: openings.length }
    },
    async close(actor, given, cut) {
      const id = given.toLowerCase()
      const gone = () => notFound(`There is no opening ${id}; it may be over already.`)
      const opening = await findOpening(db.read, id)
      if (!opening) throw gone()
      if (!sees(actor, opening.server_no)) throw forbidden('You have no access to the server of this opening.')
      const { said, raised } = await events.change(async change => {
        const now = clock()
        const raised = await hosts.raise(change, [opening.server_no])
        const row = await closeOpening(change.sql, id, now, cut ? now + cutFor : null)
        if (!row) throw gone()
        const sequence = await findSequence(change.sql, row.sequence_id)
        await change.record({
          name: 'portknock.close',
          author: authorOf(actor),
          serverNo: row.server_no,
          data: {
            id,
            sequence_id: row.sequence_id,
            sequence_name: sequence?.name,
            ip: row.ip,
            protected_port: sequence?.protected_port,
            cut,
          },
        })
        const hostname = refOf(row.server_no)?.hostname ?? 'the server'
        const rest = cut ? ', and its connections are cut' : ''
        return { said: `Port ${sequence?.protected_port ?? ''} of ${hostname} is closed for ${row.ip}${rest}.`, raised }
      })
      hosts.tell(raised)
      return said
    },
    async listBlocked(actor) {
      const rows = await blockedNow(db.read, actor.servers, clock())
      const blocked = rows.flatMap(row => {
        const server = refOf(row.server_no)
        if (!server) return []
        return [
          {
            ip: row.ip,
            server_id: server.id,
            sequence_name: row.name,
            failed_attempts: row.failed_attempts,
            blocked_at: iso(row.blocked_at),
            expires_at: iso(row.expires_at),
          },
        ]
      })
      return { blocked, total: blocked.length }
    },
    async unblock(actor, given, serverId) {
      const ip = parseIp(given)?.text ?? given
      const only = serverId === undefined ? null : servers.named(actor, 'server_id', serverId)
      const { nos, raised } = await events.change(async change => {
        const now = clock()
        const nos = await serversThatBlock(change.sql, ip, only ? new Set([only.no]) : actor.servers, now)
        if (nos.length === 0) throw notFound(`${ip} is not blocked${only ? ` on ${only.hostname}` : ''}.`)
        const raised = await hosts.raise(change, nos)
        // Somebody else may have been quicker.
        if ((await unblockOn(change.sql, ip, nos, now)) === 0) throw notFound(`${ip} is not blocked any more.`)
        const [first] = nos
        await change.record({
          name: 'portknock.unblock',
          author: authorOf(actor),
          ...(nos.length === 1 && first !== undefined ? { serverNo: first } : {}),
          data: { ip, servers: nos.length, hostnames: nos.slice(0, 20).map(no => refOf(no)?.hostname ?? null) },
        })
        return { nos, raised }
      })
      hosts.tell(raised)
      return `${ip} is unblocked on ${nos.length === 1 ? (refOf(nos[0] ?? 0)?.hostname ?? '1 server') : `${nos.length} servers`}.`
    },
  }
}
