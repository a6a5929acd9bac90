import type { BodyOf, agents as contract } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'
import type { CloneMark } from '../../db/tables/stored.ts'
import { iso, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { authorOf } from '../../core/author.ts'
import type { AgentActor } from '../../core/actor.ts'
import { jsonText } from '../../core/json-text.ts'
import { conflict } from '../../core/problem.ts'
import type { Events } from '../../events/events.ts'
import type { Registry, Server } from '../servers/registry.ts'
import { cloneOf, updateServer } from '../servers/servers.store.ts'

type Heartbeat = BodyOf<typeof contract.heartbeat>

/** A start of an agent, by the id that it made then. */
interface Start {
  readonly boot: string
  readonly firstAt: number
  readonly lastAt: number
}

/** The starts of one server's agents that were heard lately, and how often one came back after another. */
interface Starts {
  readonly list: readonly Start[]
  readonly returns: number
  /** The server was marked meanwhile. If it no longer is, an administrator settled it, and counting begins again. */
  readonly isMarked: boolean
}
const noStarts: Starts = { list: [], returns: 0, isMarked: false }

/** A restarted agent never returns to its old start. One late report of it can: a request that was on its way. */
const returnsOfClones = 2
const inTurns = 'two agents in turns'

/**
 * Finds hosts that share an identity. A copied disk carries the agent's key and id, so three signs count, all of them only
 * while the first host is heard: another agent id, another machine id, and two starts of the agent that report in turns.
 *
 * The host that came later is refused with 409. Starts in turns do not say which host is the original: the server is then
 * marked, and neither host gets commands until an administrator settles it or enrols one of the hosts again.
 */
export interface Clones {
  /** @throws Problem 409 if the heartbeat comes from a second host */
  judge(agent: AgentActor, server: Server, beat: Heartbeat): Promise<void>
}

export const createClones = (needs: {
  clock: Clock
  config: { readonly offlineAfter: number }
  events: Events
  registry: Pick<Registry, 'put'>
}): Clones => {
  const { clock, config, events, registry } = needs
  /** By enrolment: enrolling a host again gives its agent another id. */
  const startsOf = new Map<string, Starts>()
  const recordedAt = new Map<number, number>()
  const window = () => clock() - config.offlineAfter * second

  /** One entry in the audit log for five minutes of refusals. `mark`: withhold the commands too. */
  const record = async (agent: AgentActor, server: Server, sign: string, mark: JsonText<CloneMark> | null) => {
    const now = clock()
    if (mark === null && (recordedAt.get(agent.serverNo) ?? 0) >= now - 5 * minute) return
    recordedAt.set(agent.serverNo, now)
    const { id, hostname } = server.row
    const marked = await events.change(async change => {
      const row =
        mark === null ? undefined : await updateServer(change.sql, agent.serverNo, { clone: mark, updated_at: now })
      await change.record({
        name: 'server.clone',
        author: authorOf(agent),
        serverNo: agent.serverNo,
        data: { id, hostname, sign },
      })
      return row
    })
    if (marked) registry.put(marked)
  }

  /** Takes in a report of a start. Returns the later one of two that report in turns. */
  const laterOfTwo = ({ row }: Server, boot: string): Start | null => {
    const now = clock()
    const enrolment = `${row.no} ${row.agent_id ?? ''}`
    const stored = startsOf.get(enrolment) ?? noStarts
    const knownStarts = stored.isMarked && row.clone === null ? noStarts : stored
    const list = knownStarts.list.filter(({ lastAt }) => lastAt >= window())
    const sameStart = list.find(start => start.boot === boot)
    const isReturn = sameStart !== undefined && list.at(-1) !== sameStart
    const returns = list.length < 2 ? 0 : knownStarts.returns + (isReturn ? 1 : 0)
    const others = list.filter(other => other !== sameStart).slice(-7)
    const all = [...others, { boot, firstAt: sameStart?.firstAt ?? now, lastAt: now }]
    startsOf.set(enrolment, { list: all, returns, isMarked: row.clone !== null })
    if (returns < returnsOfClones) return null
    return all.reduce((later, one) => (one.firstAt > later.firstAt ? one : later))
  }

  /** What tells that this heartbeat is not of the host that the server knows; null if nothing does. */
  const foreignSign = ({ row }: Server, beat: Heartbeat): string | null => {
    const agentId = beat.agent_id?.toLowerCase()
    if (agentId !== undefined && row.agent_id !== null && row.agent_id !== agentId) return 'another agent id'
    // After an enrolment the new agent may be on another machine while the old one is still heard.
    const isOtherMachine = beat.machine && row.machine !== null && row.machine !== beat.machine
    return isOtherMachine && row.agent_replacing === 0 ? 'another machine' : null
  }
  /** Whether this start is the later one of two that report in turns. Marks the server when that is found out. */
  const isLaterOfTwo = async (agent: AgentActor, server: Server, boot: string): Promise<boolean> => {
    const marked = cloneOf(server.row.clone)?.boot
    const later = laterOfTwo(server, boot)
    if (later === null) return marked === boot
    if (marked !== later.boot) {
      const mark = jsonText({ since: iso(clock()), boot: later.boot, ip: agent.ip })
      await record(agent, server, inTurns, mark)
    }
    return later.boot === boot
  }

  return {
    async judge(agent, server, beat) {
      const isFirstHeard = server.lastHeartbeat !== null && server.lastHeartbeat >= window()
      const boot = server.row.agent_replacing === 0 ? beat.report?.boot.toLowerCase() : undefined
      const foreign = isFirstHeard ? foreignSign(server, beat) : null
      const sign = foreign ?? (boot !== undefined && (await isLaterOfTwo(agent, server, boot)) ? inTurns : null)
      if (sign === null) return
      await record(agent, server, sign, null)
      throw conflict('Another server reports with the identity of this one. Enrol this machine on its own.')
    },
  }
}
