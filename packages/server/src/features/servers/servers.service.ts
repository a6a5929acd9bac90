import { bounds, matchesValue, queryHolds, rangeOfQuery, times } from '@stockade/contract'
import type {
  BodyOf,
  MarkState,
  QueryOf,
  QueryTerm,
  QueryValue,
  ReplyOf,
  servers as contract,
} from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { authorOf } from '../../core/author.ts'
import { atLeast, sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { day, hour, hourOf, iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText, sha256, uuid7 } from '../../core/ids.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import { parseJsonOrNull } from '../../core/json-text.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { tame, tameLine } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import type { Change, Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { installCommand } from './install-command.ts'
import { levelOf, problemOf, protectionHead, protectionView, sinceOf } from './protection.ts'
import type { Registry, Server } from './registry.ts'
import {
  bansByHour,
  bansByJail,
  bansSince,
  cloneOf,
  insertServer,
  moveQuarantine,
  selfTestOf,
  totalsOf,
  updateServer,
  whitelistMarksOf,
} from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'
import { removeTagsOf, tagsOf } from './tags.store.ts'
import type { ServerTags } from './tags.ts'

type RemovalHook = (change: Change, serverNo: number) => Promise<void>

export interface ServersService {
  list(actor: Principal, query: QueryOf<typeof contract.listServers>): Promise<ReplyOf<typeof contract.listServers>>
  summary(actor: Principal): ReplyOf<typeof contract.summariseServers>
  read(actor: Principal, id: string): Promise<ReplyOf<typeof contract.getServer>>
  create(actor: Principal, input: BodyOf<typeof contract.createServer>): Promise<ReplyOf<typeof contract.createServer>>
  update(
    actor: Principal,
    id: string,
    input: BodyOf<typeof contract.updateServer>,
  ): Promise<ReplyOf<typeof contract.updateServer>>
  remove(actor: Principal, id: string): Promise<void>
  regenerateToken(actor: Principal, id: string): Promise<{ install_command: string }>
  quarantine(actor: Principal, id: string, reason: string): Promise<ReplyOf<typeof contract.quarantineServer>>
  release(actor: Principal, id: string): Promise<void>
  /** @throws Problem with that status where the server is in quarantine */
  refuseQuarantined(serverNo: number, status: 403 | 409): void
  isQuarantined(serverNo: number): boolean
  /** Undefined for a server that was removed. */
  hostnameOf(serverNo: number): string | undefined
  /** Whether it gets no commands now: it is in quarantine, or two hosts report for it. */
  isWithheld(serverNo: number): boolean
  settleClone(actor: Principal, id: string): Promise<void>
  jails(actor: Principal, id: string): Promise<ReplyOf<typeof contract.listJails>>
  /** What each visible server says of its jail of that name, if it has one. */
  jailsOfName(actor: Principal, name: string): ReplyOf<typeof contract.listJailsOfName>
  /** The server in a path: 404 when there is none, 403 outside the caller's access. */
  get(actor: Principal, id: string): Server
  /** The server named in a body or query: 400 that names the field, 403 outside the caller's access. */
  named(actor: Principal, field: string, id: string): { no: number; id: string; hostname: string }
  /** Somebody downloaded the installer. */
  scriptFetched(): void
  /** Notes the time of a server's first ban. */
  noteFirstBan(serverNo: number, at: number): Promise<void>
  /** Runs `hook` in the transaction of each removal of a server. */
  onRemoval(hook: RemovalHook): void
}

/** Whether a server is one that a term of a search asks for. */
const isFoundBy = ({ field, values }: QueryTerm, server: Server): boolean => {
  const { row, jails } = server
  const address = row.ip_address === null ? null : parseIp(row.ip_address)
  const isAt = ({ text }: QueryValue) => {
    const range = parseRange(rangeOfQuery(text) ?? '')
    return range !== null && address !== null && covers(range, address)
  }
  return values.some(value => {
    const whole = (text: string | null) => text !== null && matchesValue(value, text, true)
    const part = (text: string | null) => text !== null && matchesValue(value, text, false)
    switch (field) {
      case 'name':
        return whole(row.hostname)
      case 'ip':
        return isAt(value)
      case 'status':
        return row.status === value.text.toLowerCase()
      case 'protection':
        return levelOf(server) === value.text.toLowerCase()
      case 'description':
        return part(row.description)
      case 'os':
        return part(row.os)
      case 'engine':
        return whole(row.engine_version)
      case 'agent':
        return whole(row.agent_version)
      case 'jail':
        return jails.some(({ name }) => whole(name))
      case 'tag':
        return tagsOf(row).some(whole)
      default:
        return [row.hostname, row.ip_address, row.description].some(part) || isAt(value)
    }
  })
}

/** Bans of 24 UTC hours, oldest first. */
const dayOfHours = (hours: ReadonlyMap<number, number> | undefined, from: number): number[] =>
  Array.from({ length: 24 }, (_, index) => hours?.get(from + index * hour) ?? 0)

const quarantineOf = (row: ServerRow | undefined) =>
  row?.quarantined_at
    ? { since: iso(row.quarantined_at), by: row.quarantined_by ?? '', reason: row.quarantine_reason ?? '' }
    : null
const conflictOf = (text: ServerRow['clone']) => {
  const clone = cloneOf(text)
  return clone && { since: clone.since, ip: clone.ip }
}

export const createServers = (needs: {
  db: Database
  clock: Clock
  events: Events
  registry: Registry
  keys: Pick<KeysService, 'createForServer' | 'listOfServer' | 'remember' | 'removeForServer' | 'reload'>
  baseUrl: () => string
  tags: Pick<ServerTags, 'edit' | 'take'>
  /** The server's public key, where no authority vouches for it. */
  pin: string | null
  /** Refuses a server beyond the licence, within the change that would add it. */
  admit: (change: Pick<Change, 'sql'>) => Promise<void>
}): ServersService => {
  const { db, clock, events, registry, keys, baseUrl, pin } = needs
  let lastScript: number | null = null
  const removalHooks: RemovalHook[] = []

  const freshToken = () => {
    const token = `sit_${randomText(32)}`
    const install_command = installCommand(baseUrl(), token, pin)
    return {
      install_command,
      columns: { install_token_hash: sha256(token), install_token_expires_at: clock() + times.installToken * second },
    }
  }
  const view = (server: Server, totals: ReadonlyMap<number, number>, whitelist: ReadonlyMap<number, MarkState>) => ({
    id: server.row.id,
    hostname: server.row.hostname,
    reported_hostname: server.row.reported_hostname,
    ip_address: server.row.ip_address,
    description: server.row.description,
    tags: [...tagsOf(server.row)],
    status: server.row.status,
    protection: protectionHead(server, whitelist.get(server.row.no) ?? 'none'),
    os: server.row.os,
    engine_version: server.row.engine_version,
    agent_version: server.row.agent_version,
    total_bans: totals.get(server.row.no) ?? 0,
    active_jails: server.jails.filter(jail => jail.enabled).length,
    current_bans: server.jails.reduce((sum, jail) => sum + jail.current_bans, 0),
    metrics: server.metrics,
    policy: parseJsonOrNull(server.row.policy),
    sealed: parseJsonOrNull(server.row.sealed),
    last_heartbeat: isoOrNull(server.lastHeartbeat),
    quarantined: quarantineOf(server.row),
    last_self_test: selfTestOf(server.row.self_test),
    clone: conflictOf(server.row.clone),
    created_at: iso(server.row.created_at),
    updated_at: iso(server.row.updated_at),
  })
  const get = (actor: Principal, id: string): Server => {
    const server = registry.byId(id)
    if (!server) throw notFound(`There is no server ${id}.`)
    if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
    return server
  }
  const setQuarantine = async (
    actor: Principal,
    row: ServerRow,
    set: Pick<ServerRow, 'quarantined_at' | 'quarantined_by' | 'quarantine_reason' | 'updated_at'>,
    name: 'server.quarantine' | 'server.release',
  ): Promise<ServerRow> => {
    const updated = await events.change(async change => {
      const done = await moveQuarantine(change.sql, row.no, set)
      if (!done) throw conflict(`${row.hostname} is ${name === 'server.release' ? 'not' : 'already'} in quarantine.`)
      const { id, hostname } = row
      await change.record({
        name,
        author: authorOf(actor),
        serverNo: row.no,
        data: { id, hostname, reason: set.quarantine_reason ?? row.quarantine_reason },
      })
      return done
    })
    registry.put(updated)
    return updated
  }
  const visible = (actor: Principal) => registry.all().filter(server => sees(actor, server.row.no))

  return {
    get,
    named(actor, field, id) {
      const server = registry.byId(id)
      if (!server) throw invalid(field, `There is no server ${id}.`)
      if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
      return { no: server.row.no, id: server.row.id, hostname: server.row.hostname }
    },
    async list(actor, { status = 'all', protection, tag, search, q, bans_24h = false, page = 1, limit = 20 }) {
      const asked = readSearch(q, 'servers')
      const wanted = search?.toLowerCase()
      // A search for an address finds it however it is written.
      const address = search ? parseIp(search)?.text : undefined
      const rows = visible(actor).filter(
        server =>
          queryHolds(asked, term => isFoundBy(term, server)) &&
          (status === 'all' || server.row.status === status) &&
          (protection === undefined || levelOf(server) === protection) &&
          (tag === undefined || tagsOf(server.row).includes(tag)) &&
          (wanted === undefined ||
            server.row.hostname.toLowerCase().includes(wanted) ||
            (server.row.ip_address?.includes(wanted) ?? false) ||
            (address !== undefined && server.row.ip_address === address)),
      )
      const shown = rows.slice((page - 1) * limit, page * limit)
      const nos = shown.map(server => server.row.no)
      const totals = await totalsOf(db.read, nos)
      const whitelist = await whitelistMarksOf(db.read, nos)
      const from = hourOf(clock()) - 23 * hour
      const hours = bans_24h ? await bansByHour(db.read, nos, from) : null
      return {
        servers: shown.map(server => ({
          ...view(server, totals, whitelist),
          ...(hours ? { bans_24h: dayOfHours(hours.get(server.row.no), from) } : {}),
        })),
        total: rows.length,
        page,
        limit,
      }
    },
    summary(actor) {
      const counts = { online: 0, offline: 0, pending: 0 }
      const protection = { protected: 0, degraded: 0, unprotected: 0, unknown: 0 }
      const servers = visible(actor).map(server => {
        const { id, hostname, status } = server.row
        const level = levelOf(server)
        counts[status]++
        protection[level]++
        return { id, hostname, status, protection: level, since: sinceOf(server), problem: problemOf(server) }
      })
      return { servers, counts, protection }
    },
    async read(actor, id) {
      const server = get(actor, id)
      const { row } = server
      const totals = await totalsOf(db.read, [row.no])
      const whitelist = await whitelistMarksOf(db.read, [row.no])
      const today = Math.floor(clock() / day) * day
      return {
        ...view(server, totals, whitelist),
        protection: protectionView(server, whitelist.get(row.no) ?? 'none'),
        bans_today: await bansSince(db.read, row.no, today),
        keys: atLeast(actor.permission, 'admin') ? await keys.listOfServer(row.no) : null,
        key_rotated_at: isoOrNull(row.key_rotated_at),
        jails: server.jails.map(({ name, enabled, current_bans }) => ({ name, enabled, current_bans })),
        install: {
          token_expires_at: isoOrNull(row.install_token_expires_at),
          token_used_at: isoOrNull(row.install_token_used_at),
          token_used_from: row.install_token_used_from,
          script_fetched_at:
            lastScript !== null &&
            row.install_token_expires_at !== null &&
            lastScript > row.install_token_expires_at - times.installToken * second
              ? iso(lastScript)
              : null,
          first_heartbeat_at: isoOrNull(row.first_heartbeat_at),
          first_ban_at: isoOrNull(row.first_ban_at),
        },
      }
    },
    async create(actor, input) {
      const now = clock()
      const { install_command, columns } = freshToken()
      const hostname = tameLine(input.hostname, bounds.hostname * 4)
      const { row, key } = await events.change(async change => {
        await needs.admit(change)
        const made = await insertServer(change.sql, {
          id: uuid7(now),
          hostname,
          ip_address: input.ip_address ? (parseIp(input.ip_address)?.text ?? null) : null,
          description: tame(input.description ?? '', bounds.description * 4),
          status: 'pending',
          ...columns,
          created_at: now,
          updated_at: now,
        })
        const key = await keys.createForServer(
          change,
          authorOf(actor),
          'server',
          made.no,
          hostname.slice(0, bounds.name),
        )
        await change.record({
          name: 'server.create',
          author: authorOf(actor),
          serverNo: made.no,
          data: { id: made.id, hostname },
        })
        const [tagged] = await needs.tags.edit(change, actor, [made.no], () => input.tags ?? [])
        return { row: tagged ?? made, key }
      })
      await needs.tags.take([row])
      keys.remember(key.row)
      return {
        id: row.id,
        hostname: row.hostname,
        ip_address: row.ip_address,
        description: row.description,
        api_key: key.key,
        api_key_id: key.id,
        install_command,
        status: row.status,
        created_at: iso(row.created_at),
      }
    },
    async update(actor, id, input) {
      const server = get(actor, id)
      const set = {
        ...(input.hostname === undefined ? {} : { hostname: tameLine(input.hostname, bounds.hostname * 4) }),
        ...(input.description === undefined ? {} : { description: tame(input.description, bounds.description * 4) }),
      }
      const { no } = server.row
      const { tags } = input
      const changed = await events.change(async change => {
        const tagged = tags === undefined ? [] : await needs.tags.edit(change, actor, [no], () => tags)
        if (Object.keys(set).length === 0) return tagged.at(-1)
        const updated = await updateServer(change.sql, no, { ...set, updated_at: clock() })
        if (!updated) throw notFound(`There is no server ${id}.`)
        await change.record({
          name: 'server.update',
          author: authorOf(actor),
          serverNo: no,
          data: {
            id: updated.id,
            ...Object.fromEntries(
              entriesOf(set).flatMap(([field, value]) => [
                [`old_${field}`, server.row[field]],
                [field, value],
              ]),
            ),
          },
        })
        return updated
      })
      if (changed) await needs.tags.take([changed])
      const { hostname, description, updated_at, ...row } = changed ?? server.row
      return { id: row.id, hostname, description, tags: [...tagsOf(row)], updated_at: iso(updated_at) }
    },
    async remove(actor, id) {
      const { row } = get(actor, id)
      await events.change(async change => {
        const gone = await updateServer(change.sql, row.no, { deleted_at: clock(), install_token_hash: null })
        if (!gone) throw notFound(`There is no server ${id}.`)
        await keys.removeForServer(change, row.no)
        await removeTagsOf(change.sql, row.no)
        for (const hook of removalHooks) await hook(change, row.no)
        await change.record({
          name: 'server.delete',
          author: authorOf(actor),
          serverNo: row.no,
          data: { id: row.id, hostname: row.hostname },
        })
      })
      registry.remove(row.no)
      await keys.reload()
    },
    async regenerateToken(actor, id) {
      const { row } = get(actor, id)
      const { install_command, columns } = freshToken()
      const updated = await events.change(async change => {
        const done = await updateServer(change.sql, row.no, {
          ...columns,
          install_token_used_at: null,
          install_token_used_from: null,
        })
        if (!done) throw notFound(`There is no server ${id}.`)
        await change.record({
          name: 'server.regenerate_token',
          author: authorOf(actor),
          serverNo: row.no,
          data: { id: row.id, hostname: row.hostname },
        })
        return done
      })
      registry.put(updated)
      return { install_command }
    },
    async quarantine(actor, id, reason) {
      const { row } = get(actor, id)
      const now = clock()
      const set = {
        quarantined_at: now,
        quarantined_by: actor.name,
        quarantine_reason: tame(reason, bounds.reason * 4),
        updated_at: now,
      }
      const updated = await setQuarantine(actor, row, set, 'server.quarantine')
      const quarantined = quarantineOf(updated)
      if (!quarantined) throw notFound(`There is no server ${id}.`)
      return { message: `${row.hostname} is in quarantine.`, quarantined }
    },
    async release(actor, id) {
      const set = { quarantined_at: null, quarantined_by: null, quarantine_reason: null, updated_at: clock() }
      await setQuarantine(actor, get(actor, id).row, set, 'server.release')
    },
    isWithheld(serverNo) {
      const row = registry.byNo(serverNo)?.row
      return row !== undefined && (row.quarantined_at !== null || row.clone !== null)
    },
    async settleClone(actor, id) {
      const { row } = get(actor, id)
      if (row.clone === null) throw conflict(`No second host reports for ${row.hostname}.`)
      const updated = await events.change(async change => {
        const settled = await updateServer(change.sql, row.no, { clone: null, updated_at: clock() })
        if (!settled) throw notFound(`There is no server ${id}.`)
        const { hostname } = row
        await change.record({
          name: 'server.clone_settled',
          author: authorOf(actor),
          serverNo: row.no,
          data: { id, hostname },
        })
        return settled
      })
      registry.put(updated)
    },
    hostnameOf: serverNo => registry.byNo(serverNo)?.row.hostname,
    isQuarantined: serverNo => (registry.byNo(serverNo)?.row.quarantined_at ?? null) !== null,
    refuseQuarantined(serverNo, status) {
      const quarantined = quarantineOf(registry.byNo(serverNo)?.row)
      if (!quarantined) return
      const words = `This server has been in quarantine since ${quarantined.since}: ${quarantined.reason} An administrator can release it.`
      throw status === 403 ? forbidden(words) : conflict(words)
    },
    async jails(actor, id) {
      const server = get(actor, id)
      const totals = await bansByJail(db.read, server.row.no)
      return { jails: server.jails.map(jail => ({ ...jail, total_bans: totals.get(jail.name) ?? 0 })) }
    },
    jailsOfName(actor, wanted) {
      const jails = visible(actor).flatMap(({ row, jails }) =>
        jails
          .filter(({ name }) => name === wanted)
          .map(({ name, enabled, filter, template }) => ({
            server: { id: row.id, hostname: row.hostname },
            name,
            enabled,
            filter,
            template,
          })),
      )
      return { jails }
    },
    scriptFetched() {
      lastScript = clock()
    },
    async noteFirstBan(serverNo, at) {
      const row = await updateServer(db.write, serverNo, { first_ban_at: at })
      if (row) registry.put(row)
    },
    onRemoval: hook => void removalHooks.push(hook),
  }
}
