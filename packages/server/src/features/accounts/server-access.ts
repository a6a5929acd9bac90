import type { BodyOf, users as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { serversWithTags } from '../users/access-tags.store.ts'
import { setServersOf, updateUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'

/** Which servers an account reaches. */
export interface ServerAccess {
  setServerAccess(
    actor: Principal,
    id: number,
    input: BodyOf<typeof contract.putServerAccess>,
  ): Promise<{ access_type: 'all' | 'specific'; server_count: number }>
}

export const createServerAccess = (needs: {
  db: Pick<Database, 'read'>
  clock: Clock
  events: Events
  servers: Pick<ServersService, 'named'>
  registry: Pick<Registry, 'all'>
  get: (id: number) => Promise<UserRow>
}): ServerAccess => {
  const { db, clock, events, servers, registry, get } = needs
  return {
    async setServerAccess(actor, id, { access_type, server_ids = [], tags: given = [] }) {
      const user = await get(id)
      const nos =
        access_type === 'all' ? [] : server_ids.map(serverId => servers.named(actor, 'server_ids', serverId).no)
      const tags = access_type === 'all' ? [] : [...new Set(given)].sort()
      await events.change(async change => {
        await updateUser(change.sql, id, {
          server_access: access_type,
          access_tags: tags.length === 0 ? null : jsonText(tags),
          updated_at: clock(),
        })
        await setServersOf(change.sql, id, nos)
        await change.record({
          name: 'user.server_access',
          author: authorOf(actor),
          data: {
            ...{ id, username: user.username, access_type, server_ids: [...server_ids] },
            ...(tags.length === 0 ? {} : { tags }),
          },
        })
      })
      const everything = access_type === 'all' || user.role === 'Admin'
      const visibleServers = everything ? null : new Set([...nos, ...(await serversWithTags(db.read, tags))])
      return { access_type, server_count: visibleServers ? visibleServers.size : registry.all().length }
    },
  }
}
