import type { Targets } from '../servers/targets.ts'
import type { FleetTagRow } from './fleet-tags.store.ts'

interface Holding {
  readonly held: boolean
  /** Since when it is so. */
  readonly version: number
}
const nothing: ReadonlyMap<string, Holding> = new Map()

/**
 * Tags of servers by version, in step with the versions of the fleet bans: the tags of the registry may be newer or older than a set
 * of bans that a host is given.
 */
export interface FleetTags {
  take(rows: readonly FleetTagRow[]): void
  clear(): void
  tagsOf(serverNo: number): readonly string[]
  /** Whether targets concern a server now. */
  concerns(targets: Targets, serverNo: number): boolean
  /** Whether a tag among these changed for the server after a version; with `onlyLost`, whether it lost one. */
  hasChanged(serverNo: number, tags: ReadonlySet<string>, version: number, onlyLost: boolean): boolean
  /** The version since which the targets concern the server because of a tag; 0 where they name the server. */
  since(targets: Targets, serverNo: number): number
}

export const createFleetTags = (): FleetTags => {
  const byServer = new Map<number, Map<string, Holding>>()
  const holdings = (serverNo: number) => byServer.get(serverNo) ?? nothing
  return {
    take(rows) {
      for (const { server_no, tag, held, version } of rows) {
        const own = byServer.get(server_no) ?? new Map<string, Holding>()
        byServer.set(server_no, own)
        own.set(tag, { held: held === 1, version })
      }
    },
    clear: () => byServer.clear(),
    tagsOf: serverNo => [...holdings(serverNo)].flatMap(([tag, { held }]) => (held ? [tag] : [])),
    concerns(targets, serverNo) {
      if (targets === 'all' || targets.nos.has(serverNo)) return true
      for (const tag of targets.tags) if (holdings(serverNo).get(tag)?.held) return true
      return false
    },
    hasChanged(serverNo, tags, version, onlyLost) {
      const own = holdings(serverNo)
      for (const tag of tags) {
        const holding = own.get(tag)
        if (holding && holding.version > version && !(onlyLost && holding.held)) return true
      }
      return false
    },
    since(targets, serverNo) {
      if (targets === 'all' || targets.nos.has(serverNo)) return 0
      const versions = [...targets.tags].flatMap(tag => {
        const holding = holdings(serverNo).get(tag)
        return holding?.held ? [holding.version] : []
      })
      return versions.length === 0 ? 0 : Math.min(...versions)
    },
  }
}
