import { enrolmentTokens as contract } from '@stockade/contract'
import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull, second } from '../../core/clock.ts'
import { randomText, sha256, uuid7 } from '../../core/ids.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { tameLine } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { UsersService } from '../users/users.service.ts'
import {
  allTokens,
  countUse,
  deleteToken,
  enrolmentsOf,
  findToken,
  insertEnrolment,
  insertToken,
  isNameTaken,
  lockToken,
  noteRefused,
  revokeToken,
  silentServerOf,
} from './enrolment-tokens.store.ts'
import type { EnrolmentTokenRow } from './enrolment-tokens.store.ts'
import { installCommand } from './install-command.ts'
import type { Registry } from './registry.ts'
import { findServerRow, insertServer } from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'
import type { ServerTags, Tagger } from './tags.ts'
import { createMakers, makerOf } from './token-makers.ts'

type State = contract.EnrolmentToken['state']
type NewToken = ReplyOf<typeof contract.createEnrolmentToken>

/** A host that asks to be enrolled. */
export interface Newcomer {
  readonly hostname: string
  readonly agentId: string
  /** Digest of the token and the host's machine id; null where the host has none. */
  readonly machine: string | null
  readonly ip: string
}
/** The server that a token gave a host, within the change. */
export interface Enrolled {
  readonly row: ServerRow
  readonly token: string
}
export interface EnrolmentTokens {
  list(): Promise<ReplyOf<typeof contract.listEnrolmentTokens>>
  /** @throws Problem 400 for a network, 409 where too many are open */
  create(actor: Principal, input: BodyOf<typeof contract.createEnrolmentToken>): Promise<NewToken>
  read(id: number): Promise<ReplyOf<typeof contract.readEnrolmentToken>>
  revoke(actor: Principal, id: number): Promise<contract.EnrolmentToken>
  /**
   * Within a change: gives the host a server of its own. Null for a token that is none.
   * @throws Problem 402 beyond the licence, 403 for a token that ended, is not for this address, or whose maker may not add servers now,
   * 409 for one that is used up
   */
  take(change: Change, token: string, host: Newcomer): Promise<Enrolled | null>
  /** Within a change of its own: counts a host that was refused, and says so where it needs a look. */
  noteRefusal(change: Change, token: string, ip: string): Promise<void>
  /** After the commit: what follows tags follows. */
  taken(row: ServerRow): Promise<void>
}

export const enrolmentPrefix = 'set_'
const mostShown = 1000
/** The first refusal and each tenfold count after it, so that endless attempts cause a few messages only. */
const isWorthTelling = (times: number): boolean => /^10*$/.test(String(times))

export const createEnrolmentTokens = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'hasName' | 'put'>
    users: Pick<UsersService, 'isVouchedFor' | 'lacksFactor'>
    baseUrl: () => string
    pin: string | null
    tags: Pick<ServerTags, 'edit' | 'take'>
    /** Refuses a server beyond the licence, within the change that would add it. */
    admit: (change: Pick<Change, 'sql'>) => Promise<void>
  },
): EnrolmentTokens => {
  const { db, clock, events, registry } = needs

  const isMakerEntitled = createMakers(needs)

  /** Apart from what its maker may do. */
  const phaseOf = (row: EnrolmentTokenRow): Exclude<State, 'suspended'> => {
    if (row.revoked_at !== null) return 'revoked'
    if (row.used >= row.servers) return 'used_up'
    return row.ends_at <= clock() ? 'ended' : 'open'
  }
  const stateOf = async (row: EnrolmentTokenRow): Promise<State> => {
    const phase = phaseOf(row)
    return phase === 'open' && !(await isMakerEntitled(db.read, row.creator)) ? 'suspended' : phase
  }
  const view = async (row: EnrolmentTokenRow): Promise<contract.EnrolmentToken> => ({
    id: row.id,
    name: row.name,
    state: await stateOf(row),
    servers: row.servers,
    used: row.used,
    ends_at: iso(row.ends_at),
    networks: row.networks === null ? null : [...parseJson(row.networks)],
    tags: [...parseJson(row.tags)],
    created_by: row.created_by,
    created_at: iso(row.created_at),
    revoked_at: isoOrNull(row.revoked_at),
    refused: row.refused,
    refused_at: isoOrNull(row.refused_at),
    refused_from: row.refused_from,
  })
  const there = (row: EnrolmentTokenRow | undefined, id: number): EnrolmentTokenRow => {
    if (!row) throw notFound(`There is no enrolment token ${id}.`)
    return row
  }
  /** Refuses a token too many; of those that are over, the oldest go. */
  const makeRoom = async (change: Change) => {
    const rows = await allTokens(change.sql)
    const over = rows.filter(row => phaseOf(row) !== 'open')
    admit(contract.createEnrolmentToken.leaves, { all: rows.length - over.length })
    const room = bounds.enrolmentTokens.count - 1
    for (const row of over.reverse().slice(0, Math.max(0, rows.length - room))) await deleteToken(change.sql, row.id)
  }

  const isFor = ({ networks }: EnrolmentTokenRow, ip: string): boolean => {
    if (networks === null) return true
    const from = parseIp(ip)
    const ranges = parseJson(networks).flatMap(text => parseRange(text) ?? [])
    return from !== null && ranges.some(range => covers(range, from))
  }
  /** @throws Problem 403, 409 */
  const refuse = async ({ sql }: Change, row: EnrolmentTokenRow, ip: string, isKnown: boolean) => {
    if (row.revoked_at !== null) throw forbidden(`The enrolment token ${row.name} was revoked. Ask for another one.`)
    if (row.ends_at <= clock()) throw forbidden(`The enrolment token ${row.name} ended at ${iso(row.ends_at)}.`)
    if (!isFor(row, ip)) throw forbidden(`The enrolment token ${row.name} is not for hosts at ${ip}.`)
    if (!(await isMakerEntitled(sql, row.creator)))
      throw forbidden(
        `The enrolment token ${row.name} is suspended, because ${row.created_by} may not add servers any more. Ask for another one.`,
      )
    if (!isKnown && row.used >= row.servers)
      throw conflict(`The enrolment token ${row.name} has enrolled ${row.used} servers, as many as it may.`)
  }
  /** Machines of one image often have one name: each further one gets a part of its agent's id behind it. */
  const nameFor = async ({ sql }: Change, { hostname, agentId }: Newcomer): Promise<string> => {
    const plain = tameLine(hostname, bounds.hostname * 4)
    const isTaken = async (name: string) =>
      registry.hasName(name) ||
      // Another host may have got it a moment ago, from another process too.
      (await isNameTaken(sql, name))
    let name = plain
    // Copies of one machine may share the id as well.
    for (let end = agentId.slice(-8); await isTaken(name); end = randomText(8).toLowerCase())
      name = `${plain.slice(0, bounds.hostname - 9)}-${end}`
    return name
  }
  /** Tags are given in the name of who made the token: an administrator of all servers, then and now. */
  const taggerOf = ({ created_by }: EnrolmentTokenRow, ip: string): Tagger => ({
    name: created_by,
    userId: null,
    ip,
    permission: 'admin',
    servers: 'all',
  })
  const warn = (change: Change, row: EnrolmentTokenRow, reason: 'used_up' | 'refused' | 'network', ip: string) => {
    const { id, name, servers, refused } = row
    return change.record({ name: 'server.enrolment_token_warn', data: { id, name, reason, servers, refused, ip } })
  }
  const addServer = async (change: Change, row: EnrolmentTokenRow, host: Newcomer): Promise<ServerRow> => {
    await needs.admit(change)
    const now = clock()
    const newServer = await insertServer(change.sql, {
      id: uuid7(now),
      hostname: await nameFor(change, host),
      ip_address: null,
      description: '',
      status: 'pending',
      install_token_used_at: now,
      install_token_used_from: host.ip,
      created_at: now,
      updated_at: now,
    })
    await countUse(change.sql, row)
    await insertEnrolment(change.sql, {
      token_id: row.id,
      server_no: newServer.no,
      server_id: newServer.id,
      hostname: newServer.hostname,
      machine: host.machine,
      ip: host.ip,
      enrolled_at: now,
    })
    if (row.used + 1 === row.servers) await warn(change, row, 'used_up', host.ip)
    const [tagged] = await needs.tags.edit(change, taggerOf(row, host.ip), [newServer.no], () => parseJson(row.tags))
    return tagged ?? newServer
  }

  return {
    async list() {
      const rows = await allTokens(db.read)
      return { tokens: await Promise.all(rows.map(view)), total: rows.length }
    },
    async create(actor, { name, servers, seconds, networks, tags = [] }) {
      const ranges = networks?.map((text, index) => {
        const range = parseRange(text)
        if (!range) throw invalid(`networks.${index}`, `networks.${index} must be an address or a CIDR.`)
        return range.text
      })
      const token = `${enrolmentPrefix}${randomText(40)}`
      const row = await events.change(async change => {
        await makeRoom(change)
        const now = clock()
        const added = await insertToken(change.sql, {
          name: tameLine(name, bounds.name * 4),
          token_hash: sha256(token),
          servers,
          used: 0,
          ends_at: now + seconds * second,
          networks: ranges === undefined ? null : jsonText(ranges),
          tags: jsonText([...new Set(tags)].sort()),
          created_by: actor.name,
          creator: makerOf(actor),
          created_at: now,
          revoked_at: null,
        })
        await change.record({
          name: 'server.enrolment_token',
          author: authorOf(actor),
          data: {
            id: added.id,
            name: added.name,
            servers,
            ends_at: iso(added.ends_at),
            networks: ranges ?? null,
            tags: [...parseJson(added.tags)],
          },
        })
        return added
      })
      return { ...(await view(row)), token, install_command: installCommand(needs.baseUrl(), token, needs.pin) }
    },
    async read(id) {
      const row = there(await findToken(db.read, id), id)
      const enrolled = await enrolmentsOf(db.read, id, mostShown)
      return {
        ...(await view(row)),
        enrolled: enrolled.map(({ server_id, hostname, ip, enrolled_at }) => ({
          server_id,
          hostname,
          ip,
          enrolled_at: iso(enrolled_at),
        })),
      }
    },
    async revoke(actor, id) {
      const revoked = await events.change(async change => {
        const before = there(await findToken(change.sql, id), id)
        if (before.revoked_at !== null) return before
        const row = there(await revokeToken(change.sql, id, clock()), id)
        const data = { id: row.id, name: row.name, used: row.used, servers: row.servers }
        await change.record({ name: 'server.enrolment_token_revoke', author: authorOf(actor), data })
        return row
      })
      return view(revoked)
    },
    async take(change, token, host) {
      const row = await lockToken(change.sql, db.engine, sha256(token))
      if (!row) return null
      const silentServer =
        host.machine === null ? undefined : await silentServerOf(change.sql, row.id, host.machine, host.ip)
      await refuse(change, row, host.ip, silentServer !== undefined)
      const before = silentServer === undefined ? undefined : await findServerRow(change.sql, silentServer)
      return { row: before ?? (await addServer(change, row, host)), token: row.name }
    },
    async noteRefusal(change, token, ip) {
      const row = await lockToken(change.sql, db.engine, sha256(token))
      if (!row) return
      const isStray = !isFor(row, ip)
      const noted = {
        ...{ refused: row.refused + 1, strayed: row.strayed + (isStray ? 1 : 0) },
        ...{ refused_at: clock(), refused_from: ip },
      }
      await noteRefused(change.sql, row.id, noted)
      const now = { ...row, ...noted }
      if (isStray && isWorthTelling(now.strayed)) await warn(change, now, 'network', ip)
      else if (!isStray && now.refused > 1 && isWorthTelling(now.refused)) await warn(change, now, 'refused', ip)
    },
    async taken(row) {
      registry.put(row)
      if (parseJson(row.tags).length > 0) await needs.tags.take([row])
    },
  }
}
