import { bounds, times } from '@stockade/contract'
import type { BodyOf, ReplyOf, servers as contract } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, second } from '../../core/clock.ts'
import { randomText, sha256, uuid7 } from '../../core/ids.ts'
import { parseIp } from '../../core/ip.ts'
import { notFound } from '../../core/problem.ts'
import { tame, tameLine } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { installCommand } from './install-command.ts'
import { createQuarantine } from './quarantine.ts'
import type { Quarantine } from './quarantine.ts'
import type { Registry } from './registry.ts'
import { createServerReading } from './server-reading.ts'
import type { ServerReading } from './server-reading.ts'
import { insertServer, updateServer } from './servers.store.ts'
import { removeTagsOf, tagsOf } from './tags.store.ts'
import type { ServerTags } from './tags.ts'

type RemovalHook = (change: Change, serverNo: number) => Promise<void>
type ChangedServer = ReplyOf<typeof contract.updateServer>

export interface ServersService extends ServerReading, Quarantine {
  create(actor: Principal, input: BodyOf<typeof contract.createServer>): Promise<ReplyOf<typeof contract.createServer>>
  update(actor: Principal, id: string, input: BodyOf<typeof contract.updateServer>): Promise<ChangedServer>
  remove(actor: Principal, id: string): Promise<void>
  regenerateToken(actor: Principal, id: string): Promise<{ install_command: string }>
  /** Undefined for a server that was removed. */
  hostnameOf(serverNo: number): string | undefined
  /** Somebody downloaded the installer. */
  scriptFetched(): void
  /** Notes the time of a server's first ban. */
  noteFirstBan(serverNo: number, at: number): Promise<void>
  /** Runs `hook` in the transaction of each removal of a server. */
  onRemoval(hook: RemovalHook): void
}

export const createServers = (
  needs: StoreAccess & {
    registry: Registry
    keys: Pick<KeysService, 'createForServer' | 'listOfServer' | 'remember' | 'removeForServer' | 'reload'>
    baseUrl: () => string
    tags: Pick<ServerTags, 'edit' | 'take'>
    /** The server's public key, where no authority vouches for it. */
    pin: string | null
    /** Refuses a server beyond the licence, within the change that would add it. */
    admit: (change: Pick<Change, 'sql'>) => Promise<void>
  },
): ServersService => {
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
  const reading = createServerReading({ db, clock, registry, keys, lastScript: () => lastScript })
  const { get } = reading

  return {
    ...reading,
    ...createQuarantine({ clock, events, registry, get }),
    async create(actor, input) {
      const now = clock()
      const { install_command, columns } = freshToken()
      const hostname = tameLine(input.hostname, bounds.hostname * 4)
      const { made, tagged, key } = await events.change(async change => {
        await needs.admit(change)
        const newServer = await insertServer(change.sql, {
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
          newServer.no,
          hostname.slice(0, bounds.name),
        )
        await change.record({
          name: 'server.create',
          author: authorOf(actor),
          serverNo: newServer.no,
          data: { id: newServer.id, hostname },
        })
        const [tagged] = await needs.tags.edit(change, actor, [newServer.no], () => input.tags ?? [])
        return { made: newServer, tagged, key }
      })
      const row = tagged ?? made
      // What follows tags wakes the polls of all hosts.
      if (tagged) await needs.tags.take([tagged])
      else registry.put(made)
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
    hostnameOf: serverNo => registry.byNo(serverNo)?.row.hostname,
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
