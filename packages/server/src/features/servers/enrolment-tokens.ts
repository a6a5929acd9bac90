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
import {
  allTokens,
  countUse,
  deleteToken,
  enrolmentsOf,
  findToken,
  insertEnrolment,
  insertToken,
  lockToken,
  revokeToken,
  silentServerOf,
} from './enrolment-tokens.store.ts'
import type { EnrolmentTokenRow } from './enrolment-tokens.store.ts'
import { installCommand } from './install-command.ts'
import type { Registry } from './registry.ts'
import { findServerRow, insertServer } from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'
import type { ServerTags, Tagger } from './tags.ts'

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
   * @throws Problem 402 beyond the licence, 403 for a token that ended or is not for this address, 409 for one that is used up
   */
  take(change: Change, token: string, host: Newcomer): Promise<Enrolled | null>
  /** After the commit: what follows tags follows. */
  taken(row: ServerRow): Promise<void>
}

export const enrolmentPrefix = 'set_'
const mostShown = 1000

export const createEnrolmentTokens = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'all' | 'put'>
    baseUrl: () => string
    pin: string | null
    tags: Pick<ServerTags, 'edit' | 'take'>
    /** Refuses a server beyond the licence, within the change that would add it. */
    admit: (change: Pick<Change, 'sql'>) => Promise<void>
  },
): EnrolmentTokens => {
  const { db, clock, events, registry } = needs

  const stateOf = (row: EnrolmentTokenRow): contract.EnrolmentToken['state'] => {
    if (row.revoked_at !== null) return 'revoked'
    if (row.used >= row.servers) return 'used_up'
    return row.ends_at <= clock() ? 'ended' : 'open'
  }
  const view = (row: EnrolmentTokenRow): contract.EnrolmentToken => ({
    id: row.id,
    name: row.name,
    state: stateOf(row),
    servers: row.servers,
    used: row.used,
    ends_at: iso(row.ends_at),
    networks: row.networks === null ? null : [...parseJson(row.networks)],
    tags: [...parseJson(row.tags)],
    created_by: row.created_by,
    created_at: iso(row.created_at),
    revoked_at: isoOrNull(row.revoked_at),
  })
  const there = (row: EnrolmentTokenRow | undefined, id: number): EnrolmentTokenRow => {
    if (!row) throw notFound(`There is no enrolment token ${id}.`)
    return row
  }
  /** Refuses a token too many; of those that are over, the oldest go. */
  const makeRoom = async (change: Change) => {
    const rows = await allTokens(change.sql)
    const over = rows.filter(row => stateOf(row) !== 'open')
    admit(contract.createEnrolmentToken.leaves, { all: rows.length - over.length })
    const room = bounds.enrolmentTokens.count - 1
    for (const row of over.reverse().slice(0, Math.max(0, rows.length - room))) await deleteToken(change.sql, row.id)
  }

  /** @throws Problem 403, 409 */
  const refuse = (row: EnrolmentTokenRow, ip: string, isKnown: boolean) => {
    if (row.revoked_at !== null) throw forbidden(`The enrolment token ${row.name} was revoked. Ask for another one.`)
    if (row.ends_at <= clock()) throw forbidden(`The enrolment token ${row.name} ended at ${iso(row.ends_at)}.`)
    const from = parseIp(ip)
    const allowed = row.networks === null ? null : parseJson(row.networks).flatMap(text => parseRange(text) ?? [])
    if (allowed !== null && (!from || !allowed.some(range => covers(range, from))))
      throw forbidden(`The enrolment token ${row.name} is not for hosts at ${ip}.`)
    if (!isKnown && row.used >= row.servers)
      throw conflict(`The enrolment token ${row.name} has enrolled ${row.used} servers, as many as it may.`)
  }
  /** Machines of one image often have one name: each further one gets a part of its agent's id behind it. */
  const nameFor = ({ hostname, agentId }: Newcomer): string => {
    const name = tameLine(hostname, bounds.hostname * 4).toLowerCase()
    const isTaken = registry.all().some(({ row }) => row.hostname.toLowerCase() === name)
    return isTaken
      ? `${tameLine(hostname, bounds.hostname * 4).slice(0, bounds.hostname - 9)}-${agentId.slice(-8)}`
      : tameLine(hostname, bounds.hostname * 4)
  }
  /** Tags are given in the name of who made the token, an administrator of all servers: nobody else may make one. */
  const makerOf = ({ created_by }: EnrolmentTokenRow, ip: string): Tagger => ({
    name: created_by,
    userId: null,
    ip,
    permission: 'admin',
    servers: 'all',
  })
  const addServer = async (change: Change, row: EnrolmentTokenRow, host: Newcomer): Promise<ServerRow> => {
    await needs.admit(change)
    const now = clock()
    const made = await insertServer(change.sql, {
      id: uuid7(now),
      hostname: nameFor(host),
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
      server_no: made.no,
      server_id: made.id,
      hostname: made.hostname,
      machine: host.machine,
      ip: host.ip,
      enrolled_at: now,
    })
    const [tagged] = await needs.tags.edit(change, makerOf(row, host.ip), [made.no], () => parseJson(row.tags))
    return tagged ?? made
  }

  return {
    async list() {
      const rows = await allTokens(db.read)
      return { tokens: rows.map(view), total: rows.length }
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
          created_at: now,
          revoked_at: null,
        })
        const { state: _, revoked_at: __, ...data } = view(added)
        await change.record({ name: 'server.enrolment_token', author: authorOf(actor), data })
        return added
      })
      return { ...view(row), token, install_command: installCommand(needs.baseUrl(), token, needs.pin) }
    },
    async read(id) {
      const row = there(await findToken(db.read, id), id)
      const enrolled = await enrolmentsOf(db.read, id, mostShown)
      return {
        ...view(row),
        enrolled: enrolled.map(({ server_id, hostname, ip, enrolled_at }) => ({
          server_id,
          hostname,
          ip,
          enrolled_at: iso(enrolled_at),
        })),
      }
    },
    async revoke(actor, id) {
      return events.change(async change => {
        const before = there(await findToken(change.sql, id), id)
        if (before.revoked_at !== null) return view(before)
        const row = there(await revokeToken(change.sql, id, clock()), id)
        const data = { id: row.id, name: row.name, used: row.used, servers: row.servers }
        await change.record({ name: 'server.enrolment_token_revoke', author: authorOf(actor), data })
        return view(row)
      })
    },
    async take(change, token, host) {
      const row = await lockToken(change.sql, db.engine, sha256(token))
      if (!row) return null
      const known = host.machine === null ? undefined : await silentServerOf(change.sql, row.id, host.machine, host.ip)
      refuse(row, host.ip, known !== undefined)
      const before = known === undefined ? undefined : await findServerRow(change.sql, known)
      return { row: before ?? (await addServer(change, row, host)), token: row.name }
    },
    async taken(row) {
      registry.put(row)
      if (parseJson(row.tags).length > 0) await needs.tags.take([row])
    },
  }
}
