import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, QueryOf, ReplyOf, agentMoves as contract, agents } from '@stockade/contract'
import { pages } from '@stockade/contract'
import type { Config } from '../../config.ts'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { webAddress } from '../../core/checks.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import { conflict, invalid } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import { insertOrder, lastOrder, lockOrders, movesOf, movesOfServers, saveMoves } from './agent-moves.store.ts'
import type { AddressOrder, MoveRow } from './agent-moves.store.ts'

type Address = ReplyOf<typeof contract.getAgentAddress>
type Listed = ReplyOf<typeof contract.listAgentMoves>
type MoveState = Listed['servers'][number]['state']

export interface MoveAck {
  readonly serverNo: number
  readonly move: BodyOf<typeof agents.acknowledgeState>['move']
  readonly at: number
}

export interface Failing {
  readonly serverNo: number
  readonly id: string
  readonly hostname: string
  readonly reason: string
}

/** The order to reach this server at another address, and what hosts say of it. */
export interface AgentMoves {
  /** The order in force; null for none. No query. */
  order(): { readonly revision: number; readonly url: string } | null
  /** Called when the order is another one. */
  onChange(listener: () => void): void
  /** Inside a change: takes over what hosts say of the order. */
  acknowledge(change: Change, acks: readonly MoveAck[]): Promise<void>
  read(): Promise<Address>
  /** Servers that failed since the order and did not move yet; those that try again too. */
  failing(): Promise<readonly Failing[]>
  servers(query: QueryOf<typeof contract.listAgentMoves>): Promise<Listed>
  /** Orders all hosts to an address; null withdraws the order. A dry run only judges the address. @throws Problem 400, 409 */
  change(actor: Principal, asked: BodyOf<typeof contract.changeAgentAddress>): Promise<Address>
  /** Takes over an order that another process gave. */
  reload(): Promise<void>
}

/** Events recorded for one server and one order, at most. Later reports only update its row, so that a host can't fill the storage. */
const mostEvents = 30

const rank: Record<MoveState, number> = { failed: 0, trying: 1, waiting: 2, moved: 3 }

export const createAgentMoves = async (
  needs: StoreAccess & {
    config: Pick<Config, 'baseUrl'>
    registry: Pick<Registry, 'all'>
    baseUrl: () => string
    servedPin: () => string | null
  },
): Promise<AgentMoves> => {
  const { db, clock, config, events, registry, servedPin } = needs
  const latest = createLatest()
  const listeners: (() => void)[] = []
  let last: AddressOrder | undefined

  const order = () => (last?.url ? { revision: last.revision, url: last.url } : null)
  const reload = () =>
    latest(
      () => lastOrder(db.read),
      found => {
        const isNew = found?.revision !== last?.revision
        last = found
        if (isNew) for (const tell of listeners) tell()
      },
    )
  /** Hosts go only where nobody between can read their key, and judge that again by themselves. */
  const requireProvable = (url: string): void => {
    const isConfigured = config.baseUrl !== null && webAddress(config.baseUrl) === url
    if (isConfigured || (url.startsWith('https:') && servedPin() !== null)) return
    throw conflict(
      `No server would move to ${url}: this server can't prove there that nobody is between. Set STOCKADE_BASE_URL to it, or let this server serve https itself.`,
    )
  }
  /** The order in force: also one of another process that this one has not heard of yet. */
  const revisionFor = async (change: Change, told: readonly { move: { revision: number } }[]) => {
    const revision = order()?.revision ?? null
    if (!told.some(({ move }) => move.revision > (last?.revision ?? 0))) return revision
    const lastRow = await lastOrder(change.sql)
    return lastRow?.url ? lastRow.revision : null
  }
  /** How many events were recorded of each server, of the order of this revision. */
  let recorded = { revision: 0, byServer: new Map<number, number>() }
  const mayRecord = (revision: number, serverNo: number): boolean => {
    if (recorded.revision !== revision) recorded = { revision, byServer: new Map() }
    const count = (recorded.byServer.get(serverNo) ?? 0) + 1
    recorded.byServer.set(serverNo, count)
    return count <= mostEvents
  }
  const judged = async (): Promise<
    { no: number; server: { id: string; hostname: string }; move: MoveRow | undefined }[]
  > => {
    const ordered = order()
    if (!ordered) return []
    const moves = new Map((await movesOf(db.read, ordered.revision)).map(row => [row.server_no, row]))
    return registry
      .all()
      .flatMap(({ row: { no, id, hostname, status } }) =>
        status === 'pending' ? [] : [{ no, server: { id, hostname }, move: moves.get(no) }],
      )
  }
  const read = async (): Promise<Address> => {
    const counts = { waiting: 0, trying: 0, moved: 0, failed: 0 }
    for (const { move } of await judged()) counts[move?.state ?? 'waiting']++
    const ordered = order()
    return {
      base_url: needs.baseUrl(),
      url: ordered?.url ?? null,
      ordered_at: isoOrNull(ordered?.revision ?? null),
      ordered_by: ordered ? (last?.ordered_by ?? null) : null,
      counts,
    }
  }
  await reload()

  return {
    order,
    onChange: listener => void listeners.push(listener),
    async acknowledge(change, acks) {
      const moveAcks = acks.flatMap(({ serverNo, move, at }) => (move ? [{ serverNo, move, at }] : []))
      if (moveAcks.length === 0) return
      const revision = await revisionFor(change, moveAcks)
      const currentAcks = moveAcks.filter(({ move }) => move.revision === revision)
      if (revision === null || currentAcks.length === 0) return
      const nos = currentAcks.map(({ serverNo }) => serverNo)
      const before = new Map((await movesOfServers(change.sql, db.engine, nos)).map(row => [row.server_no, row]))
      const news = new Map<number, MoveRow>()
      for (const { serverNo, move, at } of currentAcks) {
        const knownState = news.get(serverNo) ?? before.get(serverNo)
        const row = rowOf(serverNo, move, at, knownState?.revision === revision ? knownState : undefined)
        if (isNews(knownState, row)) news.set(serverNo, row)
      }
      if (news.size === 0) return
      const rows = [...news.values()].sort((a, b) => a.server_no - b.server_no)
      await saveMoves(change.sql, db.engine, rows)
      await change.recordMany(
        rows
          .filter(({ server_no }) => mayRecord(revision, server_no))
          .map(row => ({
            name: 'server.move' as const,
            serverNo: row.server_no,
            data: { state: row.state, reason: row.reason },
          })),
      )
    },
    read,
    failing: async () =>
      (await judged()).flatMap(({ no, server: { id, hostname }, move }) =>
        move?.reason ? [{ serverNo: no, id, hostname, reason: move.reason }] : [],
      ),
    async servers({ state, page = 1, limit = pages.rollouts.default }) {
      const rows = (await judged())
        .map(({ server, move }) => ({
          server,
          state: move?.state ?? ('waiting' as const),
          reason: move?.reason ?? null,
          changed_at: isoOrNull(move?.changed_at ?? null),
        }))
        .filter(row => state === undefined || row.state === state)
        .sort((a, b) => rank[a.state] - rank[b.state] || (a.server.hostname < b.server.hostname ? -1 : 1))
      return { servers: rows.slice((page - 1) * limit, page * limit), total: rows.length, page, limit }
    },
    async change(actor, { url: given, dry_run: isDryRun = false }) {
      const url = given === null ? null : webAddress(given)
      if (given !== null && url === null)
        throw invalid('url', 'url must be an address that begins with http:// or https://.')
      if (url !== null) requireProvable(url)
      if (isDryRun || (url === null && order() === null)) return read()
      await events.change(async change => {
        await lockOrders(change.sql, db.engine)
        const before = await lastOrder(change.sql)
        const revision = Math.max(clock(), (before?.revision ?? 0) + 1)
        await insertOrder(change.sql, { revision, url, ordered_by: actor.name })
        await change.record({
          name: 'agents.move',
          author: authorOf(actor),
          data: { url, old_url: before?.url ?? null, at: iso(revision) },
        })
      })
      await reload()
      return read()
    },
    reload,
  }
}

/** While a host tries again, its row keeps why it failed: it counts as failing until it has moved. */
const rowOf = (
  server_no: number,
  { revision, state, reason }: NonNullable<MoveAck['move']>,
  at: number,
  before: MoveRow | undefined,
): MoveRow => {
  const tamedReason = reason ? tame(reason, bounds.description * 4) : null
  const storedReason = {
    failed: tamedReason ?? 'the server gave no reason',
    trying: before?.reason ?? null,
    moved: null,
  }[state]
  return { server_no, revision, state, reason: storedReason, changed_at: at }
}
const isNews = (before: MoveRow | undefined, row: MoveRow): boolean =>
  before?.revision !== row.revision || before.state !== row.state || before.reason !== row.reason
