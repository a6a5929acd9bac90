import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Kysely } from 'kysely'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { system } from '../../core/author.ts'
import { day, iso, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import type { Events } from '../../events/events.ts'
import {
  addCheckpoint,
  addLinks,
  allCheckpoints,
  lastCheckpoint,
  lastLink,
  lastLinkBefore,
  lastSigned,
  linksAfter,
  removeLinksTo,
  unlinkedAfter,
} from './chain.store.ts'
import type { AuditPosition, Checkpoint, Entry, Link } from './chain.store.ts'

/*
 * The chain of the audit log: each entry has a hash over the one before and what the entry says, and a checkpoint a day is
 * signed. A job links entries within a second of their commit (half a minute where later entries were committed before), so nothing of it costs the change that is recorded.
 */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
/** What the first entry follows. */
const beginning = { seq: 0, hash: '0'.repeat(64) } as const
/** The same text on either engine, and after a backup and a restore. */
const textOf = (entry: Entry): string =>
  JSON.stringify([
    Number(entry.id),
    Number(entry.at),
    entry.name,
    entry.actor,
    entry.actor_user_id === null ? null : Number(entry.actor_user_id),
    entry.actor_ip,
    entry.server_no,
    entry.ban_id === null ? null : Number(entry.ban_id),
    entry.data,
  ])
const hashOf = (before: string, seq: number, entry: Entry): string => sha256(`${before}\n${seq}\n${textOf(entry)}`)
const saidBy = ({ number, kind, seq, hash, at, before }: Omit<Checkpoint, 'public_key' | 'signature'>) =>
  JSON.stringify(['stockade audit checkpoint', number, kind, Number(seq), hash, Number(at), before])

/** The key that signs checkpoints, made with mode 0600 on the first start. */
export const auditKeyIn = (file: string): KeyObject => {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  }
  return createPrivateKey(readFileSync(file, 'utf8'))
}
const publicText = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')

/** The last checkpoint signed, stored beside the key: an attacker with only the database can't undo it. */
export interface AuditMemory {
  last(): Pick<Checkpoint, 'number' | 'signature'> | null
  remember(point: Pick<Checkpoint, 'number' | 'signature'>): void
}
export const auditMemoryIn = (file: string): AuditMemory => ({
  last() {
    if (!existsSync(file)) return null
    const { number, signature } = recordOf(JSON.parse(readFileSync(file, 'utf8')))
    // What is no checkpoint is none of the checkpoints of the database either.
    return { number: Number(number), signature: String(signature) }
  },
  remember({ number, signature }) {
    writeFileSync(`${file}.new`, JSON.stringify({ number, signature }), { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
  },
})
const isAmong = (
  points: readonly Pick<Checkpoint, 'number' | 'signature'>[],
  wanted: Pick<Checkpoint, 'number' | 'signature'>,
) => points.some(({ number, signature }) => number === wanted.number && signature === wanted.signature)

const piece = 500
/**
 * An entry is seen at its commit, which may be seconds after its time. So each run links what is newer than the run before,
 * the last ten minutes are walked through twice a minute, and the whole log once an hour.
 */
const recent = 10 * minute

export interface AuditChain {
  /** Links what was recorded since the last time. */
  link(): Promise<void>
  /** Signs how long the chain is, once a day. */
  checkpoint(): Promise<void>
  /** Signs where the chain begins from now on, and forgets the links of entries from before that moment. */
  cut(before: number): Promise<void>
}

export const createAuditChain = (needs: {
  db: Database
  clock: Clock
  events: Pick<Events, 'change'>
  key: KeyObject
  memory: AuditMemory
}): AuditChain => {
  const { db, clock, events, key, memory } = needs
  /** Up to where the last run came; entries after it are new. */
  let linkedTo: AuditPosition = { at: 0, event_id: 0 }
  /** When the last minutes, and when the whole log, were walked through. */
  let lookedBack = 0
  let lookedThrough = 0
  /** From which time on to look for entries without a link; null: only for those after the last run. */
  const startOfWalk = (now: number): number | null =>
    now - lookedThrough >= 60 * minute ? 0 : now - lookedBack >= minute / 2 ? now - recent : null
  const addToChain = (entries: readonly Entry[]) =>
    db.write.transaction().execute(async sql => {
      let last: Pick<Link, 'seq' | 'hash'> = (await lastLink(sql)) ?? (await lastCheckpoint(sql)) ?? beginning
      const links = entries.map((entry): Link => {
        const seq = Number(last.seq) + 1
        last = { seq, hash: hashOf(last.hash, seq, entry) }
        return { ...last, event_id: entry.id, at: entry.at }
      })
      for (let start = 0; start < links.length; start += piece) await addLinks(sql, links.slice(start, start + piece))
    })
  /** Not where an earlier one is gone: then the memory of it is what tells. */
  const remember = async (signed: Checkpoint) => {
    const last = memory.last()
    if (last === null || isAmong(await allCheckpoints(db.read), last)) memory.remember(signed)
  }

  const signed = async (sql: Kysely<Schema>, kind: Checkpoint['kind'], { seq, hash }: Pick<Link, 'seq' | 'hash'>) => {
    const last = await lastCheckpoint(sql)
    const link = {
      number: (last?.number ?? 0) + 1,
      kind,
      seq,
      hash,
      at: clock(),
      before: last ? sha256(last.signature) : beginning.hash,
    }
    const row = {
      ...link,
      public_key: publicText(key),
      signature: sign(null, Buffer.from(saidBy(link)), key).toString('base64'),
    }
    await addCheckpoint(sql, row)
    return row
  }
  return {
    async link() {
      const now = clock()
      const since = startOfWalk(now)
      let position: AuditPosition = since === null ? linkedTo : { at: since, event_id: 0 }
      for (let isLast = false; !isLast;) {
        const page = await unlinkedAfter(db.read, position)
        if (page.entries.length > 0) await addToChain(page.entries)
        ;({ last: position, isLast } = page)
      }
      linkedTo = position
      if (since === null) return
      lookedBack = now
      if (since === 0) lookedThrough = now
    },
    async checkpoint() {
      const last = await lastLink(db.read)
      const before = await lastSigned(db.read)
      if (!last || before === undefined || Math.floor(before / day) >= Math.floor(clock() / day)) return
      const point = await events.change(async change => {
        const newLink = await signed(change.sql, 'daily', last)
        const { number, seq, hash, signature } = newLink
        await change.record({
          name: 'audit.checkpoint',
          author: system,
          data: { number, entries: seq, hash, signature },
        })
        return newLink
      })
      await remember(point)
    },
    async cut(before) {
      const last = await lastLinkBefore(db.read, before)
      if (!last) return
      const point = await db.write.transaction().execute(async sql => {
        const newLink = await signed(sql, 'cut', last)
        await removeLinksTo(sql, last.seq)
        return newLink
      })
      await remember(point)
    },
  }
}

export interface Verified {
  /** Entries that are as they were written. */
  readonly entries: number
  readonly checkpoints: number
  /** What is wrong, the first of it first; empty where nothing is. */
  readonly faults: readonly string[]
  /** Keys of this installation's checkpoints other than its own. */
  readonly otherKeys: readonly string[]
}

/** Faults of the checkpoints themselves: their signatures, and that each follows the one before. */
const judgeCheckpoints = (checkpoints: readonly Checkpoint[]): string[] => {
  const faults: string[] = []
  let before: Checkpoint | null = null
  for (const point of checkpoints) {
    const key = createPublicKey({ key: Buffer.from(point.public_key, 'base64'), type: 'spki', format: 'der' })
    if (!verify(null, Buffer.from(saidBy(point)), key, Buffer.from(point.signature, 'base64')))
      faults.push(`Checkpoint ${point.number} of ${iso(point.at)} was changed: its signature does not fit.`)
    else if (point.before !== (before ? sha256(before.signature) : beginning.hash))
      faults.push(`Checkpoint ${point.number} of ${iso(point.at)} does not follow the one before: one was removed.`)
    before = point
  }
  return faults
}

/** The first entry from before that time that has no link although a later one has. */
const firstLate = async (sql: Kysely<Schema>, lastLinked: number, before: number): Promise<Entry | undefined> => {
  let position: AuditPosition = { at: 0, event_id: 0 }
  for (;;) {
    const { entries, last, isLast } = await unlinkedAfter(sql, position)
    const late = entries.find(({ id, at }) => Number(id) < lastLinked && Number(at) < before)
    if (late || isLast) return late
    position = last
  }
}

interface ChainPosition {
  readonly seq: number
  readonly hash: string
}
/** The id alone says little: changes that commit at the same moment may get their ids in the other order. */
interface NewestEntry {
  readonly id: number
  readonly at: number
}
type FoundLink = Awaited<ReturnType<typeof linksAfter>>[number]

/** What is wrong with a link and its entry; null if nothing is. `marks`: the hashes that checkpoints were signed for, by number. */
const faultOf = (
  { link, entry }: FoundLink,
  last: ChainPosition,
  newest: NewestEntry,
  marks: ReadonlyMap<number, string>,
): string | null => {
  const seq = Number(link.seq)
  if (seq !== last.seq + 1) return `Entries ${last.seq + 1} to ${seq - 1} were removed from the chain.`
  const what = `Entry ${seq} (event ${link.event_id}, ${iso(Number(link.at))})`
  if (!entry) return `${what} was removed.`
  if (hashOf(last.hash, seq, entry) !== link.hash) return `${what} was changed, or its place in the chain was.`
  if ((marks.get(seq) ?? link.hash) !== link.hash)
    return `${what} is not the one that a checkpoint was signed for: the chain was written anew.`
  if (Number(entry.id) < newest.id && Number(entry.at) < newest.at - recent)
    return `${what} is older than the entry before it: it was put in later.`
  return null
}

/** Follows the chain to its end, or to its first fault. */
const walkChain = async (sql: Kysely<Schema>, start: ChainPosition, marks: ReadonlyMap<number, string>) => {
  let last = start
  let newest: NewestEntry = { id: 0, at: 0 }
  let entries = 0
  for (;;) {
    const links = await linksAfter(sql, last.seq, piece)
    for (const each of links) {
      const fault = faultOf(each, last, newest, marks)
      if (fault !== null) return { last, entries, fault }
      const { seq, hash, event_id, at } = each.link
      last = { seq: Number(seq), hash }
      if (Number(event_id) > newest.id) newest = { id: Number(event_id), at: Number(at) }
      entries++
    }
    if (links.length < piece) return { last, entries, fault: null }
  }
}

/** Compares the audit log with its chain and its checkpoints. */
export const verifyAudit = async (
  sql: Kysely<Schema>,
  own: KeyObject | null,
  memory: AuditMemory,
  now: number,
): Promise<Verified> => {
  const checkpoints = await allCheckpoints(sql)
  const faults = judgeCheckpoints(checkpoints)
  const remembered = memory.last()
  if (remembered && !isAmong(checkpoints, remembered))
    faults.push(
      `Checkpoint ${remembered.number}, which was signed here last, is not in the database: the log was written anew, or its end was cut off.`,
    )
  const cut = checkpoints.findLast(({ kind }) => kind === 'cut')
  const marks = new Map(checkpoints.map(({ seq, hash }) => [Number(seq), hash]))
  const { last, entries, fault } = await walkChain(
    sql,
    cut ? { seq: Number(cut.seq), hash: cut.hash } : beginning,
    marks,
  )
  if (fault !== null) faults.push(fault)
  const furthest = Math.max(0, ...marks.keys())
  if (faults.length === 0 && last.seq < furthest)
    faults.push(
      `The chain ends with entry ${last.seq}, and a checkpoint was signed at ${furthest}: its end was cut off.`,
    )
  // What came after the last link is linked by the server, once it runs.
  const end = await lastLink(sql)
  const late = await firstLate(sql, Number(end?.event_id ?? 0), now - minute)
  if (late && faults.length === 0)
    faults.push(`Event ${late.id} of ${iso(Number(late.at))} is in the log, but not in the chain: it was put in later.`)
  const mine = own && publicText(own)
  const otherKeys = [...new Set(checkpoints.map(point => point.public_key))].filter(key => key !== mine)
  return { entries, checkpoints: checkpoints.length, faults, otherKeys }
}
