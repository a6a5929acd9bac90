import { bounds, times } from '@stockade/contract/limits.ts'
import type { BodyOf, agents as contract } from '@stockade/contract'
import { system } from '../../core/author.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { Problem, unauthorized } from '../../core/problem.ts'
import type { Change, Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { enrolmentPrefix } from '../servers/enrolment-tokens.ts'
import type { EnrolmentTokens } from '../servers/enrolment-tokens.ts'
import type { Registry } from '../servers/registry.ts'
import { takeInstallToken, updateServer } from '../servers/servers.store.ts'
import { word } from './heartbeat-columns.ts'

export type Enrol = (
  input: BodyOf<typeof contract.enroll>,
  ip: string,
) => Promise<{ server_id: string; api_key: string }>

/** Takes an installation token, or one that enrols many hosts, and gives the host a key of its own. */
export const createEnrolment = (needs: {
  clock: Clock
  events: Events
  registry: Pick<Registry, 'put'>
  keys: Pick<KeysService, 'createForServer' | 'remember' | 'retireAgentKeys' | 'reload'>
  enrolment: Pick<EnrolmentTokens, 'take' | 'taken' | 'noteRefusal'>
}): Enrol => {
  const { clock, events, registry, keys, enrolment } = needs
  type Input = BodyOf<typeof contract.enroll>
  /** The server that the token is for, and the name of a token that is for many. */
  const serverBy = async (change: Change, { token, hostname, machine = null, agent_id }: Input, ip: string) => {
    if (token.startsWith(enrolmentPrefix))
      return enrolment.take(change, token, { hostname, machine, agentId: agent_id.toLowerCase(), ip })
    const row = await takeInstallToken(change.sql, sha256(token), clock(), ip)
    return row ? { row, token: undefined } : null
  }
  const noteRefusal = (input: Input, ip: string, reason?: string) =>
    events.change(async change => {
      await change.record({
        name: 'server.enroll_refused',
        author: { ...system, ip },
        data: { hostname: word(input.hostname, bounds.hostname), ...(reason === undefined ? {} : { reason }) },
      })
      if (input.token.startsWith(enrolmentPrefix)) await enrolment.noteRefusal(change, input.token, ip)
    })
  const enrolIn = (input: Input, ip: string) =>
    events.change(async change => {
      const now = clock()
      const agent_id = input.agent_id.toLowerCase()
      const enrolledServer = await serverBy(change, input, ip)
      if (!enrolledServer) return null
      const { row: server, token } = enrolledServer
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
        data: { id: row.id, hostname: row.hostname, agent_id, ...(token === undefined ? {} : { token }) },
      })
      return { row, key }
    })
  return async (input, ip) => {
    const enrolled = await enrolIn(input, ip).catch(async (error: unknown) => {
      if (error instanceof Problem) await noteRefusal(input, ip, error.message)
      throw error
    })
    if (!enrolled) {
      await noteRefusal(input, ip)
      throw unauthorized(
        'This installation token is unknown, used or older than 24 hours. Make a new one in the dashboard.',
      )
    }
    if (input.token.startsWith(enrolmentPrefix)) await enrolment.taken(enrolled.row)
    else registry.put(enrolled.row)
    keys.remember(enrolled.key.row)
    await keys.reload()
    return { server_id: enrolled.row.id, api_key: enrolled.key.key }
  }
}
