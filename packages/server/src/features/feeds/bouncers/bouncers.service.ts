import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { QueryOf, bouncers as contract } from '@stockade/contract'
import { day, hour, minute, second } from '../../../core/clock.ts'
import type { Clock } from '../../../core/clock.ts'
import { parseRange } from '../../../core/ip.ts'
import { invalid } from '../../../core/problem.ts'
import { inSlices } from '../../../core/slices.ts'
import type { Loaded } from '../contents.ts'
import type { FeedRow } from '../feeds.store.ts'
import { createBouncerAdmission } from './admission.ts'
import type { Bouncer, Caller } from './admission.ts'
import { createChanges } from './changes.ts'
import type { Changes, Told } from './changes.ts'
import { decisionsAt, deletionText, scopeOf, scopesWanted, textKept } from './decisions.ts'
import { createLookup } from './lookup.ts'
import type { Lookup } from './lookup.ts'
import type { SentFeeds } from './sent.store.ts'

/** An answer as it is sent; `gzip` where it is large: packed once, when somebody wants it. */
export interface Answer {
  readonly body: readonly Buffer[]
  readonly bytes: number
  readonly gzip: (() => Promise<Buffer>) | null
}
export interface BouncersService {
  /** @throws Problem 400, 403, 429 */
  ask(caller: Caller, asked: QueryOf<typeof contract.listDecisions>): Promise<Answer>
  /** @throws Problem 403, 429 */
  follow(caller: Caller, asked: QueryOf<typeof contract.streamDecisions>): Promise<Answer>
  /** @throws Problem 403, 429 */
  count(caller: Caller): Promise<void>
  /** Reads the feeds that bouncers followed before this process began: the first of them does not wait for it. */
  resume(): Promise<void>
  /** Writes what bouncers were sent. */
  close(): Promise<void>
}

/** Bouncers whose place is kept; the one that was silent for longest goes first, and is told everything when it asks again. */
const mostBouncers = 20_000
/** A feed is read again after so many times what its reading took, so that large ones cost a twentieth of the time. */
const rests = { times: 20, shortest: 5 * second, longest: 30 * second } as const
/** As long as bouncers ask, it is read before they do: an answer waits for a reading only where none was for twice that time. */
const followed = 5 * minute
/** Bouncers that asked so long before a start are expected back. */
const expected = hour
const mostTexts = 32
const zipped = 4096
const pack = promisify(gzip)

interface State {
  readonly changes: Changes
  digest: string | null
  contents: string
  readAt: number
  took: number
  usedAt: number
  lookup: Lookup | null
  underWay: Promise<void> | null
  /** As the last bouncer that asked found it. */
  row: FeedRow
  timer: NodeJS.Timeout | null
  saved: Promise<void>
}

export const createBouncers = (needs: {
  readonly clock: Clock
  readonly find: (token: string) => Promise<FeedRow | undefined>
  readonly usedSince: (time: number) => Promise<FeedRow[]>
  readonly noteBouncer: (row: FeedRow, ip: string) => Promise<void>
  readonly hold: (row: FeedRow) => Promise<Loaded>
  readonly sent: SentFeeds
}): BouncersService => {
  const { clock, sent } = needs
  const admission = createBouncerAdmission(needs)
  const states = new Map<number, State>()
  const cursors = new Map<string, number>()
  let isClosed = false
  const texts = new Map<string, { readonly at: number; readonly answer: Promise<Answer> }>()

  const read = async (state: State, row: FeedRow) => {
    const now = clock()
    const began = performance.now()
    const { digest, single } = await needs.hold(row)
    if (digest !== state.digest) {
      const entries = new Set(single.ipv4)
      for (const entry of single.ipv6) entries.add(entry)
      const isFirst = state.digest === null
      await state.changes.take(entries, now)
      if (isFirst) for (const { entry, at } of await sent.before(row.id, now)) state.changes.recall([entry], at)
      Object.assign(state, { digest, lookup: null })
    }
    await state.changes.advance(now)
    Object.assign(state, { contents: row.contents, readAt: now, took: performance.now() - began })
    // Nobody waits for it but the end of the process.
    state.saved = Promise.all([state.saved, sent.save(row.id, state.changes, now)]).then(
      () => undefined,
      () => undefined,
    )
  }
  const restOf = ({ took }: State) => Math.min(rests.longest, Math.max(rests.shortest, took * rests.times))
  const isFresh = (state: State, row: FeedRow): boolean =>
    state.digest !== null && state.contents === row.contents && Math.abs(clock() - state.readAt) < 2 * restOf(state)
  const refresh = (state: State): Promise<void> => {
    state.underWay ??= read(state, state.row).finally(() => {
      state.underWay = null
      if (state.timer) clearTimeout(state.timer)
      state.timer = isClosed ? null : setTimeout(() => again(state), restOf(state)).unref()
    })
    return state.underWay
  }
  const again = (state: State) => {
    state.timer = null
    // Who asks next gets what is wrong now.
    if (clock() - state.usedAt < followed) refresh(state).catch(() => undefined)
  }
  const stateOf = (row: FeedRow): State => {
    const now = clock()
    const { id } = row
    const state: State = states.get(id) ?? {
      ...{ changes: createChanges(), digest: null, contents: '', readAt: 0, took: 0, usedAt: now },
      ...{ lookup: null, underWay: null, row, timer: null, saved: Promise.resolve() },
    }
    if (!states.has(id)) for (const [other, { usedAt }] of states) if (now - usedAt > day) states.delete(other)
    states.set(id, state)
    return Object.assign(state, { usedAt: now, row })
  }
  const freshState = async ({ row, ip }: Bouncer): Promise<State> => {
    const state = stateOf(row)
    await needs.noteBouncer(row, ip)
    // What was begun before the settings changed is no answer to what is asked now.
    while (!isFresh(state, row)) await refresh(state)
    return state
  }

  const render = async (told: Told, scope: Scope, { held }: Changes): Promise<Answer> => {
    const isInScope = (entry: string) => scope === 'both' || scope === scopeOf(entry)
    const text = createText()
    text.add('{"deleted":')
    await text.list(told.removed, isInScope, deletionText)
    text.add(',"new":')
    await text.list(told.isFull ? held : told.added, isInScope, decisionsAt(clock()))
    text.add('}')
    return text.answer()
  }
  /** The text for all that stand at the same place. */
  const shared = (key: string, make: () => Promise<Answer>): Promise<Answer> => {
    const cachedText = texts.get(key)
    if (cachedText && Math.abs(clock() - cachedText.at) < textKept) return cachedText.answer
    const answer = make()
    texts.delete(key)
    texts.set(key, { at: clock(), answer })
    answer.catch(() => texts.delete(key))
    for (const [old, { at }] of texts) if (texts.size > mostTexts || clock() - at >= textKept) texts.delete(old)
    return answer
  }
  const moveTo = (bouncer: Bouncer, cursor: number) => {
    cursors.delete(bouncer.key)
    cursors.set(bouncer.key, cursor)
    for (const oldest of cursors.keys())
      if (cursors.size > mostBouncers) cursors.delete(oldest)
      else break
  }

  return {
    async follow(caller, { startup, ...filters }) {
      const bouncer = await admission.admit(caller)
      const scope = scopesWanted(filters)
      const { changes } = await freshState(bouncer)
      const cursor = cursors.get(bouncer.key) ?? null
      const isStart = /^(true|1|t)$/i.test(startup ?? '')
      if (isStart || changes.isBehind(cursor)) admission.spendFull(bouncer)
      moveTo(bouncer, changes.seq)
      if (scope === 'none' || (cursor === changes.seq && !isStart)) return nothing
      const from = isStart ? 'start' : String(cursor)
      return shared(`${bouncer.row.id} ${from} ${changes.seq} ${scope}`, () =>
        // A bouncer that has just started holds nothing that could have ended.
        render(isStart ? { ...changes.since(null), removed: [] } : changes.since(cursor), scope, changes),
      )
    },
    async ask(caller, { ip, range, contains, scope, type, value, ...filters }) {
      const bouncer = await admission.admit(caller)
      const [one, all] = [scopesWanted({ scopes: scope }), scopesWanted(filters)]
      const askedRange = rangeOf('ip', ip) ?? rangeOf('range', range)
      const state = await freshState(bouncer)
      if ((type ?? 'ban') !== 'ban' || one === 'none' || all === 'none') return none
      const matches = (entry: string) =>
        (one === 'both' || one === scopeOf(entry)) &&
        (all === 'both' || all === scopeOf(entry)) &&
        (value === undefined || value === entry)
      if (!askedRange && value === undefined) {
        admission.spendFull(bouncer)
        return shared(`${bouncer.row.id} list ${state.changes.seq} ${one} ${all}`, () =>
          listOf(state.changes.held, matches, clock()),
        )
      }
      state.lookup ??= createLookup(state.changes.held)
      const isInside = /^(false|0|f)$/i.test(contains ?? '')
      if (askedRange && isInside) admission.spendFull(bouncer)
      const entries = askedRange
        ? await (isInside ? state.lookup.inside(askedRange) : state.lookup.around(askedRange))
        : [value ?? ''].filter(entry => state.changes.held.has(entry))
      return listOf(entries, matches, clock())
    },
    async count(caller) {
      await admission.admit(caller)
    },
    async resume() {
      for (const row of await needs.usedSince(clock() - expected)) if (!isClosed) await refresh(stateOf(row))
    },
    async close() {
      isClosed = true
      for (const [id, { changes, digest, timer, underWay, saved }] of states) {
        if (timer) clearTimeout(timer)
        await underWay?.catch(() => undefined)
        await saved
        if (digest !== null) await sent.save(id, changes, clock(), { isLast: true })
      }
    },
  }
}
type Scope = Exclude<ReturnType<typeof scopesWanted>, 'none'>

/** Characters of a text that become one buffer. */
const part = 256 * 1024
/** A text of many parts, in buffers as it grows: a list of 100,000 entries does not lie in memory in three forms. */
const createText = () => {
  const buffers: Buffer[] = []
  let text = ''
  const flush = () => {
    // Nothing but ASCII: entries are canonical, and the rest is ours.
    buffers.push(Buffer.from(text, 'latin1'))
    text = ''
  }
  const add = (more: string) => {
    text += more
    if (text.length >= part) flush()
  }
  return {
    add,
    /** A list; null where nothing is wanted. */
    async list(entries: Iterable<string>, isWanted: (entry: string) => boolean, textOf: (entry: string) => string) {
      let before = '['
      await inSlices(entries, entry => {
        if (!isWanted(entry)) return
        add(before + textOf(entry))
        before = ','
      })
      add(before === '[' ? 'null' : ']')
    },
    answer(): Answer {
      flush()
      const bytes = buffers.reduce((sum, { length }) => sum + length, 0)
      let packed: Promise<Buffer> | null = null
      const gzip = () => (packed ??= pack(Buffer.concat(buffers), { level: 1 }))
      return { body: buffers, bytes, gzip: bytes < zipped ? null : gzip }
    },
  }
}
const answerOf = (text: string): Answer => ({ body: [Buffer.from(text)], bytes: text.length, gzip: null })
const nothing = answerOf('{"deleted":null,"new":null}')
const none = answerOf('null')

const listOf = async (
  entries: Iterable<string>,
  isWanted: (entry: string) => boolean,
  now: number,
): Promise<Answer> => {
  const text = createText()
  await text.list(entries, isWanted, decisionsAt(now))
  return text.answer()
}
const rangeOf = (name: string, text: string | undefined) => {
  if (text === undefined) return null
  const range = parseRange(text)
  if (!range) throw invalid(name, `${name} must be an address or a range.`)
  return range
}
