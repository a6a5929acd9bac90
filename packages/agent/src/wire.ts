import type { BodyOf, Contract, EndpointName, ReplyOf, bans } from '@stockade/contract'
import {
  readCommandResults,
  readDesiredState,
  readEnrolment,
  readEventResults,
  readFleetSet,
  readHeartbeat,
  readOffer,
  readOrders,
  readTurns,
  readComparison,
} from './replies.ts'
import type { Comparison, DesiredState, FleetSet, Offer, Orders, RowResult } from './replies.ts'
import type { FleetReport } from './shield/fleet-report.ts'
import { maxContentBytes } from './shield/list-store.ts'
import type { ListReport } from './shield/list-report.ts'
import { cleanText } from './text.ts'
import type { MoveReport } from './move/record.ts'
import { ServerError } from './transport.ts'
import type { Ask, Fresh, Transport } from './transport.ts'

/* The requests of the agent. Paths and bodies are typed by the contract; only its types are imported. */

export type { Command, DesiredState, FleetSet, Offer, RowResult } from './replies.ts'

type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Sent<T[Key]> }
    : T
type Body<N extends EndpointName> = Sent<BodyOf<Contract[N]>>

/** `source` is only for servers that tell bans of administrators from those of fail2ban. */
export type BanReport = Required<Omit<bans.BanReport, 'command_id'>> &
  Pick<bans.BanReport, 'command_id'> & { readonly source?: 'manual' }
export type UnbanReport = Required<bans.UnbanReport>
/** A ban that fail2ban held before the server knew of it. */
export interface AdoptedBan {
  readonly event_id: string
  readonly jail: string
  readonly ip: string
  readonly banned_at: string
  /** Seconds, -1 for permanent; null if the end is unknown. */
  readonly ban_duration: number | null
}
export type KnockReport = Required<Body<'POST /agent/knocks'>['events'][number]>
/** What became of the knock sequences, and which openings of the state are open. */
export type KnockAcknowledgement = NonNullable<Body<'POST /agent/state/ack'>['portknock']>
export type Heartbeat = Body<'POST /servers/heartbeat'>
/** The agent's own clock of reports: an id for each of its starts, and a counter since then. */
export type ReportVersion = NonNullable<Heartbeat['report']>
export type JailDetail = Required<Body<'PUT /agent/jails'>['jails'][number]> & {
  readonly current_bans: number
  readonly other_ids: { readonly count: number; readonly ids: string[] } | null
  readonly filter: string
  readonly logpath: string
}
export type ResultReport = Required<Body<'POST /agent/results'>['results'][number]>
export type CommandResult = Omit<ResultReport, 'id'>

/** What came of a desired state: `entries` of the list are proved to be in force; `error` is one sentence or null. */
export interface Acknowledgement {
  readonly version: string
  readonly whitelistVersion: string
  readonly entries: number
  readonly error: string | null
  readonly portknock?: KnockAcknowledgement | undefined
  readonly move?: MoveReport | undefined
  readonly fleet?: FleetReport
  readonly lists?: readonly ListReport[]
}

/** What a poll takes along. */
export interface Cargo {
  readonly applied?: Acknowledgement
  readonly results?: readonly ResultReport[]
}
/** The answer to a poll. */
export interface News extends Orders {
  readonly offer: Offer | null
  /** The next poll may be a turn. */
  readonly turns: boolean
}

/** 10,000 fleet bans, and room for as many again. */
const maxFleetBytes = 4 * 1024 * 1024
/** 100,000 of the longest entries, and room for as many again. */
const maxListBytes = 16 * 1024 * 1024

export interface Wire {
  heartbeat(beat: Heartbeat, signal: AbortSignal): Promise<Orders & { interval: number }>
  /** Answers when there is work or another state than `state` is wanted, otherwise after `wait` seconds. */
  pending(wait: number, state: string | null, signal: AbortSignal): Promise<News>
  /** The same, after the server took in the cargo. Resolves also to what became of its results. */
  turn(
    cargo: Cargo,
    wait: number,
    state: string | null,
    signal: AbortSignal,
  ): Promise<News & { readonly results: readonly RowResult[] }>
  /** What the host should hold; null when that still is the `known` version. */
  state(known: string | null): Promise<DesiredState | null>
  /** The whitelist as text, with its version; null when it still is the `known` one. */
  whitelist(known: string | null): Promise<Fresh | null>
  /** What changed of the fleet bans since the `known` version; null when nothing did. Without it, all of them. */
  fleetBans(known: number | null): Promise<FleetSet | null>
  /** The content of a blocklist, with its version. */
  list(id: number): Promise<Fresh | null>
  acknowledge(outcome: Acknowledgement): Promise<void>
  /** One row for each event that the server has decided about. */
  report(bans: readonly BanReport[], unbans: readonly UnbanReport[]): Promise<RowResult[]>
  adopt(bans: readonly AdoptedBan[]): Promise<RowResult[]>
  /** Says which bans are in force: all of them, or those of one of several slices. */
  compare(
    asOf: string,
    bans: Body<'PUT /agent/active'>['bans'],
    part: { readonly slice: number; readonly of: number },
  ): Promise<Comparison>
  knocks(events: readonly KnockReport[]): Promise<RowResult[]>
  /** Whether the server still answers, asked over a new connection. */
  answers(): Promise<boolean>
  results(results: readonly ResultReport[]): Promise<RowResult[]>
  jails(jails: readonly JailDetail[], report: ReportVersion): Promise<void>
}

export const createWire = (transport: Transport, serverId: string): Wire => {
  const send = <N extends EndpointName>(name: N, body: Body<N>, ask: Ask = {}): Promise<unknown> =>
    transport.json(methodOf(name), pathOf(name), { ...ask, body })

  return {
    heartbeat: async (beat, signal) =>
      readHeartbeat(await send('POST /servers/heartbeat', beat, { urgency: 'heartbeat', signal })),
    async pending(wait, state, signal) {
      const path = pathOf('GET /servers/{serverId}/commands/pending').replace(
        '{serverId}',
        encodeURIComponent(serverId),
      )
      const stateQuery = state === null ? '' : `&state=${encodeURIComponent(state)}`
      const ask = { timeout: (wait + 20) * 1000, urgency: 'poll', signal } as const
      const answer = await transport.json('GET', `${path}?wait=${wait}&with=state${stateQuery}`, ask)
      return readNews(answer)
    },
    async turn({ applied, results }, wait, state, signal) {
      const body: Body<'POST /agent/turn'> = {
        wait,
        with: 'state',
        ...(state === null ? {} : { state }),
        ...(applied ? { applied: bodyOf(applied) } : {}),
        ...(results ? { results } : {}),
      }
      const answer = await send('POST /agent/turn', body, {
        timeout: (wait + 20) * 1000,
        urgency: 'heartbeat',
        signal,
      })
      return { ...readNews(answer), results: results ? readCommandResults(answer) : [] }
    },
    async state(known) {
      const answer = await transport.fresh(pathOf('GET /agent/state'), known, { urgency: 'heartbeat' })
      return answer === null ? null : readDesiredState(JSON.parse(answer.text))
    },
    whitelist: known =>
      transport.fresh(pathOf('GET /whitelist.txt'), known, { timeout: 60_000, maxBytes: maxListBytes }),
    async fleetBans(known) {
      const path = `${pathOf('GET /agent/shield/bans')}${known === null ? '' : `?since=${known}`}`
      const answer = await transport.fresh(path, known === null ? null : String(known), {
        urgency: 'heartbeat',
        timeout: 60_000,
        maxBytes: maxFleetBytes,
      })
      return answer === null ? null : readFleetSet(JSON.parse(answer.text))
    },
    list: id =>
      transport.fresh(pathOf('GET /agent/shield/lists/{id}').replace('{id}', String(id)), null, {
        timeout: 60_000,
        maxBytes: maxContentBytes,
      }),
    acknowledge: async outcome => void (await send('POST /agent/state/ack', bodyOf(outcome), { urgency: 'heartbeat' })),
    report: async (bans, unbans) =>
      readEventResults(await send('POST /bans/batch', { bans, unbans }, { timeout: 60_000 })),
    adopt: async bans => readEventResults(await send('PUT /agent/adopted', { bans }, { timeout: 60_000 })),
    async compare(as_of, bans, { slice, of }) {
      // Without a query, servers of before slices understand it too. They refuse it with one, and end nothing.
      const query = of === 1 ? '' : `?slice=${slice}&of=${of}`
      const path = `${pathOf('PUT /agent/active')}${query}`
      return readComparison(await transport.json('PUT', path, { timeout: 60_000, body: { as_of, bans } }))
    },
    knocks: async events => readEventResults(await send('POST /agent/knocks', { events }, { timeout: 60_000 })),
    answers: () =>
      transport.fresh(pathOf('GET /agent/state'), null, { urgency: 'heartbeat', timeout: 10_000, alone: true }).then(
        () => true,
        (error: unknown) => error instanceof ServerError && error.status > 0,
      ),
    results: async results =>
      readCommandResults(await send('POST /agent/results', { results }, { urgency: 'heartbeat' })),
    jails: async (jails, report) => void (await send('PUT /agent/jails', { jails, report })),
  }
}

export const enroll = async (
  transport: Transport,
  request: Body<'POST /agent/enroll'>,
): Promise<ReplyOf<Contract['POST /agent/enroll']>> =>
  readEnrolment(await transport.json('POST', pathOf('POST /agent/enroll'), { body: request }))

/** Asks a server that has no key of ours yet. The answer is not judged. */
export const challenge = (
  transport: Transport,
  question: Body<'POST /agent/challenge'>,
  timeout: number,
): Promise<unknown> => transport.json('POST', pathOf('POST /agent/challenge'), { body: question, timeout })

const readNews = (answer: unknown): News => ({
  ...readOrders(answer),
  offer: readOffer(answer),
  turns: readTurns(answer),
})
const bodyOf = (outcome: Acknowledgement): Body<'POST /agent/state/ack'> => {
  const { version, whitelistVersion, entries, error, portknock, move, fleet, lists } = outcome
  return {
    version,
    whitelist_version: whitelistVersion === '' ? null : whitelistVersion,
    entry_count: entries,
    error: error === null ? null : cleanText(error).slice(0, 1000),
    ...(portknock ? { portknock } : {}),
    ...(move ? { move } : {}),
    ...(fleet ? { shield: { bans: bansOf(fleet), ...(lists ? { lists } : {}) } } : {}),
  }
}
const bansOf = ({ version, held, digest, refused, notCovered, fallback }: FleetReport) => ({
  version,
  held,
  digest,
  refused,
  not_covered: notCovered,
  ...(fallback === null ? {} : { fallback }),
})

const methodOf = (name: EndpointName): string => name.slice(0, name.indexOf(' '))
const pathOf = (name: EndpointName): string => `/api/v1${name.slice(name.indexOf(' ') + 1)}`
