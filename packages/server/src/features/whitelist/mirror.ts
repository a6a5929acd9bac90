import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { gzip as gzipWithCallback } from 'node:zlib'
import { createSerial } from '../../core/serial.ts'
import { inSlices } from '../../core/slices.ts'
import { iso } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { intervalsOf, openIntervals } from './intervals.ts'
import type { Found, Intervals, Listed, Packed } from './intervals.ts'
import type { PackJob } from './pack-worker.ts'
import { entriesAfter, readState } from './whitelist.store.ts'
import type { ListState } from './whitelist.store.ts'

const gzip = promisify(gzipWithCallback)

/** The list as hosts fetch it, made once for each version. */
export interface Rendered {
  readonly version: string
  readonly plain: Buffer
  readonly gzip: Buffer
}

/**
 * The whitelist in memory: who is covered, and the text of it. The large part of it is packed (intervals.ts) in a thread;
 * what changed since is a small index beside it, so that a look-up right after a change is right.
 */
export interface Mirror {
  /** The most specific entry that covers the whole address or range; well below a microsecond. */
  covers(range: IpRange): Found | null
  /** The entry that covers it, or one that lies within it. */
  touches(range: IpRange): Found | null
  version(): string
  /** The ranges among the entries. */
  ranges(): IpRange[]
  /** How many entries there are. */
  count(): number
  render(): Promise<Rendered>
  /** Takes over what was committed, here or elsewhere; `removed` are the ids of entries that are known to be gone. */
  catchUp(removed?: readonly number[]): Promise<void>
  /** Called when the list has become another one. */
  onChange(listener: () => void): void
}

/** So many changed entries may stand in the small index; building it takes a millisecond or two. */
const fewEntries = 1000
const page = 2000

export const createMirror = async (db: Database, log: (error: unknown) => void): Promise<Mirror> => {
  /** Every entry, in the order of the list. */
  let texts = new Map<number, string>()
  let state: ListState = { ...(await readState(db.read)), version: '' }
  let lastId = 0
  let base = intervalsOf([])
  /** Added since the base was packed. */
  let fresh = new Map<number, Listed>()
  let recent = intervalsOf([])
  /** Removed since the base was packed. */
  let gone = new Set<number>()
  let packing: Promise<void> | null = null
  let rendered: { readonly version: string; readonly done: Promise<Rendered> } | null = null
  const inTurn = createSerial()
  const listeners: (() => void)[] = []

  const pack = async (given: ReadonlyMap<number, string>): Promise<Intervals> => {
    const here = () => intervalsOf([...given].flatMap(([id, text]) => listedOf(id, text)))
    if (given.size <= fewEntries) return here()
    return packInThread(given).catch((error: unknown) => {
      log(error)
      // Slower and blocking, but no whitelisted address is banned.
      return here()
    })
  }
  /** Packs everything that is known; what changes meanwhile stays beside it. */
  const repack = async () => {
    const upTo = lastId
    const before = new Set(gone)
    base = await pack(texts)
    for (const id of fresh.keys()) if (id <= upTo) fresh.delete(id)
    gone = new Set([...gone].filter(id => !before.has(id)))
    recent = intervalsOf([...fresh.values()])
  }
  const repackSoon = (): Promise<void> =>
    (packing ??= repack()
      .catch(log)
      .finally(() => (packing = null)))
  const remove = (id: number) => {
    if (!texts.delete(id)) return
    fresh.delete(id)
    gone.add(id)
  }
  /** Reads the entries after the last known one. Returns how many there were. */
  const readOn = async (): Promise<number> => {
    let n = 0
    for (;;) {
      const rows = await entriesAfter(db.read, lastId, page)
      await inSlices(rows, ({ id, ip }) => {
        texts.set(id, ip)
        lastId = id
        // Of many, none goes through the small index.
        if (++n <= fewEntries) for (const listed of listedOf(id, ip)) fresh.set(id, listed)
      })
      if (rows.length < page) return n
    }
  }
  const accept = (seen: ListState) => {
    const changed = seen.version !== state.version
    state = seen
    if (changed) for (const listener of listeners) listener()
  }
  /** Reads all of it and then takes it in the place of what was known. */
  const reread = async (): Promise<ListState> => {
    for (;;) {
      const storedState = await readState(db.read)
      const all = new Map<number, string>()
      let last = 0
      for (let rows = await entriesAfter(db.read, 0, page); rows.length > 0;) {
        await inSlices(rows, ({ id, ip }) => all.set(id, ip))
        last = rows.at(-1)?.id ?? last
        rows = rows.length < page ? [] : await entriesAfter(db.read, last, page)
      }
      // Something was committed meanwhile.
      if (all.size !== storedState.entries || (await readState(db.read)).version !== storedState.version) continue
      await packing
      base = await pack(all)
      texts = all
      lastId = last
      fresh = new Map()
      gone = new Set()
      recent = intervalsOf([])
      return storedState
    }
  }
  const take = async (removed: readonly number[]): Promise<void> => {
    for (const id of removed) remove(id)
    for (let tries = 0; tries < 3; tries++) {
      const storedState = await readState(db.read)
      if (storedState.version === state.version) return
      const added = await readOn()
      if (added > fewEntries) {
        // A read that is under way may have begun before these entries were known.
        await packing
        await repackSoon()
      } else recent = intervalsOf([...fresh.values()])
      // They differ where something was committed meanwhile, or removed by another process that was not heard yet.
      if (texts.size !== storedState.entries) continue
      if (fresh.size + gone.size > fewEntries) void repackSoon()
      return accept(storedState)
    }
    accept(await reread())
  }
  const render = async (): Promise<Rendered> => {
    const { version, changed_at } = state
    const head = `# Stockade whitelist\n# Generated ${iso(changed_at)}\n`
    const plain = Buffer.from(texts.size > 0 ? `${head}${[...texts.values()].join('\n')}\n` : head)
    return { version, plain, gzip: await gzip(plain, { level: 1 }) }
  }
  accept(await reread())

  return {
    covers: range => moreSpecific(recent.covering(range), base.covering(range, gone)),
    touches: range =>
      moreSpecific(recent.covering(range), base.covering(range, gone)) ??
      recent.within(range) ??
      base.within(range, gone),
    version: () => state.version,
    ranges: () => [...texts.values()].filter(text => text.includes('/')).flatMap(text => parseRange(text) ?? []),
    count: () => texts.size,
    async render() {
      // During a change the text would be of one version and its name of another.
      await inTurn(() => {})
      if (rendered?.version !== state.version) {
        const { version } = state
        const done = render()
        rendered = { version, done }
        done.catch(() => (rendered = null))
      }
      return rendered.done
    },
    catchUp: (removed = []) => inTurn(() => take(removed)),
    onChange: listener => void listeners.push(listener),
  }
}

const listedOf = (id: number, text: string): Listed[] => {
  const range = parseRange(text)
  return range ? [{ id, range }] : []
}
const moreSpecific = (a: Found | null, b: Found | null): Found | null =>
  a && b ? ((a.prefix ?? 129) >= (b.prefix ?? 129) ? a : b) : (a ?? b)

const packInThread = (texts: ReadonlyMap<number, string>): Promise<Intervals> => {
  const job: PackJob = { ids: Float64Array.from(texts.keys()), lines: [...texts.values()].join('\n') }
  const worker = new Worker(new URL('./pack-worker.ts', import.meta.url), { workerData: job })
  return new Promise((resolve, reject) => {
    worker.once('message', (packed: Packed) => resolve(openIntervals(packed)))
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The thread that packs the whitelist ended early.')))
  })
}
