import { bounds, times } from '@stockade/contract/limits.ts'
import type { BodyOf, agents as contract } from '@stockade/contract'
import { system } from '../../core/author.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { unauthorized } from '../../core/problem.ts'
import type { Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { Registry } from '../servers/registry.ts'
import { takeInstallToken, updateServer } from '../servers/servers.store.ts'
import { word } from './heartbeat-columns.ts'

export type Enrol = (
  input: BodyOf<typeof contract.enroll>,
  ip: string,
) => Promise<{ server_id: string; api_key: string }>

/** Takes an installation token and gives the host a key of its own. */
export const createEnrolment = (needs: {
  clock: Clock
  events: Events
  registry: Pick<Registry, 'put'>
  keys: Pick<KeysService, 'createForServer' | 'remember' | 'retireAgentKeys' | 'reload'>
}): Enrol => {
  const { clock, events, registry, keys } = needs
  return async (input, ip) => {
    const now = clock()
    const agent_id = input.agent_id.toLowerCase()
    const enrolled = await events.change(async change => {
      const server = await takeInstallToken(change.sql, sha256(input.token), now, ip)
      if (!server) return null
      const key = await keys.createForServer(
        change,
        { ...system, ip },
        'agent',
        server.no,
        server.hostname.slice(0, bounds.name),
      )
      // The agent before goes on until this one has been heard of, a day at most.
      await keys.retireAgentKeys(change, server.no, key.id, now + times.installToken * second)
      const row = await updateServer(change.sql, server.no, {
        agent_id,
        agent_key_id: key.id,
        agent_replacing: 1,
        machine: null,
        clone: null,
        self_test: null,
        self_test_asked_at: null,
        key_rotated_at: null,
        os: word(input.os) ?? server.os,
        engine_version: word(input.engine_version) ?? server.engine_version,
        agent_version: word(input.agent_version) ?? server.agent_version,
        ip_address: server.ip_address ?? ip,
        updated_at: now,
      })
      if (!row) return null
      await change.record({
        name: 'server.enroll',
        author: { ...system, ip },
        serverNo: row.no,
        data: { id: row.id, hostname: row.hostname, agent_id },
      })
      return { row, key }
    })
    if (!enrolled) {
      await events.change(change =>
        change.record({
          name: 'server.enroll_refused',
          author: { ...system, ip },
          data: { hostname: word(input.hostname, bounds.hostname) },
        }),
      )
      throw unauthorized(
        'This installation token is unknown, used or older than 24 hours. Make a new one in the dashboard.',
      )
    }
    registry.put(enrolled.row)
    keys.remember(enrolled.key.row)
    await keys.reload()
    return { server_id: enrolled.row.id, api_key: enrolled.key.key }
  }
}
