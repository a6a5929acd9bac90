import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { aHost, spawnServer } from '@stockade/server/testing'
import type { SpawnedServer } from '@stockade/server/testing'
import { prepare } from '../packages/server/src/features/bans/append.sqlite.ts'
import { packBatch } from '../packages/server/src/features/bans/packed.ts'
import { aRow, anAddress, pick } from './bans.ts'

/** Hosts of a server, and the keys to it. */
export interface Fleet {
  /** One key a host. */
  readonly hostKeys: readonly string[]
  readonly hostIds: readonly string[]
  readonly readKey: string
}
/** A data folder with hosts and bans. */
export interface Seeded extends Fleet {
  readonly dataDir: string
}

const day = 86_400_000
/** How long bans last, in seconds: each as often as the others. */
export const banDurations: readonly number[] = [600, 3600, 3600, 86_400, 604_800]
/** The share of bans whose address has been banned before. */
export const returningShare = 0.33
const mostReturning = 200_000

/** Makes the folder through the server itself, so that schema and keys are what a real one has. */
export const seed = async (dataDir: string, hosts: number, bans: number): Promise<Seeded> => {
  const server = await spawnServer({ dataDir })
  const fleet = await addFleet(server, hosts)
  await server.stop()
  fill(dataDir, hosts, bans)
  return { dataDir, ...fleet }
}
/** Sets a new server up, with hosts. */
export const addFleet = async (server: SpawnedServer, hosts: number): Promise<Fleet> => {
  const { client: admin } = await server.setUp()
  const hostKeys: string[] = []
  const hostIds: string[] = []
  for (let number = 1; number <= hosts; number++) {
    const host = await aHost(server, admin, `web-${number}.example`)
    hostKeys.push(host.key)
    hostIds.push(host.id)
  }
  const { key } = await admin.call('POST /keys', { body: { name: 'bench', permissions: 'read' } })
  return { hostKeys, hostIds, readKey: key }
}

/** The same with more bans, in another folder. */
export const grow = (from: Seeded, dataDir: string, bans: number): Seeded => {
  cpSync(from.dataDir, dataDir, { recursive: true })
  fill(dataDir, from.hostKeys.length, bans)
  return { ...from, dataDir }
}
export const databaseIn = (dataDir: string): string => join(dataDir, 'stockade.sqlite3')

/** Chooses the addresses of bans. A third of the addresses come back, as attackers do. */
export const createAttackers = () => {
  const known: Uint8Array[] = []
  return {
    /** The addresses that come back. */
    known,
    /** Where the address of the next ban is in `known`; -1 for a new address that does not come back. */
    next(): number {
      if (known.length > 1000 && Math.random() < returningShare) return Math.floor(Math.random() * known.length)
      return known.length < mostReturning ? known.push(anAddress()) - 1 : -1
    },
  }
}
/** When each of `bans` bans begins that are spread evenly over the time before `now`, oldest first. */
export const momentOf = (index: number, bans: number, now: number, length = 30 * day): number =>
  now - Math.floor(length * (1 - index / bans))

/** Bans of the last 30 days, oldest first, in batches of 1,000. */
export function* bansOfMonth(hosts: number, bans: number, now: number): Generator<ReturnType<typeof aRow>[]> {
  const { known, next } = createAttackers()
  for (let done = 0; done < bans; done += 1000) {
    yield Array.from({ length: Math.min(1000, bans - done) }, (_, index) => {
      const at = momentOf(done + index, bans, now)
      return aRow(1 + Math.floor(Math.random() * hosts), at, known[next()] ?? anAddress(), pick(banDurations))
    })
  }
}

export type AppendBans = ReturnType<typeof prepare>
/** Opens the database of a stopped server for a caller that writes many bans, sums what was written and closes it. */
export const writeInto = <T>(dataDir: string, work: (db: DatabaseSync, append: AppendBans) => T): T => {
  const db = new DatabaseSync(databaseIn(dataDir))
  try {
    db.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -262144')
    const append = prepare(db)
    const result = work(db, append)
    db.exec('begin immediate')
    append(packBatch({ items: [], now: Date.now() }))
    db.exec('commit; pragma wal_checkpoint(truncate); pragma optimize')
    return result
  } finally {
    db.close()
  }
}
/** Writes bans of the last 30 days by the server's own statements: counters and roll-ups are right by construction. */
const fill = (dataDir: string, hosts: number, bans: number): void =>
  writeInto(dataDir, (db, append) => {
    const now = Date.now()
    for (const items of bansOfMonth(hosts, bans, now)) {
      db.exec('begin immediate')
      append(packBatch({ items, now }))
      db.exec('commit')
    }
  })
