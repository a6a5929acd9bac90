import { createHash } from 'node:crypto'
import { createSerial } from '../../core/serial.ts'
import type { Database } from '../../db/database.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import { allLists, entriesBlobOf, readVersion } from './blocklists.store.ts'
import type { BlocklistRow } from './blocklists.store.ts'

/** A list as hosts hear of it. */
export interface GivenList {
  readonly id: number
  readonly version: number
  readonly mode: 'enforce' | 'observe'
  readonly entries: number
  readonly digest: string
  readonly targets: Targets
}

/** The lists of all hosts in memory, without their content, so that what a host should hold costs no query. */
export interface HostLists {
  /** Names what a host should hold; empty while it should hold none. */
  version(serverNo: number): string
  listsFor(serverNo: number): readonly GivenList[]
  /** The gzipped entries of a list in force; null where it is not known any more. Kept for all hosts that fetch it. */
  packed(list: GivenList): Promise<Uint8Array | null>
  /** Takes over what was committed, here or elsewhere. */
  catchUp(): Promise<void>
  /** Called with the servers whose lists may have changed. */
  onChange(listener: (targets: Targets) => void): void
}

/** Contents that are kept for hosts that fetch them within the same minutes. */
const mostKept = 8

export const createHostLists = async ({
  db,
  targeting,
}: {
  db: Database
  targeting: Targeting
}): Promise<HostLists> => {
  const inTurn = createSerial()
  const listeners: ((targets: Targets) => void)[] = []
  let givenLists: readonly GivenList[] = []
  let versionForAll = ''
  let last = -1
  const contents = new Map<string, Promise<Uint8Array | null>>()

  const nameOf = (lists: readonly GivenList[]): string =>
    lists.length === 0
      ? ''
      : createHash('sha256')
          .update(lists.map(({ id, version, mode }) => `${id} ${version} ${mode}\n`).join(''))
          .digest('hex')
          .slice(0, 12)
  const listsFor = (serverNo: number) => givenLists.filter(({ targets }) => targeting.concerns(targets, serverNo))

  const take = async () => {
    const storedVersion = await readVersion(db.read)
    if (storedVersion === last) return
    const isFirst = last < 0
    const rows = await allLists(db.read)
    last = storedVersion
    const before = JSON.stringify(givenLists.map(nameable))
    givenLists = rows.flatMap(givenOf)
    versionForAll = givenLists.every(({ targets }) => targets === 'all') ? nameOf(givenLists) : ''
    if (isFirst || JSON.stringify(givenLists.map(nameable)) === before) return
    for (const listener of listeners) listener('all')
  }
  await take()

  const load = async ({ id, version }: GivenList): Promise<Uint8Array | null> => {
    const blob = await entriesBlobOf(db.read, id)
    return blob?.version === version ? blob.entries : null
  }
  return {
    // With many hosts and lists for all of them, one name serves every poll.
    version: serverNo => (givenLists.length === 0 ? '' : versionForAll || nameOf(listsFor(serverNo))),
    listsFor,
    packed(list) {
      const key = `${list.id} ${list.version}`
      const knownContent = contents.get(key)
      if (knownContent) return knownContent
      const loading = load(list)
      if (contents.size >= mostKept) contents.delete([...contents.keys()][0] ?? '')
      contents.set(key, loading)
      loading.then(
        found => found ?? contents.delete(key),
        () => contents.delete(key),
      )
      return loading
    },
    catchUp: () => inTurn(take),
    onChange: listener => void listeners.push(listener),
  }
}

const nameable = ({ id, version, mode, targets }: GivenList) => [id, version, mode, textOf(targets)]
const givenOf = ({ id, version, mode, entries, digest, target }: BlocklistRow): GivenList[] =>
  (mode === 'enforce' || mode === 'observe') && version > 0
    ? [{ id, version, mode, entries, digest, targets: targetsOf(target) }]
    : []
